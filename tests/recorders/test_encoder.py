"""Frames into one video file: how many, when, and how they look."""

import os
import threading
import weakref
from fractions import Fraction

import numpy as np
import pytest
from reading import names

from simreel.errors import OptionsError, SampleError, TargetError, TargetExistsError
from simreel.recorders.codecs import recipe_for
from simreel.recorders.encoder import Encoder

RATES = [Fraction(24), Fraction(25), Fraction(30000, 1001), Fraction(30), Fraction(60), Fraction(100, 3)]
COUNTS = [1, 2, 29, 30, 31, 300]
SIZES = [(640, 480), (641, 481), (1, 1)]
# Some of each, and all of them in the slow run.
GRID = [(n, fps, size) for n in COUNTS for fps in RATES for size in SIZES]
SAMPLE = [(n, RATES[i % len(RATES)], SIZES[i % len(SIZES)]) for i, n in enumerate(COUNTS[:5] * 2)]


def encode(path, pictures, fps=25, **options):
    encoder = Encoder(path, None, fps, **options)
    for each in pictures:
        encoder.add(each)
    encoder.close()
    return encoder


def check(folder, suffix, n, fps, size, picture, watch):
    width, height = size
    pictures = [picture(i, height, width) for i in range(n)]
    path = folder / f"a{suffix}"
    encoder = encode(path, pictures, fps)
    video = watch(path)
    assert len(video) == n
    assert encoder.size == path.stat().st_size
    unit = {".mp4": 0, ".gif": Fraction(1, 100)}.get(suffix, Fraction(1, 1000))
    assert all(abs(t - i / fps) <= unit / 2 for i, t in enumerate(video.times)), video.times[:5]
    # WebM has no duration of a frame, only of the whole.
    assert suffix == ".webm" or abs(video.durations[-1] - 1 / fps) <= unit
    assert abs(video.duration - float(n / fps)) <= float(unit) + 2e-6
    even = (width + width % 2, height + height % 2)
    assert video.size == (even if suffix in {".mp4", ".mkv"} else size)
    # Of a video of 1 x 1 VP9 makes nothing better at first.
    assert video.off(pictures) < {".gif": 12, ".webm": 20 if size == (1, 1) else 6}.get(suffix, 4)
    assert names(folder) == [path.name]


@pytest.mark.parametrize("suffix", [".mp4", ".mkv", ".webm", ".gif"])
@pytest.mark.parametrize(("n", "fps", "size"), [(n, fps, (64, 48)) for n, fps, _ in SAMPLE])
def test_n_frames_in_are_n_out_at_their_times(tmp_path, suffix, n, fps, size, picture, watch):
    if suffix == ".gif" and fps > 50:
        pytest.skip("refused")
    check(tmp_path, suffix, n, fps, size, picture, watch)


