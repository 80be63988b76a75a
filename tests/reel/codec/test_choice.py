from __future__ import annotations

import numpy as np
import pytest
import zstandard

from simreel.reel.codec import codec_for
from simreel.reel.layout import Field, Layout

ONE = Layout((Field("x", "f8", 1),))


def predictors(stream, width):
    return list(zstandard.ZstdDecompressor().decompress(stream)[:width])


def chosen(codec, values, layout=ONE):
    rows = np.zeros(len(values), layout.row_dtype)
    rows["x"][:, 0] = values
    return predictors(codec.encode(rows)[0], 1)[0]


LINE = np.arange(1.0, 1.5, 2.0**-10)[:200]
WALK = 1.5 + np.cumsum(np.random.default_rng(0).normal(size=200)) * 1e-3


def test_each_column_gets_what_fits_it_best():
    codec = codec_for("diff1", ONE, 0.01)
    assert chosen(codec, np.full(200, np.nan)) == 0
    assert chosen(codec_for("diff1", ONE, 0.01), WALK) == 1
    assert chosen(codec_for("diff1", ONE, 0.01), LINE) == 2
    assert chosen(codec_for("diff1", ONE, 0.01), 1 + 0.5 * np.linspace(0, 1, 200) ** 2) == 3


def test_a_choice_is_kept_for_32_chunks():
    codec = codec_for("diff1", ONE, 0.01)
    assert chosen(codec, LINE) == 2
    assert [chosen(codec, WALK) for _ in range(33)] == [2] * 31 + [1] * 2


def test_a_column_that_stands_still_for_a_chunk_is_constant_there():
    codec = codec_for("diff1", ONE, 0.01)
    assert [chosen(codec, values) for values in (LINE, np.ones(200), LINE)] == [2, 0, 2]


def test_a_choice_made_from_few_frames_is_made_again():
    codec = codec_for("diff1", ONE, 0.01)
    assert chosen(codec, WALK[:3]) in (1, 2, 3)
    assert chosen(codec, LINE) == 2


def test_what_differs_in_bits_alone_is_not_constant():
    assert chosen(codec_for("diff1", ONE, 0.01), np.array([0.0, -0.0])) != 0


def test_exact_motion_is_found(body, moved):
    streams = codec_for("phys1", body, 0.01).encode(moved(256, 0, 0.01))
    time, qpos, qvel, *_ = (predictors(s, f.width) for s, f in zip(streams, body.fields, strict=True))
    assert time == [4]
    assert set(qpos) == {5}
    assert set(qvel) == {7}
    # All of them together less than one column of noise.
    assert sum(map(len, streams[:2])) < 256 * 8


@pytest.mark.parametrize("every", [2, 10])
def test_where_frames_are_further_apart_than_steps_the_physics_is_never_worse_than_differences(body, moved, every):
    rows = np.ascontiguousarray(moved(256 * every, 0, 0.01)[::every])
    physics = codec_for("phys1", body, 0.01 * every).encode(rows)
    plain = codec_for("diff1", body, 0.01 * every).encode(rows)
    for field, one, other in zip(body.fields, physics, plain, strict=True):
        assert len(one) <= 1.02 * len(other), field.name


def test_jumps_cost_a_frame_and_not_a_chunk(body, moved):
    rows = np.concatenate([moved(100, 0, 0.01), moved(156, 1, 0.01)])
    phys, diff = (sum(map(len, codec_for(name, body, 0.01).encode(rows)[:2])) for name in ("phys1", "diff1"))
    assert phys < 0.7 * diff
