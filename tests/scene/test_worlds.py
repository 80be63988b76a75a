"""Scenes of many worlds."""

from __future__ import annotations

import subprocess
import sys

import mujoco
import numpy as np
import pytest

import simreel as sr
from simreel.errors import FieldError, SceneStateError, UnstableError


def quadrupeds(n_envs: int = 4) -> tuple[sr.Scene, object]:
    scene = sr.Scene()
    robot = scene.add_entity(sr.morphs.MJCF(sr.models.path("quadruped")))
    scene.build(n_envs)
    return scene, robot


def test_getters_and_setters_have_a_leading_axis() -> None:
    scene, robot = quadrupeds(3)
    assert scene.n_envs == 3
    assert robot.get_qpos().shape == (3, 19)
    assert robot.get_qvel().shape == (3, 18)
    assert robot.get_ctrl().shape == (3, 12)
    assert robot.get_pos().shape == (3, 3)
    assert robot.get_quat().shape == (3, 4)
    name = scene.model.sensor(0).name
    assert robot.sensor(name).shape == (3, scene.model.sensor_dim[0])
    robot.set_ctrl(np.full((3, 12), 0.5))
    robot.set_ctrl(np.zeros((1, 12)), envs_idx=[1])
    assert robot.get_ctrl()[:, 0].tolist() == [0.5, 0, 0.5]
    with pytest.raises(FieldError, match=r"shape \(12,\) given, \(3, 12\) needed"):
        robot.set_ctrl(np.zeros(12))
    with pytest.raises(FieldError, match=r"\(2, 12\) needed"):
        robot.set_ctrl(np.zeros((1, 12)), envs_idx=[0, 2])


def test_poses_follow_a_set_state_at_refresh() -> None:
    scene, robot = quadrupeds(2)
    qpos = robot.get_qpos()
    qpos[:, 2] = [1, 2]
    robot.set_qpos(qpos)
    scene.refresh()
    assert robot.get_pos()[:, 2].tolist() == [1, 2]


def test_each_world_has_its_own_steps_and_time() -> None:
    scene, _ = quadrupeds(3)
    scene.step(5)
    scene.reset([1])
    scene.step(2)
    assert scene.step_count.tolist() == [7, 2, 7]
    assert scene.get_time().tolist() == [7 * scene.dt, 2 * scene.dt, 7 * scene.dt]
    scene.reset()
    assert scene.step_count.tolist() == [0, 0, 0]


def test_there_is_no_single_data_with_worlds() -> None:
    scene, _ = quadrupeds(2)
    with pytest.raises(SceneStateError, match=r"scene\.engine\.batch"):
        _ = scene.data
    scene.engine.batch.ctrl = 0.2
    scene.step()
    assert scene.engine.batch.nsim == 2


def test_from_mujoco_starts_every_world_from_its_data() -> None:
    model = mujoco.MjModel.from_xml_path(str(sr.models.path("quadruped")))
    data = mujoco.MjData(model)
    data.qpos[2] = 0.77
    scene = sr.Scene.from_mujoco(model, data)
    scene.build(n_envs=3)
    assert (scene.engine.batch.qpos[:, 2] == 0.77).all()
    scene.step(10)
    scene.reset([0])
    assert scene.engine.batch.qpos[0, 2] == 0.77