@pytest.mark.parametrize(("n", "fps", "size"), [(2, Fraction(100, 3), (641, 481)), (31, Fraction(60), (1, 1))])
def test_odd_sizes_are_padded_by_a_pixel(tmp_path, n, fps, size, picture, watch):
    check(tmp_path, ".mp4", n, fps, size, picture, watch)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("suffix", [".mp4", ".mkv", ".webm"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_the_whole_grid(tmp_path, suffix, size, picture, watch):
    for i, (n, fps, each) in enumerate(GRID):
        if each == size:
            (tmp_path / str(i)).mkdir()
            check(tmp_path / str(i), suffix, n, fps, size, picture, watch)


def test_many_frames_do_not_drift(tmp_path, watch):
    for suffix, n, unit in ((".mp4", 2000, 0), (".mkv", 2000, Fraction(1, 1000)), (".gif", 400, Fraction(1, 100))):
        fps = Fraction(30000, 1001)
        encode(tmp_path / f"a{suffix}", [np.full((2, 2), i % 256, np.uint8) for i in range(n)], fps)
        video = watch(tmp_path / f"a{suffix}")
        assert len(video) == n
        assert max(abs(t - i / fps) for i, t in enumerate(video.times)) <= unit / 2


def test_the_padding_leaves_the_picture_alone(tmp_path, picture, watch):
    odd, even = picture(0, 47, 63), picture(0, 48, 64)
    even[:47, :63], even[47, :63], even[:, 63] = odd, odd[46], np.append(odd[:, 62], odd[46:, 62], 0)
    encode(tmp_path / "odd.mp4", [odd] * 3)
    encode(tmp_path / "even.mp4", [even] * 3)
    for a, b in zip(watch(tmp_path / "odd.mp4").frames, watch(tmp_path / "even.mp4").frames, strict=True):
        # Once in a thousand times x264 makes another video of the same frames.
        assert np.abs(a.astype(int) - b).mean() < 0.5


@pytest.mark.parametrize("suffix", [".mp4", ".webm", ".gif"])
@pytest.mark.parametrize(
    "make",
    [
        lambda p: p[..., 0],
        lambda p: p[..., :1],
        lambda p: p,
        lambda p: np.dstack([p, np.zeros(p.shape[:2], np.uint8)]),
        lambda p: p[::-1],
        lambda p: p[:, ::-1],
        lambda p: p[..., ::-1],
        lambda p: np.asfortranarray(p),
        lambda p: p[:, ::2],
        lambda p: np.frombuffer(p.tobytes(), np.uint8).reshape(p.shape),
    ],
    ids=["grey", "grey1", "rgb", "alpha", "up", "left", "bgr", "fortran", "strided", "readonly"],
)
def test_frames_of_all_kinds_look_as_they_are(tmp_path, picture, watch, suffix, make):
    pictures = [make(picture(i)) for i in range(3)]
    encode(tmp_path / f"a{suffix}", pictures)
    assert watch(tmp_path / f"a{suffix}").off(pictures) < 6


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_floats_are_scaled(tmp_path, picture, watch, dtype):
    pictures = [picture(i, 47, 63) for i in range(3)]
    encode(tmp_path / "f.mkv", [(p / 255).astype(dtype) for p in pictures], scale=True)
    encode(tmp_path / "i.mkv", pictures)
    for a, b in zip(watch(tmp_path / "f.mkv").frames, watch(tmp_path / "i.mkv").frames, strict=True):
        assert np.abs(a.astype(int) - b).mean() < 0.5


@pytest.mark.parametrize("grey", [0, 1, 127, 128, 254, 255])
def test_greys_and_colours_keep_their_values(tmp_path, watch, grey):
    colours = [(grey,) * 3, (255, 0, 0), (0, 255, 0), (0, 0, 255)]
    for i, colour in enumerate(colours):
        path = tmp_path / f"{i}.mp4"
        encode(path, [np.full((64, 64, 3), colour, np.uint8)] * 3, recipe=recipe_for(".mp4", crf=1))
        assert np.abs(watch(path).frames[-1].astype(int) - colour).max() <= 3


@pytest.mark.parametrize("bad", [np.nan, np.inf, -0.001, 1.001, 255.0])
def test_a_float_outside_is_an_error_at_its_frame(tmp_path, watch, bad):
    encoder = Encoder(tmp_path / "a.mp4", None, 25, scale=True)
    good = np.full((8, 8, 3), 0.5)
    for _ in range(3):
        encoder.add(good)
    wrong = good.copy()
    wrong[4, 5, 1] = bad
    with pytest.raises(SampleError, match=r"frame 3 with values from .* 0 to 1 needed"):
        encoder.add(wrong)
    encoder.close(error="x")
    assert len(watch(tmp_path / "a.mp4")) == 3


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (np.zeros((8, 8, 3), np.int64), "int64"),
        (np.zeros((8, 8, 3), np.uint16), "uint16"),
        (np.zeros((8, 8), bool), "bool"),
        (np.zeros((8, 8, 3), complex), "complex128"),
        (np.zeros((8, 8, 3)), "scale=True"),
        (np.zeros((8, 8, 2), np.uint8), r"\(8, 8, 2\)"),
        (np.zeros((3, 8, 8), np.uint8), "move the channels to the end"),
        (np.zeros((2, 8, 8, 3), np.uint8), r"\(2, 8, 8, 3\)"),
        (np.zeros((0, 8, 3), np.uint8), r"\(0, 8, 3\)"),
        (np.zeros(8, np.uint8), r"\(8,\)"),
        (np.zeros((), np.uint8), r"\(\)"),
    ],
)
def test_what_is_no_frame_is_refused(tmp_path, frame, words):
    encoder = Encoder(tmp_path / "a.mp4", None, 25)
    with pytest.raises(SampleError, match=words):
        encoder.add(frame)
    assert not encoder.close()
    assert names(tmp_path) == []


