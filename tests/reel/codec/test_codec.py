from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simreel.errors import UnknownNameError
from simreel.reel.codec import CodecError, codec_for
from simreel.reel.layout import Field, Joint, Layout

CODECS = ("phys1", "diff1", "archive")
DTYPES = ("f8", "f4", "i8", "i4", "u1", "bool")
PHYSICAL = {"time": 1, "qpos": 13, "qvel": 11, "warmstart": 11}

plain = st.builds(
    Field,
    name=st.text(st.characters(codec="utf-8"), min_size=1),
    dtype=st.sampled_from(DTYPES),
    width=st.one_of(st.integers(0, 5), st.integers(0, 70)),
)
physical = st.sampled_from(list(PHYSICAL)).flatmap(
    # Fields of the right names that the physics cannot use are in between.
    lambda name: st.builds(
        Field, name=st.just(name), dtype=st.sampled_from(["f8", "f8", "f8", "f4", "i8"]), width=st.just(PHYSICAL[name])
    )
)


@st.composite
def layouts(draw):
    fields = draw(st.lists(st.one_of(plain, physical), min_size=1, max_size=5, unique_by=lambda field: field.name))
    joints = (Joint("free", 0, 0), Joint("ball", 7, 6), Joint("hinge", 12, 9), Joint("slide", 11, 10))
    kinds = {field.name: (str(field.dtype), field.width) for field in fields}
    if kinds.get("qpos") == ("float64", 13) and kinds.get("qvel") == ("float64", 11):
        return Layout(tuple(fields), draw(st.sampled_from([joints, joints[1:], ()])))
    return Layout(tuple(fields))


rows = st.one_of(st.sampled_from([1, 2, 3, 15, 16, 17, 31, 32, 33, 255, 256, 257]), st.integers(1, 300))


@settings(max_examples=50, deadline=None)
@given(layouts(), st.lists(rows, min_size=1, max_size=2), st.integers(0, 2**32), st.sampled_from(CODECS[:2]))
def test_every_bit_pattern_comes_back(wild, check, layout, counts, seed, name):
    check(name, layout, [wild(layout, n, seed + n) for n in counts])


@settings(max_examples=50, deadline=None)
@given(rows, st.integers(0, 2**32), st.sampled_from([0.01, 1.0, 0.0, 1e-310, 1e300, -0.5, float("nan"), float("inf")]))
@example(n=17, seed=0, dt=0.01)
def test_every_bit_pattern_of_a_body_comes_back(body, wild, check, n, seed, dt):
    check("phys1", body, [wild(body, n, seed)], dt)


@settings(max_examples=50, deadline=None)
@given(st.data(), st.sampled_from(DTYPES), st.integers(1, 4), st.integers(1, 20))
def test_bytes_that_hypothesis_likes_come_back(check, data, dtype, width, n):
    layout = Layout((Field("x", dtype, width),))
    size = n * layout.row_bytes
    given_bytes = data.draw(st.binary(min_size=size, max_size=size))
    if dtype == "bool":
        given_bytes = bytes(byte & 1 for byte in given_bytes)
    check("diff1", layout, [np.frombuffer(given_bytes, layout.row_dtype)])


@pytest.mark.parametrize("name", CODECS)
@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 32, 256, 300])
@pytest.mark.parametrize("noise", [0, 3, 10**9])
def test_a_moving_body_comes_back(body, moved, check, name, n, noise):
    check(name, body, [moved(n, seed, 0.01, noise) for seed in range(2)])


@settings(max_examples=50, deadline=None)
@given(st.sampled_from([1, 2, 16, 17, 40, 100]), st.integers(0, 2**32), st.sampled_from([0.01, 1.0, 1e-290, 1e-160]))
def test_flushing_to_zero_changes_no_byte(body, wild, moved, flushing_to_zero, n, seed, dt):
    chunks = [moved(n, seed, 0.01, 5), wild(body, n, seed)]
    for rows in chunks:
        expected = codec_for("phys1", body, dt).encode(rows)
        every = range(len(body.fields))
        with flushing_to_zero():
            codec = codec_for("phys1", body, dt)
            streams = codec.encode(rows)
            views = {index: memoryview(stream) for index, stream in enumerate(streams)}
            flushed = codec.decode(views, n, every)
        assert streams == expected
        plain = codec_for("phys1", body, dt).decode(views, n, every)
        for index, field in enumerate(body.fields):
            assert flushed[index].tobytes() == plain[index].tobytes() == rows[field.name].tobytes()


def test_columns_full_of_tiny_numbers_survive_flushing_to_zero(body, flushing_to_zero, check):
    rng = np.random.default_rng(0)
    for lowest in range(-323, -80, 9):
        rows = np.zeros(40, body.row_dtype)
        for name in body.row_dtype.names:
            values = rows[name]
            values[:] = rng.normal(size=values.shape) * 10.0 ** rng.integers(lowest, lowest + 30, values.shape)
        expected = check("phys1", body, [rows], 1.0)
        with flushing_to_zero():
            assert check("phys1", body, [rows], 1.0) == expected


def test_a_codec_of_the_same_chunks_gives_the_same_bytes(body, moved):
    chunks = [moved(100, seed, 0.01, 5) for seed in range(3)]
    first, second = codec_for("phys1", body, 0.01), codec_for("phys1", body, 0.01)
    assert [first.encode(rows) for rows in chunks] == [second.encode(rows) for rows in chunks]


