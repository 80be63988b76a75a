"""Packets moved to another file, and what a video tells of itself."""

import json
import os
from fractions import Fraction

import pytest

from simreel.recorders.encoder import Encoder
from simreel.recorders.remux import metadata, provisional, read_comment, remux, survey


@pytest.fixture
def video(tmp_path, picture):
    """`video(".mp4", n)` makes a video of n frames at 25 a second and opens it."""
    opened = []

    def make(suffix=".mp4", frames=40):
        encoder = Encoder(tmp_path / f"a{suffix}", None, 25, title="T")
        for i in range(frames):
            encoder.add(picture(i))
        encoder.close()
        opened.append(open(tmp_path / f"a{suffix}", "rb"))  # noqa: SIM115 - closed below
        return opened[-1]

    yield make
    for file in opened:
        file.close()


def test_the_comment_is_json_and_a_title_that_is_no_text_is_replaced():
    told = metadata("a\udcff", {"fps": "25"})
    assert told["title"] == "a?"
    assert json.loads(told["comment"])["fps"] == "25"


@pytest.mark.parametrize("suffix", [".mp4", ".mkv", ".webm"])
def test_a_survey_tells_title_codec_size_rate_and_frames(video, suffix):
    found = survey(video(suffix))
    assert (found.title, found.size, found.rate) == ("T", (64, 48), 25)
    assert found.codec == {".webm": "vp9"}.get(suffix, "h264")
    assert (found.packets, found.whole, found.comment["frames"]) == (40, 40, 40)
    assert found.promised == (40 if suffix == ".mp4" else 0)


def test_the_comment_is_read_without_the_packets(video):
    assert read_comment(video())["complete"] is True


@pytest.mark.parametrize(("container", "limit"), [("mp4", None), ("matroska", None), ("mp4", 7)])
def test_packets_keep_their_times_in_another_file(video, tmp_path, watch, container, limit):
    source = video(frames=40)
    suffix = {"mp4": ".mp4", "matroska": ".mkv"}[container]
    target = tmp_path / f"b{suffix}"
    count = remux(source, target, container, Fraction(25), metadata("new", {}), limit)
    made = watch(target)
    assert count == len(made.times) == (limit or 40)
    assert made.tags["title"] == "new"
    if limit is None:
        assert made.times == [Fraction(i, 25) for i in range(40)]


def test_another_rate_moves_each_frame(video, tmp_path, watch):
    remux(video(), tmp_path / "b.mp4", "mp4", Fraction(30000, 1001), metadata("", {}), was=Fraction(25))
    assert watch(tmp_path / "b.mp4").times == [i * Fraction(1001, 30000) for i in range(40)]


def test_a_final_file_starts_with_its_index(video, tmp_path):
    remux(video(), tmp_path / "b.mp4", "mp4", Fraction(25), {})
    raw = (tmp_path / "b.mp4").read_bytes()
    assert raw.index(b"moov") < raw.index(b"mdat")


def test_a_provisional_file_is_gone_unless_it_was_renamed(tmp_path):
    target = tmp_path / "a.mp4"
    with provisional(target) as made:
        made.write_bytes(b"half")
    assert list(tmp_path.iterdir()) == []
    with provisional(target) as made:
        made.write_bytes(b"whole")
        os.replace(made, target)
    assert [path.name for path in tmp_path.iterdir()] == ["a.mp4"]
    assert target.read_bytes() == b"whole"
