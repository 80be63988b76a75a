"""What becomes of the frames of a camera that nobody saves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import tempfile, sys
tempfile.tempdir = {folder!r}
import simreel as sr
scene = sr.Scene()
scene.add_entity(sr.morphs.MJCF(sr.models.path("cartpole")))
camera = scene.add_camera("side", res=(32, 32))
scene.build()
camera.start_recording()
for _ in range({frames}):
    camera.render()
    scene.step()
{ending}
"""


def run(folder: Path, ending: str, frames: int = 5) -> subprocess.CompletedProcess[str]:
    program = PROGRAM.format(folder=str(folder), ending=ending, frames=frames)
    environment = {"SIMREEL_RENDERER": "schematic", "PATH": ""}
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environment, timeout=50
    )


def test_a_clean_exit_removes_them(tmp_path: Path) -> None:
    done = run(tmp_path, "")
    assert (done.returncode, done.stderr) == (0, "")
    assert list(tmp_path.iterdir()) == []


ENDINGS = pytest.mark.parametrize(
    "ending",
    ["raise ValueError('broken')", "del camera, scene\nimport gc; gc.collect()"],
    ids=["exception", "collected"],
)


@ENDINGS
def test_without_a_frame_nothing_is_left(tmp_path: Path, ending: str) -> None:
    assert "kept" not in run(tmp_path, ending, frames=0).stderr
    assert list(tmp_path.iterdir()) == []


@ENDINGS
def test_after_any_other_end_they_are_kept_and_named(tmp_path: Path, ending: str) -> None:
    av = pytest.importorskip("av")
    done = run(tmp_path, ending)
    (kept,) = tmp_path.glob("*/camera.mp4")
    assert str(kept) in done.stderr
    with av.open(str(kept)) as container:
        assert sum(1 for _ in container.decode(video=0)) == 5
