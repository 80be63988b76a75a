"""From frames to a growing file: what is on disk, and what is told where that fails."""

import errno
import os
from fractions import Fraction

import av
import numpy as np
import pytest

from simreel.errors import TargetError
from simreel.recorders.codecs import recipe_for
from simreel.recorders.frames import FrameLayout
from simreel.recorders.growing import GrowingFile
from simreel.recorders.muxer import Muxer

LAYOUT = FrameLayout(48, 64, 3, np.dtype(np.uint8))


@pytest.fixture
def growing(tmp_path):
    file = GrowingFile(tmp_path / "a.mp4", overwrite=False)
    yield file
    file.keep(is_good=True)


def muxer_of(file, fps=25):
    return Muxer(file, file.path, LAYOUT, Fraction(fps), recipe_for(".mp4"), {"title": "t"})


def test_a_finished_file_has_each_frame_at_its_time(growing, picture):
    muxer = muxer_of(growing, Fraction(30000, 1001))
    for i in range(31):
        muxer.add(picture(i))
    muxer.finish()
    assert muxer.frames == 31
    with av.open(str(growing.path)) as file:
        assert file.metadata["title"] == "t"
        times = [frame.pts * frame.time_base for frame in file.decode(video=0)]
    assert times == [i * Fraction(1001, 30000) for i in range(31)]


def test_fragments_are_on_disk_while_it_grows(growing, picture):
    muxer = muxer_of(growing)
    for i in range(100):
        muxer.add(picture(i))
    with av.open(str(growing.path)) as file:
        assert 50 <= sum(1 for _ in file.decode(video=0)) < 100
    muxer.finish()


def test_one_that_is_let_go_writes_nothing_more(growing, picture):
    muxer = muxer_of(growing)
    muxer.add(picture(0))
    muxer.let_go()
    size = os.path.getsize(growing.path)
    del muxer
    assert os.path.getsize(growing.path) == size


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_what_the_disk_says_is_told_with_the_frame(growing, picture, monkeypatch, number):
    muxer = muxer_of(growing)

    def full(data):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(growing, "write", full)
    text = rf"a\.mp4: frame \d+ cannot be written \({os.strerror(number)}\).*Free space"
    with pytest.raises(TargetError, match=text):  # noqa: PT012 - the fragment that does not fit is any of them
        for i in range(200):
            muxer.add(picture(i))
    assert muxer.failed
    muxer.let_go()


def test_what_the_codec_refuses_is_told_as_such(growing, picture, monkeypatch):
    muxer = muxer_of(growing)

    def refuse(stream, frame):
        raise av.error.InvalidDataError(1, "no")

    monkeypatch.setattr("simreel.recorders.muxer.encode", refuse)
    with pytest.raises(TargetError, match=r"frame 0 cannot be encoded by libx264 .*Try another codec"):
        muxer.add(picture(0))
    assert muxer.failed
    muxer.let_go()
