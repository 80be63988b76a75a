"""When samples are taken, and what they hold."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

import simreel as sr


def test_a_thousand_steps_at_half_their_rate_give_501_rows(tmp_path: Path, arm_scene) -> None:
    scene, arm = arm_scene(dt=0.01)
    scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz", hz=50))
    scene.build()
    scene.step(1000)
    scene.stop_recording()
    with np.load(tmp_path / "q.npz") as file:
        assert file["timestamp"].tolist() == [k * 0.01 for k in range(0, 1001, 2)]
        assert file["data"].shape == (501, 7)


def test_seven_steps_at_half_their_rate_give_four_rows(tmp_path: Path, arm_scene, steps_in) -> None:
    scene, arm = arm_scene(dt=0.01)
    scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz", hz=50))
    scene.build()
    scene.step(7)
    scene.stop_recording()
    assert steps_in(tmp_path / "q.npz") == [0, 2, 4, 6]


def test_a_rate_that_does_not_divide_the_steps_warns_once_with_the_rate_that_results(
    tmp_path: Path, arm_scene, steps_in
) -> None:
    scene, arm = arm_scene(dt=0.01)
    with pytest.warns(sr.SimreelWarning, match=r"hz=30 .* 33\.3333 Hz") as caught:
        scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz", hz=30))
    assert len(caught) == 1
    scene.build()
    scene.step(9)
    scene.stop_recording()
    assert steps_in(tmp_path / "q.npz") == [0, 3, 6, 9]


def test_the_warning_of_a_rate_points_to_the_line_of_the_user(tmp_path: Path, arm_scene) -> None:
    scene, arm = arm_scene(dt=0.01)
    with pytest.warns(sr.SimreelWarning) as caught:
        scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz", hz=30))
    assert caught[0].filename == __file__


def test_a_sample_holds_the_state_that_its_step_starts_from_and_the_inputs_it_consumes(
    tmp_path: Path, arm_scene
) -> None:
    scene, arm = arm_scene()
    scene.start_recording(
        lambda: {"qpos": arm.get_qpos(), "ctrl": arm.get_ctrl()}, sr.recorders.NPZFile(tmp_path / "run.npz")
    )
    scene.build()
    states, controls = [], []
    for k in range(20):
        arm.set_ctrl(np.full(7, k / 10))
        states.append(arm.get_qpos())
        controls.append(arm.get_ctrl())
        scene.step()
    states.append(arm.get_qpos())
    controls.append(arm.get_ctrl())
    scene.stop_recording()
    with np.load(tmp_path / "run.npz") as file:
        np.testing.assert_array_equal(file["qpos"], states)
        np.testing.assert_array_equal(file["ctrl"], controls)


def test_poses_in_a_sample_are_those_of_its_qpos(tmp_path: Path, arm_scene) -> None:
    scene, arm = arm_scene()
    scene.build()
    scene.start_recording(
        lambda: {"qpos": arm.get_qpos(), "xpos": scene.data.xpos}, sr.recorders.NPZFile(tmp_path / "run.npz", hz=100)
    )
    for k in range(33):
        arm.set_ctrl(np.sin(k + np.arange(7)))
        scene.step()
    scene.step(7)
    scene.stop_recording()
    data = mujoco.MjData(scene.model)
    with np.load(tmp_path / "run.npz") as file:
        assert file["step"].tolist() == list(range(0, 41, 5))
        for qpos, xpos in zip(file["qpos"], file["xpos"], strict=True):
            data.qpos[:] = qpos
            mujoco.mj_forward(scene.model, data)
            np.testing.assert_array_equal(xpos, data.xpos)


def test_recording_changes_no_bit_of_the_run(tmp_path: Path) -> None:
    runs = []
    for record in (False, True):
        scene = sr.Scene()
        quadruped = scene.add_entity(sr.morphs.MJCF(sr.models.path("quadruped")))
        if record:
            scene.start_recording(quadruped.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz", hz=100))
        scene.build()
        for k in range(300):
            quadruped.set_ctrl(np.sin(k / 20 + np.arange(12)))
            scene.step()
        scene.stop_recording()
        runs.append(scene.data.qpos.tobytes() + scene.data.qvel.tobytes())
    assert runs[0] == runs[1]


def test_times_are_steps_times_dt(tmp_path: Path, arm_scene) -> None:
    scene, _ = arm_scene(dt=0.1)
    scene.build()
    scene.step(3)
    assert (scene.step_count, scene.get_time()) == (3, 3 * 0.1)