def test_a_later_frame_of_another_kind_is_refused(tmp_path, watch):
    encoder = Encoder(tmp_path / "a.mp4", (8, 6), 25)
    with pytest.raises(SampleError, match="frame 0 of 6 x 8 returned, 8 x 6 needed"):
        encoder.add(np.zeros((8, 6, 3), np.uint8))
    encoder.add(np.zeros((6, 8, 3), np.uint8))
    for wrong in (np.zeros((6, 9, 3), np.uint8), np.zeros((6, 8), np.uint8), np.zeros((6, 8, 3), np.int8)):
        with pytest.raises(SampleError, match="frame 1 of shape"):
            encoder.add(wrong)
    encoder.add(np.zeros((6, 8, 3), np.uint8))
    assert encoder.close()
    assert len(watch(tmp_path / "a.mp4")) == 2


def test_the_file_tells_of_itself(tmp_path, picture, watch):
    for suffix in (".mp4", ".mkv", ".webm", ".gif"):
        path = tmp_path / f"läuf{suffix}"
        encoder = Encoder(path, None, Fraction(100, 3), title="Ein Titel", tags={"dt": 0.01})
        encoder.add(picture(0))
        encoder.close(tags={"dropped": 2})
        video = watch(path)
        told = video.comment
        assert {key: told[key] for key in ("dt", "fps", "frames", "complete", "error", "dropped")} == {
            "dt": 0.01,
            "fps": "100/3",
            "frames": 1,
            "complete": True,
            "error": None,
            "dropped": 2,
        }
        assert told["simreel"]
        assert video.tags.get("title", told.get("title")) == "Ein Titel"
    encode(tmp_path / "stem.mp4", [picture(0)])
    assert watch(tmp_path / "stem.mp4").tags["title"] == "stem"


def test_an_mp4_starts_at_once(tmp_path, picture):
    encode(tmp_path / "a.mp4", [picture(i) for i in range(50)])
    raw = (tmp_path / "a.mp4").read_bytes()
    assert raw.index(b"moov") < raw.index(b"mdat")
    assert b"moof" not in raw


def test_the_default_codecs(tmp_path, picture, watch):
    for suffix, codec in ((".mp4", "h264"), (".mkv", "h264"), (".webm", "vp9"), (".gif", "gif")):
        encode(tmp_path / f"a{suffix}", [picture(0)] * 2)
        assert watch(tmp_path / f"a{suffix}").codec.endswith(codec)


@pytest.mark.parametrize("codec", ["libx265", "mpeg4", "libvpx-vp9", "libsvtav1"])
@pytest.mark.parametrize("n", [1, 2, 40])
def test_other_codecs_do_the_same(tmp_path, picture, watch, codec, n):
    pictures = [picture(i, 64, 64) for i in range(n)]
    encode(tmp_path / "a.mp4", pictures, 30, recipe=recipe_for(".mp4", codec=codec))
    video = watch(tmp_path / "a.mp4")
    assert video.times == [Fraction(i, 30) for i in range(n)]
    assert video.off(pictures) < 6


def test_a_frame_is_let_go(tmp_path, picture):
    class Frame(np.ndarray):
        pass

    for suffix, codec in ((".mp4", ""), (".mkv", "ffv1"), (".mkv", "libx264rgb"), (".mkv", "mjpeg"), (".gif", "")):
        path = tmp_path / f"a{codec}{suffix}"
        encoder = Encoder(path, None, 25, recipe=recipe_for(suffix, codec=codec))
        for i in range(20):
            frame = picture(i).view(Frame)
            dead = weakref.ref(frame)
            encoder.add(frame)
            del frame
            assert dead() is None
        encoder.close()


def test_what_the_caller_writes_into_his_buffer_changes_no_frame(tmp_path, picture, watch):
    for suffix, codec in ((".mp4", ""), (".mkv", "ffv1"), (".mkv", "libx264rgb"), (".mkv", "mjpeg")):
        buffer, path = picture(0).copy(), tmp_path / f"a{codec}{suffix}"
        encoder = Encoder(path, None, 25, recipe=recipe_for(suffix, codec=codec))
        for i in range(30):
            buffer[:] = picture(i)
            encoder.add(buffer)
            buffer[:] = 0
        encoder.close()
        assert watch(path).off([picture(i) for i in range(30)]) < 3


