"""Somebody else steps: `scene.sample` and `scene.mark_reset`."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import simreel as sr
from simreel.errors import FieldError, RecorderError, SceneStateError, UnstableError


def quadruped() -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_path(str(sr.models.path("quadruped")))
    return model, mujoco.MjData(model)


@pytest.mark.parametrize("hz", [None, 62.5])
@pytest.mark.parametrize("substeps", [1, 4])
def test_a_plain_mujoco_loop_gives_the_same_file_as_scene_step(tmp_path, substeps: int, hz: float | None) -> None:
    files = []
    for name in ("scene.npz", "loop.npz"):
        model, data = quadruped()
        scene = sr.Scene.from_mujoco(model, data, substeps=substeps)
        scene.start_recording(
            lambda data=data: {"qpos": data.qpos, "xpos": data.xpos, "sensors": data.sensordata, "ctrl": data.ctrl},
            sr.recorders.NPZFile(tmp_path / name, hz=hz),
        )
        scene.build()
        for episode in range(2):
            for k in range(100):
                data.ctrl[:] = np.sin(k / 9 + episode)
                if name == "scene.npz":
                    scene.step()
                else:
                    scene.sample()
                    mujoco.mj_step(model, data, substeps)
            if episode == 0 and name == "scene.npz":
                scene.reset()
            elif episode == 0:
                scene.mark_reset()
                mujoco.mj_resetData(model, data)
        scene.stop_recording()
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1]


def test_sampling_leaves_the_run_as_it_is(tmp_path) -> None:
    states = []
    for recorded in (False, True):
        model, data = quadruped()
        scene = sr.Scene.from_mujoco(model, data)
        if recorded:
            scene.start_recording(lambda data=data: data.xpos, sr.recorders.NPZFile(tmp_path / "run.npz", hz=100))
        scene.build()
        for k in range(200):
            data.ctrl[:] = np.sin(k / 9)
            scene.sample()
            mujoco.mj_step(model, data)
        scene.stop_recording()
        states.append(data.qpos.tobytes() + data.qvel.tobytes() + data.qacc_warmstart.tobytes())
    assert states[0] == states[1]


def test_a_recorder_that_fails_is_told_and_the_step_counts(tmp_path) -> None:
    model, data = quadruped()
    scene = sr.Scene.from_mujoco(model, data)
    scene.build()
    scene.start_recording(lambda: 1 / 0, sr.recorders.NPZFile(tmp_path / "bad.npz"))
    scene.start_recording(lambda: data.qpos, sr.recorders.NPZFile(tmp_path / "good.npz"))
    with pytest.raises(RecorderError, match=r"bad\.npz"):
        scene.sample()
    assert scene.step_count == 1
    scene.sample()
    scene.stop_recording()
    with np.load(tmp_path / "good.npz") as file:
        assert file["step"].tolist() == [0, 1, 2]


def test_the_end_of_some_worlds_takes_no_sample(tmp_path) -> None:
    values = np.arange(3.0)
    engine = sr.scene.FunctionEngine(lambda: None, dt=1.0)
    scene = sr.Scene(engine=engine)
    scene.start_recording(lambda: values, sr.recorders.NPZFile(tmp_path / "run.npz"))
    scene.build(n_envs=3)
    scene.sample()
    scene.sample()
    scene.mark_reset([True, False, False])
    scene.sample()
    scene.mark_reset()
    scene.sample()
    scene.stop_recording()
    with np.load(tmp_path / "run.npz") as file:
        assert file["step"].tolist() == [0, 1, 2, 3, 0, 1]
        assert file["episode"].tolist() == [[0, 0, 0], [0, 0, 0], [1, 0, 0], [1, 0, 0], [2, 1, 1], [2, 1, 1]]
        assert file["world_time"].tolist() == [[0, 0, 0], [1, 1, 1], [0, 2, 2], [1, 3, 3], [0, 0, 0], [1, 1, 1]]


def test_what_needs_a_built_scene_says_so() -> None:
    scene = sr.Scene.from_mujoco(*quadruped())
    for call in (scene.sample, scene.mark_reset):
        with pytest.raises(SceneStateError, match=r"call scene\.build\(\) first"):
            call()
    scene.build()
    with pytest.raises(FieldError, match=r"scene\.mark_reset: envs_idx"):
        scene.mark_reset([0])


def test_a_marked_reset_lets_a_scene_go_on_that_was_unstable() -> None:
    model, data = quadruped()
    scene = sr.Scene.from_mujoco(model, data)
    scene.build()
    data.qvel[3] = np.nan
    with pytest.raises(UnstableError):
        scene.step()
    mujoco.mj_resetData(model, data)
    scene.mark_reset()
    scene.step(2)
    assert scene.step_count == 2


@pytest.mark.parametrize(
    "call", [sr.Scene.step, sr.Scene.sample, sr.Scene.reset, sr.Scene.mark_reset, lambda scene: scene.step(5)]
)
@pytest.mark.parametrize("others", [0, 1])
def test_a_data_function_may_not_step_or_reset_the_scene_that_samples_it(tmp_path, call, others: int) -> None:
    model, data = quadruped()
    scene = sr.Scene.from_mujoco(model, data)

    def meddles() -> np.ndarray:
        if scene.step_count == 3:
            call(scene)
        return data.qpos

    for index in range(others):
        scene.start_recording(lambda: data.time, sr.recorders.NPZFile(tmp_path / f"{index}.npz"))
    scene.start_recording(meddles, sr.recorders.NPZFile(tmp_path / "a.npz"))
    scene.build()
    scene.step(3)
    with pytest.raises(SceneStateError, match="a data function called it"):
        scene.step()
    scene.step()
    scene.stop_recording()
    assert scene.step_count == 5
    assert data.time == pytest.approx(5 * scene.dt)
    with np.load(tmp_path / "a.npz") as file:
        assert file["step"].tolist() == [0, 1, 2]
