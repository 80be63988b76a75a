"""The colours of a GIF, its times and its comment."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from simreel.recorders import gif
from simreel.recorders.encoder import Encoder
from simreel.recorders.gif import frame_time


def make(path, frames, fps=25):
    encoder = Encoder(path, None, fps)
    for frame in frames:
        encoder.add(frame)
    encoder.close()


def test_few_colours_are_kept_exactly(tmp_path, watch):
    rng = np.random.default_rng(2)
    # One in each box: two that are nearer than that may become one.
    colours = np.unique(rng.integers(0, 64, (250, 3)), axis=0).astype(np.uint8) * 4 + 1
    frames = [colours[rng.integers(0, len(colours), (40, 40))] for _ in range(5)]
    make(tmp_path / "a.gif", frames)
    video = watch(tmp_path / "a.gif")
    assert all(map(np.array_equal, video.frames, frames))


def test_many_colours_become_near_ones(tmp_path, watch, picture):
    frames = [picture(0, 240, 320)] * 2
    make(tmp_path / "a.gif", frames)
    video = watch(tmp_path / "a.gif")
    assert video.off(frames) < 9
    # Seen from afar it is the picture: dots are mixed.
    afar = [p.reshape(30, 8, 40, 8, 3).mean((1, 3)) for p in (video.frames[0], frames[0])]
    assert np.abs(afar[0] - afar[1]).mean() < 4
    assert np.array_equal(video.frames[0], video.frames[1])


def test_greys_are_near(tmp_path, watch):
    frames = [np.tile(np.arange(256, dtype=np.uint8), (8, 1))]
    make(tmp_path / "a.gif", frames)
    assert watch(tmp_path / "a.gif").off(frames) <= 1.5


def test_frames_that_are_alike_are_frames(tmp_path, watch):
    make(tmp_path / "a.gif", [np.full((9, 7, 3), 50, np.uint8)] * 12, 30)
    assert len(watch(tmp_path / "a.gif")) == 12


def test_the_histogram_takes_some_of_many_pixels(tmp_path, watch, picture, monkeypatch):
    monkeypatch.setattr(gif, "_COUNTED", 100)
    frames = [picture(i) for i in range(3)]
    make(tmp_path / "a.gif", frames)
    assert watch(tmp_path / "a.gif").off(frames) < 16


@pytest.mark.parametrize("fps", [Fraction(24), Fraction(30000, 1001), Fraction(50), Fraction(100, 3), Fraction(1, 600)])
def test_times_are_the_nearest_and_always_later(fps):
    times = [frame_time(i, fps) for i in range(1000)]
    assert all(abs(t - 100 * i / fps) <= Fraction(1, 2) for i, t in enumerate(times))
    assert min(b - a for a, b in pairwise(times)) >= 2


def test_a_long_comment_is_one(tmp_path, watch, picture):
    encoder = Encoder(tmp_path / "a.gif", None, 25, title="x" * 700, tags={"more": "ü" * 300})
    encoder.add(picture(0))
    encoder.close()
    video = watch(tmp_path / "a.gif")
    assert len(video) == 1
    assert (video.comment["title"], video.comment["more"]) == ("x" * 700, "ü" * 300)