def test_a_chunk_is_decoded_from_its_own_streams(body, moved, check):
    encoder = codec_for("phys1", body, 0.01)
    streams = [encoder.encode(moved(64, seed, 0.01)) for seed in range(20)]
    last = {index: memoryview(stream) for index, stream in enumerate(streams[-1])}
    decoded = codec_for("phys1", body, 0.01).decode(last, 64, [1])
    assert decoded[1].tobytes() == moved(64, 19, 0.01)["qpos"].tobytes()


@pytest.mark.parametrize("name", CODECS[:2])
@pytest.mark.parametrize("n", [1, 2, 16, 17, 100])
def test_chunks_decoded_together_are_as_each_alone(body, moved, wild, name, n):
    encoder, reader = codec_for(name, body, 0.01), codec_for(name, body, 0.01)
    still = np.repeat(moved(1, 0, 0.01), n)
    chunks = [moved(n, 1, 0.01), wild(body, n, 2), still, moved(n, 3, 0.01, 10**9), wild(body, n, 4)]
    streams = [dict(enumerate(map(memoryview, encoder.encode(rows)))) for rows in chunks]
    every = range(len(body.fields))
    for wanted in (every, [1]):
        for rows, decoded in zip(chunks, reader.decode_many(streams, n, wanted), strict=True):
            assert list(decoded) == list(wanted)
            for index, values in decoded.items():
                assert values.tobytes() == rows[body.fields[index].name].tobytes()


def test_one_malformed_stream_spoils_those_decoded_with_it(body, moved):
    encoder = codec_for("phys1", body, 0.01)
    streams = [dict(enumerate(map(memoryview, encoder.encode(moved(20, seed, 0.01))))) for seed in range(3)]
    streams[1][2] = streams[1][2][:-1]
    with pytest.raises(CodecError, match="qvel"):
        encoder.decode_many(streams, 20, [1])


def test_what_a_field_needs_is_named(body):
    codec = codec_for("phys1", body, 0.01)
    place = {field.name: index for index, field in enumerate(body.fields)}
    assert codec.needs(place["qpos"]) == (place["qvel"], place["warmstart"])
    assert codec.needs(place["qvel"]) == (place["warmstart"],)
    for name in ("time", "warmstart", "ctrl"):
        assert codec.needs(place[name]) == ()
    assert codec_for("diff1", body, 0.01).needs(place["qpos"]) == ()


def test_a_layout_without_warm_start_needs_none():
    fields = (Field("qvel", "f8", 1), Field("qpos", "f8", 1))
    codec = codec_for("phys1", Layout(fields, (Joint("hinge", 0, 0),)), 0.01)
    assert codec.needs(1) == (0,)
    assert codec.needs(0) == ()


@pytest.mark.parametrize("name", CODECS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (500, 3), (7, 0)])
def test_a_ragged_table_comes_back(body, name, dtype, shape):
    field = Field("contact", dtype, shape[1], ragged=True)
    values = np.random.default_rng(0).integers(0, 2, shape).astype(field.dtype)
    codec = codec_for(name, body, 0.01)
    decoded = codec.decode_ragged(field, memoryview(codec.encode_ragged(field, values)), shape[0])
    assert decoded.dtype == field.dtype
    assert decoded.shape == shape
    assert decoded.tobytes() == values.tobytes()


def test_a_ragged_table_of_no_values_that_has_bytes_is_refused(body):
    field = Field("contact", "f8", 3, ragged=True)
    with pytest.raises(CodecError, match="contact"):
        codec_for("diff1", body, 0.01).decode_ragged(field, memoryview(b"x"), 0)


def test_ragged_fields_have_no_stream_among_the_fixed_ones(check, wild):
    layout = Layout((Field("c", "f8", 2, ragged=True), Field("x", "f8", 2), Field("d", "i4", 1, ragged=True)))
    assert len(check("phys1", layout, [wild(layout, 20, 0)])[0]) == 1


def test_nothing_is_left_for_the_garbage_collector(body, moved):
    codec = codec_for("phys1", body, 0.01)
    field = Field("contact", "f8", 3, ragged=True)
    gc.collect()
    gc.disable()
    try:
        views = {index: memoryview(stream) for index, stream in enumerate(codec.encode(moved(100, 0, 0.01)))}
        codec.decode(views, 100, range(len(views)))
        codec.decode_ragged(field, memoryview(codec.encode_ragged(field, np.arange(30.0).reshape(10, 3))), 10)
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_threads_decode_at_once(body, moved):
    codec = codec_for("phys1", body, 0.01)
    chunks = [moved(64, seed, 0.01, 3 * seed) for seed in range(12)]
    # As after a new choice in each chunk, so that threads also plan at once.
    streams = [codec_for("phys1", body, 0.01).encode(rows) for rows in chunks]

    def decode(index):
        views = {place: memoryview(stream) for place, stream in enumerate(streams[index % 12])}
        return codec.decode(views, 64, [1])[1].tobytes() == chunks[index % 12]["qpos"].tobytes()

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(decode, range(120)))


def test_an_unknown_codec_names_those_that_there_are(body):
    with pytest.raises(UnknownNameError, match="'phys1', 'diff1', 'archive'") as caught:
        codec_for("phys", body, 0.01)
    assert "Did you mean 'phys1'" in str(caught.value)


def test_a_codec_knows_its_name_and_contract(body):
    for name in CODECS:
        codec = codec_for(name, body, 0.01)
        assert (codec.name, codec.contract) == (name, 1)
