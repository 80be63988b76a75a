import importlib.util
import os
import subprocess
import sys

import av
import numpy as np
import pytest

from simreel.cli import gaits
from simreel.cli.commands import demo as _  # noqa: F401 - loads the module that is changed below


@pytest.fixture(autouse=True)
def schematic(monkeypatch):
    monkeypatch.setenv("SIMREEL_RENDERER", "schematic")
    monkeypatch.setattr("simreel.render.backend._chosen", None)
    monkeypatch.setattr(sys.modules["simreel.cli.commands.demo"], "_FILMED", 0.5)


def check(ended, folder):
    assert ended.status == 0
    assert "walked" in ended.out[0]
    with np.load(folder / "motion.npz") as run:
        rows = len(run["timestamp"])
        assert run["timestamp"][-1] == pytest.approx(10)
        assert run["com"].shape == (rows, 3)
        assert np.isfinite(run["com"]).all()
        assert run["ctrl"].any()
        # Upright and somewhere else: the gait was found for this model.
        assert np.hypot(*run["qpos"][-1, :2]) > 1
        assert run["qpos"][:, 2].min() > 0.15
    table = np.genfromtxt(folder / "path.csv", delimiter=",", names=True)
    assert table.dtype.names == ("timestamp", "x", "y", "height", "speed", "episode")
    assert np.diff(table["timestamp"]) == pytest.approx(0.02)
    assert f"  {folder / 'motion.npz'}  {rows} rows" in ended.out[1]
    assert f"  {folder / 'demo.mp4'}  " in ended.out[3]
    with av.open(str(folder / "demo.mp4")) as film:
        assert (film.streams.video[0].width, film.streams.video[0].height) == (640, 480)
        assert sum(1 for _ in film.decode(video=0)) in {15, 17}
    assert f"  {folder / 'demo.reel'}  " in ended.out[4]
    assert "steps/s without recording" in ended.out[5]
    assert ended.out[6].startswith(f"{folder / 'demo.reel'}, run again: the same to the bit in ")


def test_the_demo_writes_a_robot_that_walks_and_tells_the_cost(call, tmp_path):
    check(call("demo", "--out", tmp_path / "new" / "folder"), tmp_path / "new" / "folder")


def test_without_gymnasium_the_own_quadruped_walks(call, tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    ended = call("demo", "--out", tmp_path)
    check(ended, tmp_path)
    assert "quadruped" in ended.out[0]


def test_with_gymnasium_its_ant_walks():
    pytest.importorskip("gymnasium")
    assert gaits.walker().file.name == "ant.xml"


def test_a_second_demo_replaces_the_first_in_a_folder_of_its_own(call, here):
    assert call("demo").status == 0
    assert call("demo").status == 0
    assert [path.name for path in here.iterdir()] == ["simreel-demo"]
    assert sorted(path.name for path in (here / "simreel-demo").iterdir()) == [
        "demo.mp4",
        "demo.reel",
        "motion.npz",
        "path.csv",
    ]


@pytest.mark.slow
def test_where_no_gl_can_be_loaded_the_film_is_schematic_and_only_one_line_more_is_told(tmp_path, hidden):
    environment = {name: value for name, value in os.environ.items() if name not in {"SIMREEL_RENDERER", "MUJOCO_GL"}}
    environment["LD_LIBRARY_PATH"] = hidden("EGL", "OSMesa", "GL", "GLX", "OpenGL")
    command = [sys.executable, "-m", "simreel", "demo", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    lines = done.stderr.splitlines()
    (told,) = (line for line in lines if "samples, 0 dropped" not in line)
    assert told.startswith("pictures come from the schematic renderer")
    assert len(lines) == 5
    with av.open(str(tmp_path / "demo.mp4")) as film:
        pictures = [frame.to_ndarray(format="gray") for frame in film.decode(video=0)]
    assert len(pictures) > 150
    # Something is seen, and it moves.
    assert pictures[0].std() > 10
    assert np.abs(np.subtract(pictures[0], pictures[-1], dtype=float)).max() > 50


def test_the_shown_lines_of_python_run(call, here):
    ended = call("demo", "--out", "it's here")
    namespace = {}
    for line in ended.out[-3:]:
        exec(line.strip(), namespace)
    assert namespace["run"]["qpos"].ndim == 2
    assert namespace["replay"].scene.step_count == 40


def test_a_folder_that_cannot_be_made_is_one_line(call, here):
    (here / "file").write_text("")
    ended = call("demo", "--out", "file")
    assert (ended.status, ended.out) == (1, [])
    (line,) = ended.err
    assert line.startswith("error: file/motion.npz: ")