@pytest.mark.parametrize("derived", [False, True])
def test_a_world_that_blows_up_is_named_and_all_data_is_whole(tmp_path, derived: bool) -> None:
    scene, robot = quadrupeds(4)
    func = (lambda: {"qvel": robot.get_qvel(), "pos": robot.get_pos()}) if derived else robot.get_qvel
    scene.start_recording(func, sr.recorders.NPZFile(tmp_path / "q.npz"))
    scene.step(10)
    qvel = robot.get_qvel()
    qvel[2, 3] = np.nan
    robot.set_qvel(qvel)
    for _ in range(2):
        with pytest.raises(UnstableError, match=r"step 10 in world 2: .*envs_idx=\[2\]"):
            scene.step()
    scene.reset(envs_idx=[2])
    scene.step(5)
    scene.stop_recording()
    with np.load(tmp_path / "q.npz") as file:
        # The other worlds have taken the step that failed. A state has a row of it; what is derived of one that is no
        # number has none.
        rows = [k for k in range(17) if k != 10 or not derived]
        assert file["step"].tolist() == rows
        qvel = file["qvel" if derived else "data"]
        assert np.argwhere(~np.isfinite(qvel)).tolist() == ([] if derived else [[10, 2, 3]])
        assert file["episode"][-1].tolist() == [0, 0, 1, 0]


def record_worlds(tmp_path, n_envs: int, steps: int, resets: dict[int, list[int]], controls: np.ndarray, hz):
    scene, robot = quadrupeds(n_envs)
    options = sr.recorders.NPZFile(tmp_path / f"run_{n_envs}.npz", hz=hz)
    scene.start_recording(lambda: {"qpos": robot.get_qpos(), "pos": robot.get_pos()}, options)
    for k in range(steps):
        if k in resets:
            scene.reset(resets[k])
        robot.set_ctrl(controls[k])
        scene.step()
    scene.stop_recording()
    with np.load(options.filename) as file:
        return dict(file)


@pytest.mark.parametrize("hz", [None, 100])
def test_a_worlds_record_is_that_of_the_world_run_alone(tmp_path, hz: float | None) -> None:
    compare_with_alone(tmp_path, n_envs=6, steps=120, hz=hz, worlds=range(6))


@pytest.mark.slow
def test_of_64_worlds_over_1000_steps_each_record_is_that_of_the_world_run_alone(tmp_path) -> None:
    compare_with_alone(tmp_path, n_envs=64, steps=1000, hz=None, worlds=range(64))


def compare_with_alone(tmp_path, n_envs: int, steps: int, hz: float | None, worlds: range) -> None:
    rng = np.random.default_rng(3)
    controls = rng.uniform(-1, 1, (steps, n_envs, 12))
    resets = {
        k: sorted(rng.choice(n_envs, rng.integers(1, n_envs), replace=False).tolist())
        for k in range(1, steps)
        if rng.random() < 0.05
    }
    together = record_worlds(tmp_path, n_envs, steps, resets, controls, hz)
    stride = 1 if hz is None else 5
    for world in worlds:
        scene = sr.Scene()
        robot = scene.add_entity(sr.morphs.MJCF(sr.models.path("quadruped")))
        scene.build()
        qpos, pos, since, episodes, time, episode = [], [], 0, [], [], 0
        for k in range(steps + 1):
            if world in resets.get(k, ()):
                scene.reset()
                since, episode = k, episode + 1
            if k < steps:
                robot.set_ctrl(controls[k, world])
            if k % stride == 0:
                scene.refresh()
                qpos.append(robot.get_qpos())
                pos.append(robot.get_pos())
                time.append((k - since) * scene.dt)
                episodes.append(episode)
            if k < steps:
                scene.step()
        np.testing.assert_array_equal(together["qpos"][:, world], qpos)
        np.testing.assert_array_equal(together["pos"][:, world], pos)
        np.testing.assert_array_equal(together["world_time"][:, world], time)
        np.testing.assert_array_equal(together["episode"][:, world], episodes)


