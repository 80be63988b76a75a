"""Which codecs work, and what they are told."""

from fractions import Fraction

import pytest

from simreel.errors import OptionsError
from simreel.recorders import codecs
from simreel.recorders.codecs import fitting_size, growing_options, recipe_for

FPS = Fraction(25)


@pytest.mark.parametrize(
    ("suffix", "container", "codec", "pixels"),
    [
        (".mp4", "mp4", "libx264", "yuv420p"),
        (".mkv", "matroska", "libx264", "yuv420p"),
        (".webm", "webm", "libvpx-vp9", "yuv420p"),
        (".gif", "matroska", "libx264rgb", "rgb24"),
        (".MP4", "mp4", "libx264", "yuv420p"),
    ],
)
def test_the_suffix_gives_the_defaults(suffix, container, codec, pixels):
    recipe = recipe_for(suffix)
    assert (recipe.container, recipe.codec) == (container, codec)
    assert recipe.pixel_format == pixels or suffix == ".gif"


def test_x264_is_fast_by_default_and_as_asked_otherwise():
    assert dict(recipe_for(".mp4").codec_options)["preset"] == "veryfast"
    given = recipe_for(".mp4", codec_options={"preset": "slow", "g": "10", "pix_fmt": "yuv444p"})
    assert dict(given.codec_options) | {"preset": "slow", "g": "10"} == dict(given.codec_options)
    assert given.pixel_format == "yuv444p"


def test_a_format_names_the_codec_that_makes_it():
    assert recipe_for(".mp4", codec="h264").codec == "libx264"
    assert recipe_for(".webm", codec="vp9").codec == "libvpx-vp9"


@pytest.mark.parametrize(
    ("asked", "rate"),
    [
        ({}, {"b": "1000000", "maxrate": "1000000"}),
        ({"bitrate": 0.5}, {"b": "500000", "maxrate": "500000"}),
        ({"crf": 23}, {"crf": "23"}),
        ({"crf": 17.5}, {"crf": "17.5"}),
        ({"codec_options": {"crf": "20"}}, {"crf": "20"}),
        ({"codec_options": {"qp": "20"}}, {"qp": "20"}),
        ({"codec": "ffv1"}, {}),
    ],
)
def test_one_way_of_rate_is_told(asked, rate):
    told = dict(recipe_for(".mkv", **asked).codec_options)
    assert {key: told[key] for key in ("b", "maxrate", "crf", "qp") if key in told} == rate


@pytest.mark.parametrize("suffix", [".mp4", ".mkv", ".webm", ".gif"])
@pytest.mark.parametrize("size", [(640, 480), (641, 481), (640, 481), (1, 1), (2, 2), (16, 1)])
def test_a_size_is_taken_or_a_pixel_more(suffix, size):
    fitting = fitting_size(recipe_for(suffix), size, FPS)
    even = (size[0] + size[0] % 2, size[1] + size[1] % 2)
    assert fitting == (even if suffix in {".mp4", ".mkv"} else size)


def test_full_chroma_needs_no_padding():
    assert fitting_size(recipe_for(".mp4", codec_options={"pix_fmt": "yuv444p"}), (641, 481), FPS) == (641, 481)


@pytest.mark.parametrize(
    ("suffix", "asked", "words"),
    [
        (
            ".mp4",
            {"codec": "libx246"},
            ["codec = 'libx246': no such encoder", "These work for .mp4: libx264", "Did you mean 'libx26"],
        ),
        (".webm", {"codec": "libx264"}, ["does not support", "These work for .webm: libvpx-vp9, libvpx."]),
        (".mp4", {"codec": "h264_v4l2m2m"}, ["cannot encode frames of 64 x 64", "These work for .mp4: libx264"]),
        (".mp4", {"codec_options": {"presett": "slow"}}, ["libx264 has no option 'presett'. Did you mean 'preset'?"]),
        (
            ".mp4",
            {"codec_options": {"preset": "sloow", "g": "9"}},
            ["codec_options = {'preset': 'sloow'}: libx264 cannot encode with it (Invalid argument)"],
        ),
        (".mp4", {"crf": 20, "codec_options": {"g": "abc"}}, ["codec_options = {'g': 'abc'}: "]),
        (
            ".mp4",
            {"codec_options": {"g": "abc", "preset": "sloow"}},
            ["codec_options = {'g': 'abc', 'preset': 'sloow'}: libx264 cannot encode with them"],
        ),
        (".mp4", {"codec": "libx265", "crf": 63}, ["crf = 63: libx265 cannot encode with it"]),
        (".mp4", {"codec": "mpeg4", "crf": 20}, ["crf: mpeg4 has none; give bitrate"]),
        (".mp4", {"codec_options": {"pix_fmt": "yuv42p"}}, ["'pix_fmt': 'yuv42p'", "Did you mean 'yuv42"]),
        (".mp4", {"codec_options": {"pix_fmt": "rgb24"}}, ["'pix_fmt': 'rgb24'", "Its pix_fmt are: yuv420p, "]),
    ],
)
def test_what_does_not_work_is_refused_with_what_does(suffix, asked, words):
    with pytest.raises(OptionsError) as caught:
        fitting_size(recipe_for(suffix, **asked), (64, 64), FPS)
    for word in words:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_size_that_no_codec_takes_is_refused():
    with pytest.raises(OptionsError, match="frames of 20000 x 20000 at 25 per second"):
        fitting_size(recipe_for(".mp4"), (20000, 20000), FPS)


def test_without_libx264rgb_a_gif_waits_in_another_codec(monkeypatch):
    monkeypatch.setitem(codecs._DEFAULT_CODECS, ".gif", "none-such")
    recipe = recipe_for(".gif")
    assert recipe.codec == "ffv1"
    assert fitting_size(recipe, (7, 5), FPS) == (7, 5)


@pytest.mark.parametrize(("fps", "seconds"), [(1, 1), (10, 1), (16, 1), (32, 0.5), (1000, 0.016)])
def test_a_fragment_is_a_second_or_sixteen_frames(fps, seconds):
    assert growing_options(recipe_for(".mp4"), Fraction(fps))["frag_duration"] == str(int(seconds * 10**6))
    assert growing_options(recipe_for(".mkv"), Fraction(fps))["cluster_time_limit"] == str(int(seconds * 1000))


def test_codecs_say_nothing_on_stderr(capfd):
    for codec in ("libx264", "libx265", "libvpx-vp9", "mpeg4", "libsvtav1"):
        fitting_size(recipe_for(".mp4", codec=codec), (64, 64), Fraction(24))
    assert capfd.readouterr() == ("", "")
