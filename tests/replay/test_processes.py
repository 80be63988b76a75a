"""The same script in another process opens the file; after a kill there is what was written."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

import simreel as sr
from simreel.errors import GapError
from simreel.reel import Reel

SCRIPT = textwrap.dedent(
    """
    import sys
    import numpy as np
    import simreel as sr

    def make(mass=1.0, dt=None, joint="hinge"):
        scene = sr.Scene(sr.SimOptions(dt=dt))
        scene.add_entity(sr.morphs.MJCF(file=sr.models.path("arm")), name="arm")
        scene.add_entity(sr.morphs.Box(size=(0.1, 0.2, 0.3), mass=mass, pos=(1, 0, 0.5)), name="crate")
        scene.add_camera(name="side", pos=(2, 2, 1))
        scene.build()
        return scene
    """
)


def run(program, *words, check=True, cwd=None):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT + textwrap.dedent(program), *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
    )
    assert done.returncode == 0 or not check, done.stderr
    return done


RECORD = """
    scene = make()
    with scene.recording(sr.recorders.TrajectoryFile(filename=sys.argv[1])):
        rng = np.random.default_rng(0)
        for _ in range(120):
            scene.data.ctrl[:] = rng.uniform(-1, 1, scene.model.nu)
            scene.step()
    print(scene.data.qpos.tobytes().hex())
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    path = tmp_path_factory.mktemp("recorded") / "run.reel"
    return path, run(RECORD, path).stdout.strip()


def test_another_process_gets_the_scene_with_its_names_and_steps_to_the_same_end(recorded):
    path, last = recorded
    with sr.Scene.load_trajectory(path) as traj:
        assert [entity.name for entity in traj.scene.entities] == ["arm", "crate"]
        assert [camera.name for camera in traj.scene.cameras] == ["side"]
        assert traj.scene.camera("side").name == "side"
        traj.seek(40)
        for frame in range(40, 120):
            traj.scene.data.ctrl[:] = traj.frame(frame)["ctrl"]
            traj.scene.step()
        assert traj.scene.data.qpos.tobytes().hex() == last
        assert traj.verify().ok


def test_the_same_script_in_another_process_opens_it(recorded):
    path, last = recorded
    program = """
        with sr.Scene.load_trajectory(sys.argv[1], make()) as traj:
            traj.seek(-1)
            print(traj.scene.data.qpos.tobytes().hex(), traj.verify().ok)
    """
    assert run(program, path).stdout.split() == [last, "True"]


@pytest.mark.parametrize(("change", "named"), [("mass=1.5", "crate"), ("dt=0.001", "dt")])
def test_a_script_that_makes_another_scene_is_told_what_differs(recorded, change, named):
    path, _ = recorded
    program = f"""
        try:
            sr.Scene.load_trajectory(sys.argv[1], make({change}))
        except sr.errors.SceneDiffersError as error:
            print(error)
    """
    text = run(program, path).stdout
    assert "differ" in text
    assert named in text
    assert str(path) in text


def test_the_folder_of_the_models_may_be_gone(tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "arm.xml").write_text(sr.models.path("arm").read_text())
    scene = sr.Scene()
    scene.add_entity(sr.morphs.MJCF(file=tmp_path / "models" / "arm.xml"))
    scene.build()
    with scene.recording(sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel")):
        scene.step(10)
    (tmp_path / "models" / "arm.xml").unlink()
    raw = (tmp_path / "run.reel").read_bytes()
    assert os.fsencode(tmp_path) not in raw
    with sr.Scene.load_trajectory(tmp_path / "run.reel") as traj:
        for name in traj._reel.blobs:
            assert os.fsencode(tmp_path) not in traj._reel.blobs[name]
        traj.seek(5)
        traj.scene.step()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 here")
def test_what_a_killed_run_has_written_is_a_trajectory(tmp_path):
    program = """
        scene = make()
        scene.start_recording(sr.recorders.TrajectoryFile(filename=sys.argv[1]))
        rng = np.random.default_rng(0)
        while True:
            scene.data.ctrl[:] = rng.uniform(-1, 1, scene.model.nu)
            scene.step()
            if scene.step_count == 2000:
                print("far enough", flush=True)
    """
    path = tmp_path / "run.reel"
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT + textwrap.dedent(program), str(path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "far enough\n"
        process.kill()
    with sr.Scene.load_trajectory(path) as traj:
        assert not traj.is_complete
        assert len(traj) > 1000
        assert traj.episodes == [(0, len(traj))]
        traj.seek(-1)
        assert traj.scene.step_count == len(traj) - 1
        assert traj.verify().ok
        traj.scene.step(10)


def test_a_frame_of_a_gap_keeps_its_number_and_raises(made, record):
    path = record(made("arm"), 60, chunk_size=10)
    with Reel.open(path) as reel:
        at = reel._frames.table.offsets[3]
    raw = bytearray(path.read_bytes())
    raw[at + 64] ^= 4
    path.write_bytes(raw)
    with sr.Scene.load_trajectory(path) as traj:
        assert len(traj) == 61
        assert traj.gaps == [(30, 40)]
        assert traj.episodes == [(0, 61)]
        traj.seek(29)
        with pytest.raises(GapError, match="frame 33 is lost"):
            traj.seek(33)
        assert traj.scene.step_count == 29
        traj.seek(40)
        assert traj.scene.step_count == 40
        assert traj.seek_time(0.1) == 50
        with pytest.raises(GapError, match="frame 30 is lost"):
            traj.seek_time(0.06)
