"""What a reset does to recordings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import simreel as sr
from simreel.errors import (
    UnstableError,
)


def test_episodes_are_numbered_and_the_clock_starts_anew(tmp_path: Path, arm_scene) -> None:
    scene, arm = arm_scene()
    scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz"))
    scene.build()
    scene.reset()
    scene.step(3)
    scene.reset()
    scene.reset()
    scene.step(2)
    scene.stop_recording()
    with np.load(tmp_path / "q.npz") as file:
        assert file["step"].tolist() == [0, 1, 2, 3, 0, 1, 2]
        assert file["episode"].tolist() == [0, 0, 0, 0, 1, 1, 1]


def test_a_stop_right_after_a_reset_takes_nothing(tmp_path: Path, arm_scene, steps_in) -> None:
    scene, arm = arm_scene()
    scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz"))
    scene.build()
    scene.step(2)
    scene.reset()
    scene.stop_recording()
    assert steps_in(tmp_path / "q.npz") == [0, 1, 2]


def test_a_stop_before_any_step_takes_step_0(tmp_path: Path, arm_scene, steps_in) -> None:
    scene, arm = arm_scene()
    scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz"))
    scene.build()
    scene.stop_recording()
    assert steps_in(tmp_path / "q.npz") == [0]


def test_a_file_for_each_episode(tmp_path: Path, arm_scene, steps_in) -> None:
    scene, arm = arm_scene()
    scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz", save_on_reset=True))
    scene.start_recording(arm.get_qpos, sr.recorders.CSVFile(tmp_path / "q.csv", save_on_reset=True))
    scene.build()
    for n in (3, 1):
        scene.step(n)
        scene.reset()
        scene.reset()
    scene.stop_recording()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "q_0000.csv",
        "q_0000.npz",
        "q_0001.csv",
        "q_0001.npz",
    ]
    assert steps_in(tmp_path / "q_0000.npz") == [0, 1, 2, 3]
    assert steps_in(tmp_path / "q_0001.npz") == [0, 1]
    assert len((tmp_path / "q_0001.csv").read_text().splitlines()) == 3


def test_a_run_that_blows_up_keeps_its_good_samples_and_goes_on_after_a_reset(tmp_path: Path, arm_scene) -> None:
    scene, arm = arm_scene()
    recorder = scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz"))
    scene.build()
    scene.step(5)
    arm.set_qpos(np.full(7, np.nan))
    for _ in range(2):
        with pytest.raises(UnstableError, match="step 5") as caught:
            scene.step()
        assert caught.value.step == 5
    assert recorder.is_alive
    scene.reset()
    scene.step(2)
    scene.stop_recording()
    with np.load(tmp_path / "q.npz") as file:
        assert file["step"].tolist() == [0, 1, 2, 3, 4, 0, 1, 2]
        assert np.isfinite(file["data"]).all()
