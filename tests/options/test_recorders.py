"""What the options of recorders accept and refuse; no file is opened."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from simreel import recorders
from simreel.errors import OptionsError
from simreel.options import recorders as options
from simreel.options.recorders import CSVFile, NPZFile, RecorderOptions, VideoFile
from simreel.options.sim import SimOptions
from simreel.options.trajectory import TrajectoryFile

FILES = [(NPZFile, "a.npz"), (CSVFile, "a.csv")]
ALL = [
    NPZFile("a.npz"),
    NPZFile("x/ü.npz", hz=50, compression="deflate", overwrite=True, save_on_reset=True),
    CSVFile("a.csv", header=["a", "b,c"], save_every_write=True, buffer_size=7, when_full="drop_oldest"),
    RecorderOptions(buffer_bytes=10, buffer_full_wait_time=0),
]


@pytest.mark.parametrize("made", ALL, ids=lambda made: type(made).__name__)
def test_options_survive_json(made):
    again = type(made).model_validate_json(made.model_dump_json())
    assert again == made
    assert repr(again) == repr(made)


@pytest.mark.parametrize("name", options.__all__)
def test_every_field_tells_what_it_is(name):
    for field, info in getattr(options, name).model_fields.items():
        assert info.description, field


def test_the_defaults_are_those_of_the_api():
    made = NPZFile("a.npz")
    assert (made.hz, made.buffer_size, made.buffer_full_wait_time, made.when_full) == (None, 0, 0.1, "block")
    assert made.buffer_bytes == 32 * 2**20
    assert (made.compression, made.overwrite, made.save_on_reset) == ("none", False, False)
    made = CSVFile("a.csv")
    assert (made.header, made.save_every_write, made.overwrite, made.save_on_reset) == (None, False, False, False)


def test_options_load_neither_numpy_nor_a_writer():
    check = (
        "import sys, simreel as sr; sr.recorders.NPZFile('a.npz'); "
        "assert not [m for m in sys.modules if m in ('numpy', 'mujoco', 'orjson', 'simreel.recorders.npz')]"
    )
    subprocess.run([sys.executable, "-c", check], check=True, timeout=60)


def test_the_classes_are_the_same_in_both_places():
    for name in options.__all__:
        assert getattr(recorders, name) is getattr(options, name)


@pytest.mark.parametrize(("cls", "name"), FILES)
def test_a_file_name_may_be_given_without_its_field(cls, name):
    assert cls(name) == cls(filename=name) == cls(Path(name))
    assert cls(name).filename == Path(name)
    with pytest.raises(OptionsError, match="filename is missing"):
        cls()
    with pytest.raises(OptionsError, match="6 values without a name"):
        cls(name, *range(5))


@pytest.mark.parametrize(("cls", "name"), FILES)
def test_the_suffix_decides_in_any_case(cls, name):
    cls(name.upper())
    cls(f"x.y/{name}")
    for wrong in ("a.txt", "a", "", ".", "..", "a.", Path(name).suffix, f"{name}.gz", f"{name}/x"):
        with pytest.raises(OptionsError, match="filename") as caught:
            cls(wrong)
        assert f"ends in {Path(name).suffix}" in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("wrong", [None, 3, b"a.npz", ["a.npz"], "a\0.npz"])
def test_what_is_no_file_name_is_refused(wrong):
    with pytest.raises(OptionsError, match=r"filename = .*: ") as caught:
        NPZFile(wrong)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"hz": 0}, "hz = 0: greater than 0"),
        ({"hz": -5}, "hz = -5: greater than 0"),
        ({"hz": float("nan")}, "hz = nan: a finite number"),
        ({"hz": float("inf")}, "hz = inf: a finite number"),
        ({"hz": "fast"}, "hz = 'fast': a valid number"),
        ({"buffer_size": -1}, "buffer_size = -1: greater than or equal to 0"),
        ({"buffer_size": 1.5}, "buffer_size = 1.5: "),
        ({"buffer_bytes": 0}, "buffer_bytes = 0: greater than 0"),
        ({"buffer_full_wait_time": -1}, "buffer_full_wait_time = -1: greater than or equal to 0"),
        ({"buffer_full_wait_time": float("inf")}, "buffer_full_wait_time = inf: a finite number"),
        ({"when_full": "drop"}, "when_full = 'drop': 'block', 'drop_oldest' or 'raise'. Did you mean 'drop_oldest'?"),
        ({"compression": "zip"}, "compression = 'zip': 'none' or 'deflate'"),
        ({"overwrite": "maybe"}, "overwrite = 'maybe': a valid boolean"),
        ({"overwrit": True}, "overwrit is not an option. Did you mean 'overwrite'?"),
        ({"rate": 50}, "rate is not an option."),
    ],
)
def test_a_mistake_is_one_line(values, words):
    with pytest.raises(OptionsError) as caught:
        NPZFile("a.npz", **values)
    assert str(caught.value).startswith(f"NPZFile: {words}")
    assert "\n" not in str(caught.value)


def test_numpy_scalars_and_lists_are_accepted():
    made = NPZFile("a.npz", hz=np.float32(50), buffer_size=np.int64(8), overwrite=np.bool_(True))
    assert (made.hz, made.buffer_size, made.overwrite) == (50.0, 8, True)
    assert [type(v) for v in (made.hz, made.buffer_size, made.overwrite)] == [float, int, bool]
    assert CSVFile("a.csv", header=np.array(["a", "b"])).header == ("a", "b")


@pytest.mark.parametrize("header", ["abc", [1, 2], 3, {"a": 1}])
def test_a_header_is_a_list_of_names(header):
    with pytest.raises(OptionsError, match="CSVFile: header = "):
        CSVFile("a.csv", header=header)


def test_values_come_in_the_order_of_the_signatures(tmp_path):
    npz = NPZFile(tmp_path / "a.npz", "deflate", True, True)
    assert (npz.compression, npz.overwrite, npz.save_on_reset) == ("deflate", True, True)
    csv = CSVFile(tmp_path / "a.csv", ["a"], True, True)
    assert (csv.header, csv.save_every_write, csv.overwrite) == (("a",), True, True)
    video = VideoFile(tmp_path / "a.mp4", 30, "title", "libx264", None, 20.0)
    assert (video.fps, video.name, video.codec, video.crf) == (30, "title", "libx264", 20.0)
    reel = TrajectoryFile(tmp_path / "a.reel", True, 64)
    assert (reel.exact, reel.chunk_size) == (True, 64)
    assert RecorderOptions(50, 3, 0.2, "raise").when_full == "raise"
    assert SimOptions(0.01, 2, (0, 0, -1), "rk4").integrator == "rk4"