def test_csv_has_a_row_for_each_world(tmp_path) -> None:
    scene, robot = quadrupeds(2)
    options = sr.recorders.CSVFile(tmp_path / "q.csv")
    scene.start_recording(lambda: {"z": robot.get_qpos()[:, 2], "id": np.arange(2)}, options)
    scene.step(2)
    scene.reset([1])
    scene.step()
    scene.stop_recording()
    lines = (tmp_path / "q.csv").read_text().splitlines()
    assert lines[0] == "timestamp,z,id,episode,world_time,world"
    rows = [line.split(",") for line in lines[1:]]
    assert [(r[0], r[2], r[3], r[4], r[5]) for r in rows] == [
        ("0.0", "0", "0", "0.0", "0"),
        ("0.0", "1", "0", "0.0", "1"),
        ("0.002", "0", "0", "0.002", "0"),
        ("0.002", "1", "0", "0.002", "1"),
        ("0.004", "0", "0", "0.004", "0"),
        ("0.004", "1", "1", "0.0", "1"),
        ("0.006", "0", "0", "0.006", "0"),
        ("0.006", "1", "1", "0.002", "1"),
    ]


def test_a_callback_that_was_set_before_simreel_does_not_keep_the_scene_from_being_imported() -> None:
    program = """
import mujoco
def control(model, data):
    data.ctrl[0] = 0.1
mujoco.set_mjcb_control(control)
import simreel as sr
path = str(sr.models.path("cartpole"))
mujoco.set_mjcb_control(None)
model = mujoco.MjModel.from_xml_path(path)
mujoco.set_mjcb_control(control)
scene = sr.Scene.from_mujoco(model)
scene.build()
scene.step(3)
print(scene.data.ctrl[0])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("0.1", "")


def test_setters_take_the_rows_in_the_order_of_the_worlds() -> None:
    scene, robot = quadrupeds(4)
    rows = np.stack([np.full(12, 2.0), np.full(12, 0.5)])
    robot.set_ctrl(rows, envs_idx=[2, 0])
    assert robot.get_ctrl()[:, 0].tolist() == [0.5, 0, 2, 0]
    robot.set_ctrl(np.full(12, 3.0), envs_idx=1)
    robot.set_ctrl(np.full((1, 12), 4.0), envs_idx=np.int64(3))
    assert robot.get_ctrl()[:, 0].tolist() == [0.5, 3, 2, 4]
    with pytest.raises(FieldError, match=r"set_ctrl: envs_idx.*each world may be named once"):
        robot.set_ctrl(rows, envs_idx=[1, 1])
    scene.destroy()


def test_the_number_of_worlds_may_be_a_numpy_integer(tmp_path) -> None:
    scene = sr.Scene()
    scene.add_entity(sr.morphs.MJCF(sr.models.path("cartpole")))
    scene.start_recording(sr.recorders.TrajectoryFile(tmp_path / "a.reel"))
    scene.build(np.uint8(2))
    scene.step(3)
    scene.stop_recording()
    assert sr.Scene.load_trajectory(tmp_path / "a.reel").n_envs == 2


def test_an_error_names_the_worlds_that_are_still_unstable_and_a_refused_step_does_not_count() -> None:
    scene, robot = quadrupeds(4)
    qvel = robot.get_qvel()
    qvel[[1, 2], 3] = np.nan
    robot.set_qvel(qvel)
    with pytest.raises(UnstableError, match="in worlds 1, 2"):
        scene.step()
    scene.reset([1])
    with pytest.raises(UnstableError, match=r"in world 2: .*envs_idx=\[2\]") as caught:
        scene.step()
    assert caught.value.worlds == (2,)
    with pytest.raises(UnstableError, match="in world 2"):
        scene.sample()
    assert scene.step_count.tolist() == [1, 0, 1, 1]
    # Somebody else has put its state right.
    scene.engine.batch.reset([2])
    scene.mark_reset([2])
    scene.step()
    assert scene.step_count.tolist() == [2, 1, 1, 2]
    scene.destroy()


def test_a_reset_of_all_worlds_ends_no_episode_that_has_no_step(tmp_path) -> None:
    scene, robot = quadrupeds(2)
    scene.start_recording(robot.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz"))
    scene.step(2)
    scene.reset([0])
    scene.reset()
    scene.reset()
    scene.step()
    scene.stop_recording()
    with np.load(tmp_path / "q.npz") as file:
        assert file["episode"][-1].tolist() == [1, 1]
