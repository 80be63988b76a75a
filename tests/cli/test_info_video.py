import os
import shutil
from fractions import Fraction

import av
import numpy as np
import pytest

import simreel as sr
from simreel.recorders.encoder import Encoder


def picture(i, width=64):
    return np.full((48, width, 3), 4 * i, np.uint8)


def encoder_of(file, frames, fps=Fraction(30000, 1001)):
    encoder = Encoder(file, None, fps, title="A title", tags={"dt": 0.002, "stride": 5})
    for i in range(frames):
        encoder.add(picture(i))
    return encoder


def left(file, frames):
    """What a kill leaves of a video."""
    encoder = encoder_of(file, frames)
    path = encoder._file.path
    raw = path.read_bytes()
    encoder.close()
    file.unlink()
    path.write_bytes(raw)
    return path


@pytest.mark.parametrize(("suffix", "codec"), [(".mp4", "h264"), (".mkv", "h264"), (".webm", "vp9"), (".gif", "gif")])
def test_a_video_shows_its_frames_exact_rate_codec_title_and_end(call, here, suffix, codec):
    file = f"a{suffix}"
    encoder_of(file, 40).close(tags={"dropped": 2})
    ended = call("info", file)
    assert ended.status == 0
    assert ended.out[0].startswith(f"{file}: video by simreel {sr.__version__}, ")
    assert ended.out[1:] == [
        "complete, 2 frames dropped",
        "40 frames of 64 x 48, 29.97 (30000/1001) a second, 1.33467 s",
        f"codec: {codec}",
        "title: A title",
        "a frame each 5 steps of 0.002 s",
    ]


def test_a_video_that_ended_with_an_error_tells_it(call, here):
    encoder_of("a.mp4", 3, 50).close(error="the disk\x1b[31m is full")
    ended = call("info", "a.mp4")
    assert ended.out[1:3] == [
        "not complete: 'the disk\\x1b[31m is full'",
        "3 frames of 64 x 48, 50 a second, 0.06 s",
    ]


@pytest.mark.leaves_spools
@pytest.mark.parametrize("name", ["a.mp4", "a.mkv", "a.webm", "a.gif"])
def test_what_a_kill_left_names_the_remedy_which_helps(call, here, name):
    path = left(here / name, 60)
    ended = call("info", path.name)
    assert ended.status == 0
    assert ended.out[1] == f"its run was cut off: simreel recover {path.name}"
    frames = int(ended.out[2].split()[0])
    assert 16 <= frames <= 60
    assert call("recover", path.name).status == 0
    told = call("info", name).out
    assert told[1] == "recovered from a run that was cut off"
    assert 16 <= int(told[2].split()[0]) <= frames


@pytest.mark.leaves_spools
def test_a_missing_gif_names_its_spool(call, here):
    path = left(here / "a.gif", 3)
    (told,) = call("info", "a.gif").err
    assert f"simreel recover makes it of {path.name}" in told


def test_a_video_that_is_written_is_told_apart(call, here):
    encoder = encoder_of("a.mp4", 3)
    assert call("info", "a.mp4").out[1] == "a running process writes it, and has not written a whole frame yet"
    for i in range(60):
        encoder.add(picture(i))
    assert call("info", "a.mp4").out[1] == "a running process writes it"
    encoder.close()
    assert call("info", "a.mp4").out[1] == "complete"


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv", "a.webm", "a.gif"])
def test_a_video_that_was_cut_says_so_or_is_one_error(call, here, name):
    encoder_of(name, 40).close()
    raw = (here / name).read_bytes()
    told = []
    for size in [*range(0, len(raw), 97), len(raw) - 2]:
        (here / name).write_bytes(raw[:size])
        ended = call("info", name)
        assert ended.status == len(ended.err) <= 1
        assert bool(ended.out) != bool(ended.err)
        if ended.out:
            told.append(ended.out[1])
    assert told
    assert set(told) & {"the file is cut", "the file is cut: 39 of 40 frames are left"}
    assert "complete" not in told[:-1]


@pytest.mark.parametrize("name", ["a.mp4", "a.gif"])
def test_an_altered_byte_of_a_video_gives_lines_or_one_error(call, here, name):
    encoder_of(name, 12).close()
    raw = (here / name).read_bytes()
    for at in range(0, len(raw), 67):
        (here / f"x{name}").write_bytes(raw[:at] + bytes([raw[at] ^ 0x55]) + raw[at + 1 :])
        ended = call("info", f"x{name}")
        assert ended.status == len(ended.err) <= 1


def test_a_foreign_video_is_shown_under_any_name(call, here):
    with av.open("a.mp4", "w") as file:
        stream = file.add_stream("mpeg4", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for i in range(10):
            file.mux(stream.encode(av.VideoFrame.from_ndarray(picture(i))))
        file.mux(stream.encode(None))
    shutil.move("a.mp4", "clip")
    ended = call("info", "clip")
    assert ended.out[0].startswith("clip: video, not by simreel, ")
    assert ended.out[1:] == ["10 frames of 64 x 48, 25 a second, 0.4 s", "codec: mpeg4"]
    os.truncate("clip", os.path.getsize("clip") // 2)
    assert call("info", "clip").status == 1  # its index stood at the end


@pytest.mark.parametrize("fps", ["1e999999999", "0", "-3", "nan", "1/0", 5.5, None])
def test_a_comment_whose_rate_is_none_is_not_ours(call, here, fps):
    from simreel.recorders.remux import metadata

    with av.open("a.mkv", "w") as file:
        file.metadata.update(metadata("t", {"fps": fps, "complete": True}))
        stream = file.add_stream("mpeg4", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        file.mux(stream.encode(av.VideoFrame.from_ndarray(picture(0))))
        file.mux(stream.encode(None))
    assert call("info", "a.mkv").out[0].startswith("a.mkv: video, not by simreel, ")
