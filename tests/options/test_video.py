"""What the options of a video accept and refuse; no file is opened."""

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from simreel.errors import OptionsError
from simreel.options.recorders import VideoFile


def test_the_defaults_are_those_of_the_api():
    made = VideoFile("a.mp4")
    assert (made.fps, made.name, made.codec, made.bitrate, made.crf, made.codec_options) == (
        None,
        "",
        "",
        None,
        None,
        {},
    )
    assert (made.scale, made.worlds, made.overwrite, made.save_on_reset) == (False, None, False, False)
    assert (made.hz, made.buffer_size, made.when_full, made.buffer_full_wait_time) == (None, 8, "block", 0.1)


@pytest.mark.parametrize(
    "made",
    [
        VideoFile("a.mp4"),
        VideoFile(
            "x/ü.MKV", fps=29.97, name="Lauf", codec="libx264", crf=18, codec_options={"preset": "slow", "g": 25}
        ),
        VideoFile("a.webm", bitrate=2, worlds=[0, 5], save_on_reset=True, overwrite=True, buffer_size=2, hz=25),
        VideoFile("a.gif", scale=True, fps=50, codec="gif"),
    ],
)
def test_options_survive_json(made):
    again = VideoFile.model_validate_json(made.model_dump_json())
    assert again == made
    assert repr(again) == repr(made)


def test_numbers_of_any_kind_are_accepted():
    made = VideoFile("a.mp4", fps=Fraction(30000, 1001), bitrate=np.float32(2), worlds=np.array([2, 0]))
    assert (made.fps, made.bitrate, made.worlds) == (30000 / 1001, 2.0, (2, 0))
    assert VideoFile("a.mp4", fps=np.int64(25)).fps == 25.0
    assert VideoFile("a.mp4", codec_options={"g": 25, "qcomp": 0.5}).codec_options == {"g": "25", "qcomp": "0.5"}


@pytest.mark.parametrize("suffix", [".mp4", ".mkv", ".webm", ".gif", ".MP4"])
def test_the_suffix_decides_in_any_case(suffix):
    VideoFile(f"a.b/c{suffix}")
    with pytest.raises(OptionsError, match=r"ends in \.mp4 or \.mkv or \.webm or \.gif"):
        VideoFile(f"a{suffix}.avi")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"fps": 0}, "fps = 0: greater than 0"),
        ({"fps": float("nan")}, "fps = nan: a finite number"),
        ({"bitrate": 0}, "bitrate = 0: greater than 0"),
        ({"crf": -1}, "crf = -1: greater than or equal to 0"),
        ({"crf": 64}, "crf = 64: less than or equal to 63"),
        ({"crf": 18, "bitrate": 2}, "crf = 18 and bitrate = 2: give one of them"),
        ({"codec": "libx265 "}, "codec = 'libx265 ': an encoder that is there is needed. Did you mean 'libx265'?"),
        ({"codec": "aac"}, "codec = 'aac': an encoder of video is needed"),
        ({"worlds": []}, "worlds = []: at least one world"),
        ({"worlds": [-1]}, "worlds = "),
        ({"worlds": [1, 1]}, "worlds = [1, 1]: at least one world, and each once, is needed"),
        ({"worlds": 3}, "worlds = 3: "),
        ({"codec_options": ["g"]}, "codec_options = ['g']: "),
        ({"codec_option": {}}, "codec_option is not an option. Did you mean 'codec_options'?"),
        ({"buffer_size": -1}, "buffer_size = -1: "),
    ],
)
def test_a_mistake_is_one_line(values, words):
    with pytest.raises(OptionsError) as caught:
        VideoFile("a.mp4", **values)
    assert str(caught.value).startswith(f"VideoFile: {words}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"bitrate": 1}, "bitrate: a .gif has none"),
        ({"crf": 20}, "crf: a .gif has none"),
        ({"codec_options": {"g": "1"}}, "codec_options: a .gif has none"),
        ({"codec": "libx264"}, "codec = 'libx264': a .gif has the codec gif"),
        ({"fps": 60}, "fps = 60: a .gif shows at most 50 frames a second"),
    ],
)
def test_a_gif_has_its_own_limits(values, words):
    with pytest.raises(OptionsError, match=words):
        VideoFile("a.gif", **values)


def test_pyav_is_loaded_only_where_a_codec_is_named():
    check = (
        "import sys, simreel as sr; sr.recorders.VideoFile('a.mp4', crf=20); "
        "assert not {'av', 'numpy', 'simreel.recorders.video'} & set(sys.modules)\n"
        "sr.recorders.VideoFile('a.mp4', codec='libx264'); assert 'av' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", check], check=True, timeout=60)