@pytest.mark.parametrize("mbit", [0.5, 2, 8])
@pytest.mark.parametrize("seconds", [1, pytest.param(10, marks=pytest.mark.slow)])
def test_noise_takes_the_bitrate(tmp_path, mbit, seconds):
    rng = np.random.default_rng(1)
    frames = [rng.integers(0, 256, (480, 640, 3), np.uint8) for _ in range(30)]
    encoder = encode(tmp_path / "a.mp4", frames * seconds, 30, recipe=recipe_for(".mp4", bitrate=mbit))
    assert encoder.size * 8 / seconds / 1e6 == pytest.approx(mbit, rel=0.15)


def test_quality_in_place_of_a_rate(tmp_path, picture, watch):
    rng = np.random.default_rng(1)
    frames = [picture(i) + rng.integers(0, 20, (48, 64, 3), np.uint8) for i in range(10)]
    for suffix in (".mp4", ".webm"):
        sizes = [
            encode(tmp_path / f"{crf}{suffix}", frames, recipe=recipe_for(suffix, crf=crf)).size for crf in (5, 40)
        ]
        assert sizes[0] > 3 * sizes[1]


@pytest.mark.parametrize(("suffix", "fps"), [(".gif", 60), (".gif", Fraction(501, 10)), (".gif", Fraction(1, 1000))])
def test_rates_that_a_gif_cannot_have_are_refused(tmp_path, suffix, fps):
    with pytest.raises(OptionsError, match=r"fps: a \.gif"):
        Encoder(tmp_path / f"a{suffix}", None, fps)
    assert names(tmp_path) == []


def test_a_name_that_is_no_video_is_refused(tmp_path):
    with pytest.raises(OptionsError, match=r"\.mp4, \.mkv"):
        Encoder(tmp_path / "a.avi", None, 25)


def test_without_a_frame_there_is_no_file(tmp_path):
    for suffix in (".mp4", ".gif"):
        encoder = Encoder(tmp_path / f"a{suffix}", None, 25)
        assert not encoder.close()
        assert not encoder.close()
    assert names(tmp_path) == []


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
@pytest.mark.parametrize("error", [None, "it went wrong"])
def test_a_good_file_is_never_harmed(tmp_path, picture, watch, suffix, error):
    path = tmp_path / f"a{suffix}"
    path.write_text("old")
    with pytest.raises(TargetExistsError, match="overwrite"):
        Encoder(path, None, 25)
    assert not Encoder(path, None, 25, overwrite=True).close()
    assert path.read_text() == "old"
    encoder = Encoder(path, None, 25, overwrite=True)
    encoder.add(picture(0))
    assert encoder.close(error=error)
    assert watch(path).comment["complete"] == (error is None)
    assert names(tmp_path) == [path.name, *([f"{path.name}.old"] if error else [])]


def test_a_file_that_is_renamed_gets_all_frames(tmp_path, picture, watch):
    encoder = Encoder(tmp_path / "a.mp4", None, 25)
    for i in range(30):
        encoder.add(picture(i))
        if i == 10:
            os.rename(tmp_path / "a.mp4", tmp_path / "b.mp4")
            (tmp_path / "a.mp4").write_text("another's")
    assert encoder.close()
    assert (tmp_path / "a.mp4").read_text() == "another's"
    assert len(watch(tmp_path / "b.mp4")) == 30


def test_a_file_that_is_deleted_is_told(tmp_path, picture):
    encoder = Encoder(tmp_path / "a.mp4", None, 25)
    encoder.add(picture(0))
    (tmp_path / "a.mp4").unlink()
    with pytest.raises(TargetError, match="deleted while it was recorded"):
        encoder.close()
    assert names(tmp_path) == []


def test_strange_names_are_names(tmp_path, picture, watch):
    for name in ("a b.mp4", "50%d.mp4", "http:x.mp4", "ü€.mp4", "'q\".mp4", "-y.mp4", os.fsdecode(b"\xff.mp4")):
        encode(tmp_path / name, [picture(i) for i in range(3)])
        # PyAV reads a name that is no text from a file only.
        with open(tmp_path / name, "rb") as file:
            assert b"moov" in file.read()
    assert len(names(tmp_path)) == 7


def test_two_encoders_at_once_do_not_meet(tmp_path, picture, watch):
    def run(k):
        encode(tmp_path / f"{k}.mp4", [picture(i + 10 * k) for i in range(40)])

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(4):
        assert watch(tmp_path / f"{k}.mp4").off([picture(i + 10 * k) for i in range(40)]) < 3
