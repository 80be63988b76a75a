"""A disk that is really full: a file system of 2 MiB, which only the process that records there sees."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
from reading import load, names, same_bits

from simreel.recorders import recover
from simreel.reel import Reel

# Records the same run on the small disk and on the other one, and tells how it went.
RUN = """
import json, shutil, sys, warnings
from pathlib import Path

import numpy as np
import simreel as sr
from simreel.recorders import CSVFile, NPZFile, TrajectoryFile, VideoFile
from simreel.testing import FakeEngine

def noise(step, *shape):
    return np.random.default_rng(step).random(shape)

def image():
    return (255 * noise(scene.step_count, 120, 160, 3)).astype(np.uint8)

small, kept, large, kind = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
scene = sr.Scene(engine=FakeEngine(state=lambda step, world: noise(step, 100)))
def start(folder):
    if kind == "reel":
        return scene.start_recording(TrajectoryFile(folder / "run.reel", chunk_size=16))
    if kind == "mp4":
        return scene.start_recording(image, VideoFile(folder / "run.mp4", bitrate=40))
    # Small blocks, so that the disk is nearly full when one does not fit, and an archive has no room beside its rows.
    return scene.start_recording(lambda: noise(scene.step_count, 100), (CSVFile if kind == "csv" else NPZFile)(
        folder / f"run.{kind}", buffer_bytes=2**19))

recorder, other = start(small), start(large)
scene.build()
told = []
for i in range(6000):
    try:
        scene.step()
        if kind == "mp4":
            recorder.sync()
    except sr.errors.SimreelError as error:
        told.append("\\n".join([str(error), *getattr(error, "__notes__", [])]))
        break
# The run goes on, and so does the other recording.
scene.step(5)
try:
    scene.stop_recording()
except sr.errors.SimreelError as error:
    told.append(str(error))
status = recorder.status
for path in small.iterdir():
    shutil.copy(path, kept / path.name)
print(json.dumps({
    "told": told, "type": type(recorder).__name__, "steps": scene.step_count, "received": status.received,
    "written": status.written, "dropped": status.dropped, "error": status.error, "other": other.status.written,
}))
"""
MOUNT = 'mount -t tmpfs -o size=2m none "$0" && exec "$@"'


@pytest.fixture(scope="module")
def in_namespace(tmp_path_factory) -> list[str]:
    """The command that runs another where it may mount."""
    if shutil.which("unshare") is None or shutil.which("mount") is None:
        pytest.skip("there is no unshare and mount here")
    folder, reasons = tmp_path_factory.mktemp("mount"), []
    for command in (["unshare", "--user", "--map-root-user", "--mount"], ["unshare", "--mount"]):
        done = subprocess.run(
            [*command, "sh", "-c", MOUNT, folder, "true"], capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            return command
        reasons.append(done.stderr.strip())
    pytest.skip(f"this system lets nobody mount a small disk: {'; '.join(reasons)}")


@pytest.fixture
def fill(tmp_path, in_namespace):
    """Records until the disk is full; gives what was told, what was left there, and the recording without a limit."""

    def run(kind):
        folders = [tmp_path / name for name in ("small", "kept", "large")]
        for folder in folders:
            folder.mkdir()
        script = [sys.executable, "-W", "error", "-c", RUN, *folders, kind]
        done = subprocess.run(
            [*in_namespace, "sh", "-c", MOUNT, folders[0], *script],
            capture_output=True,
            text=True,
            check=False,
            timeout=50,
        )
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert len(told["told"]) == 1, told
        assert f"run.{kind}" in told["told"][0]
        assert "No space left on device" in told["told"][0]
        assert told["told"][0].splitlines()[0] in told["error"]
        assert told["received"] == told["written"] + told["dropped"]
        assert told["other"] == told["steps"] + 1
        assert names(folders[0]) == []
        return told, folders[1] / f"run.{kind}", folders[2] / f"run.{kind}"

    return run


def test_a_trajectory_keeps_all_that_fitted_and_says_how_much(fill):
    told, kept, whole = fill("reel")
    written = told["written"]
    assert f"the first {written} frames are kept" in told["told"][0]
    # A chunk of 16 frames is what did not fit.
    assert 2**21 - 16 * 1024 < kept.stat().st_size <= 2**21
    with Reel.open(kept) as reel, Reel.open(whole) as free:
        assert (len(reel), reel.is_complete, reel.gaps) == (written, False, [])
        assert free.is_complete
        for field in reel.layout.fields:
            assert same_bits(reel.field(field.name)[:], free.field(field.name)[:written])


@pytest.mark.leaves_spools
def test_an_archive_is_made_of_its_rows_where_there_is_room(fill):
    told, kept, whole = fill("npz")
    assert "the rows are kept in" in told["told"][0]
    assert [name.rsplit(".", 1)[-1] for name in names(kept.parent)] == ["spool"]
    report = recover(kept)
    assert (report.kept, report.lost) == (told["written"], 0)
    assert report.kept * 808 > 2**21 - 300 * 808
    assert same_bits(load(kept)["data"], load(whole)["data"][: report.kept])


def test_a_table_keeps_whole_rows(fill):
    told, kept, whole = fill("csv")
    lines = kept.read_bytes().splitlines(keepends=True)
    assert len(lines) == told["written"] + 1
    assert lines == whole.read_bytes().splitlines(keepends=True)[: len(lines)]


def test_a_video_is_whole_again_where_there_is_room(fill):
    told, kept, whole = fill("mp4")
    report = recover(kept)
    made, free = frames_of(kept), frames_of(whole)
    # What the codec holds back is not on the disk yet.
    assert told["written"] >= len(made) == report.kept > 5
    assert all(map(np.array_equal, made, free))


def frames_of(path):
    import av

    with av.open(path) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
