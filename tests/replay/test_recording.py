import numpy as np
import pytest

import simreel as sr
from simreel.errors import (
    DamagedFileError,
    FileVersionError,
    FrameIndexError,
    MissingFileError,
    NotATrajectoryError,
    SimreelError,
)
from simreel.reel import Field, Layout, ReelWriter

META = {"kind": "trajectory", "version": 1, "exact": True, "n_envs": 0, "stride": 1, "sleep": False, "channels": []}
COUNTERS = (Field("step", "i8", 1, kind="info"), Field("episode", "i8", 1, kind="info"))
STATE = Field("qpos", "f8", 2, kind="state")


def write(path, meta, fields=(STATE, *COUNTERS), frames=3):
    layout = Layout(fields)
    with ReelWriter(path, layout, dt=0.5, meta=meta) as writer:
        writer.append(np.zeros(frames, layout.row_dtype))
    return path


def refused(path, error, *words):
    with pytest.raises(error) as caught:
        sr.Scene.load_trajectory(path)
    assert isinstance(caught.value, SimreelError)
    text = str(caught.value)
    assert "\n" not in text
    assert all(word in text for word in (str(path), *words)), text


def test_a_file_that_is_not_there_is_named(tmp_path):
    refused(tmp_path / "no.reel", MissingFileError)


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", ["empty"]), (b"PK\x03\x04 and so on", ["not a reel", "version"]), (bytes(99), ["not a reel"])],
)
def test_what_is_no_reel_is_refused(tmp_path, content, words):
    path = tmp_path / "run.reel"
    path.write_bytes(content)
    refused(path, DamagedFileError, *words)


def test_a_reel_of_something_else_is_told_from_a_trajectory_with_its_version_and_frames(tmp_path):
    path = write(tmp_path / "log.reel", {"kind": "log"})
    refused(path, NotATrajectoryError, "no trajectory", "format version 1", "3 frames")


def test_a_scene_without_a_trajectory_names_the_call_that_reads_it(tmp_path):
    refused(write(tmp_path / "scene.reel", {"kind": "scene", "version": 1}), NotATrajectoryError, "Scene.load")


@pytest.mark.parametrize("version", [2, 0, None, "1", True])
def test_another_version_names_its_writer(tmp_path, version):
    path = write(tmp_path / "new.reel", META | {"version": version})
    refused(path, FileVersionError, f"trajectory version {version}", "simreel")


@pytest.mark.parametrize(
    "change",
    [
        {"exact": 1},
        {"n_envs": -1},
        {"n_envs": "many"},
        {"n_envs": 10**18},
        {"n_envs": True},
        {"stride": 0},
        {"stride": 0.5},
        {"sleep": None},
    ],
    ids=str,
)
def test_a_head_that_describes_no_trajectory_is_refused(tmp_path, change):
    refused(write(tmp_path / "odd.reel", META | change), NotATrajectoryError)


@pytest.mark.parametrize(
    "fields",
    [
        (STATE,),
        (STATE, COUNTERS[0]),
        (STATE, Field("step", "f8", 1), COUNTERS[1]),
        (STATE, Field("step", "i8", 2), COUNTERS[1]),
        (STATE, Field("step", "i8", 1, ragged=True), COUNTERS[1]),
    ],
)
def test_a_reel_without_the_counts_of_a_trajectory_is_refused(tmp_path, fields):
    refused(write(tmp_path / "odd.reel", META, fields), NotATrajectoryError)


def test_a_width_that_the_worlds_do_not_divide_is_refused(tmp_path):
    counters = [Field(field.name, "i8", 3, kind="info") for field in COUNTERS]
    path = write(tmp_path / "odd.reel", META | {"n_envs": 3}, (STATE, *counters))
    refused(path, NotATrajectoryError, "'qpos'", "3 worlds")


@pytest.mark.parametrize("channels", [None, 7, [7], [{"name": "a", "shape": [-1]}], [{"name": "a", "shape": [9, 9]}]])
def test_channels_that_the_head_describes_wrongly_are_flat(tmp_path, channels):
    fields = (STATE, *COUNTERS, Field("channel/a", "f4", 4, kind="channel"))
    path = write(tmp_path / "run.reel", META | {"channels": channels}, fields)
    with sr.Scene.load_trajectory(path) as traj:
        assert traj.channel("a")[:].shape == (3, 4)


def test_a_trajectory_without_frames_opens_and_says_so_when_it_is_asked_for_one(tmp_path):
    path = write(tmp_path / "none.reel", META, frames=0)
    with sr.Scene.load_trajectory(path) as traj:
        assert len(traj) == 0
        assert traj.episodes == []
        for call in (traj.time, traj.frame):
            with pytest.raises(FrameIndexError, match=r"none\.reel .*version 1.*: no frame 0; it has no frame"):
                call(0)


def test_a_frame_out_of_range_names_the_path_the_version_and_the_frames(tmp_path):
    path = write(tmp_path / "run.reel", META)
    with sr.Scene.load_trajectory(path) as traj:
        for i in (3, -4):
            with pytest.raises(FrameIndexError, match=rf"run\.reel .*version 1.*: no frame {i}; its 3 frames are 0 to"):
                traj.frame(i)


def test_a_file_that_was_refused_is_closed(tmp_path):
    path = write(tmp_path / "log.reel", {"kind": "log"})
    refused(path, NotATrajectoryError)
    path.unlink()
    assert not path.exists()
