"""Building, stepping and naming."""

from __future__ import annotations

import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest

import simreel as sr
from simreel.errors import (
    OptionsError,
    SceneStateError,
)


@pytest.mark.parametrize(
    ("options", "dt", "timestep"),
    [
        ({}, 0.002, 0.002),
        ({"dt": 0.01}, 0.01, 0.01),
        ({"dt": 0.01, "substeps": 5}, 0.01, 0.002),
        ({"substeps": 5}, 0.01, 0.002),
    ],
)
def test_dt_is_that_of_a_step_and_substeps_divide_it(
    options: dict[str, float], dt: float, timestep: float, arm_scene
) -> None:
    scene, _ = arm_scene(**options)
    assert scene.dt == pytest.approx(dt, rel=1e-15)
    scene.build()
    assert scene.dt == pytest.approx(dt, rel=1e-15)
    assert scene.model.opt.timestep == pytest.approx(timestep, rel=1e-15)


def test_from_mujoco_takes_data_as_it_is_and_reset_returns_to_it(tmp_path: Path) -> None:
    model = mujoco.MjModel.from_xml_path(str(sr.models.path("quadruped")))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    data.qpos[2] += 0.1
    given = data.qpos.copy()
    scene = sr.Scene.from_mujoco(model, data, substeps=4)
    assert scene.model is model
    assert scene.data is data
    assert scene.dt == 4 * model.opt.timestep
    scene.build()
    np.testing.assert_array_equal(data.qpos, given)
    scene.step(10)
    assert not np.array_equal(data.qpos, given)
    scene.reset()
    np.testing.assert_array_equal(data.qpos, given)
    assert scene.step_count == 0
    assert scene.entities == ()


def test_from_mujoco_makes_data_where_none_is_given() -> None:
    scene = sr.Scene.from_mujoco(mujoco.MjModel.from_xml_path(str(sr.models.path("arm"))))
    scene.build()
    scene.step()
    assert scene.data.time == scene.dt


@pytest.mark.parametrize("arguments", [("arm.xml",), (None, "data")])
def test_from_mujoco_names_what_is_no_model_or_data(arguments: tuple[object, ...]) -> None:
    if arguments[0] is None:
        arguments = (mujoco.MjModel.from_xml_string("<mujoco/>"), *arguments[1:])
    with pytest.raises(OptionsError, match=r"mujoco\.Mj(Model|Data) is needed"):
        sr.Scene.from_mujoco(*arguments)


@pytest.mark.parametrize(
    "call",
    [
        lambda scene: scene.step(),
        lambda scene: scene.step(3),
        lambda scene: scene.reset(),
        lambda scene: scene.refresh(),
        lambda scene: scene.model,
        lambda scene: scene.data,
        lambda scene: scene.engine,
        lambda scene: scene.entities[0].get_qpos(),
        lambda scene: scene.entities[0].set_ctrl([0]),
        lambda scene: scene.entities[0].joint_names,
    ],
)
def test_what_needs_a_built_scene_says_so(call: object, arm_scene) -> None:
    scene, _ = arm_scene()
    with pytest.raises(SceneStateError, match=r"call scene\.build\(\) first"):
        call(scene)


def test_what_comes_after_destroy_says_so(tmp_path: Path, arm_scene) -> None:
    scene, arm = arm_scene()
    scene.build()
    scene.destroy()
    scene.destroy()
    assert not scene.is_built
    for call in (
        scene.step,
        scene.reset,
        scene.build,
        lambda: scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz")),
    ):
        with pytest.raises(SceneStateError, match="destroyed"):
            call()


def test_building_twice_and_adding_too_late_are_errors(arm_scene) -> None:
    scene, _ = arm_scene()
    scene.build()
    with pytest.raises(SceneStateError, match="built already"):
        scene.build()
    with pytest.raises(SceneStateError, match="before build"):
        scene.add_entity(sr.morphs.Box((1, 1, 1)))


@pytest.mark.parametrize("n", [-1, 1.5, "3", None])
def test_a_wrong_number_of_steps_is_named(n: object, arm_scene) -> None:
    scene, _ = arm_scene()
    scene.build()
    with pytest.raises(OptionsError, match=r"step: n = "):
        scene.step(n)


def test_numpy_counts_of_steps_are_taken_and_zero_steps_do_nothing(arm_scene) -> None:
    scene, _ = arm_scene()
    scene.build()
    scene.step(np.int64(3))
    scene.step(0)
    assert scene.step_count == 3


def test_names_of_entities_are_given_or_made_and_are_unique() -> None:
    scene = sr.Scene()
    names = [
        scene.add_entity(sr.morphs.Box((1, 1, 1))).name,
        scene.add_entity(sr.morphs.Box((1, 1, 1))).name,
        scene.add_entity(sr.morphs.Box((1, 1, 1), name="crate")).name,
        scene.add_entity(sr.morphs.Box((1, 1, 1), name="crate"), name="other").name,
    ]
    assert names == ["box", "box_2", "crate", "other"]
    assert [entity.name for entity in scene.entities] == names
    with pytest.raises(OptionsError, match="'crate'"):
        scene.add_entity(sr.morphs.Sphere(0.1), name="crate")


def test_what_is_no_morph_is_refused() -> None:
    with pytest.raises(OptionsError, match=r"one of simreel\.morphs"):
        sr.Scene().add_entity("arm.xml")


def test_progress_is_told_at_most_twice_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arm_scene) -> None:
    now = 0.0
    monkeypatch.setattr("simreel.scene.progress.time.monotonic", lambda: now)
    scene, arm = arm_scene()
    scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz"))
    scene.build()
    told = []
    scene.on_progress(told.append)
    for _ in range(20):
        now += 0.11
        scene.step()
    scene.stop_recording()
    assert [progress.step for progress in told] == [5, 10, 15, 20]
    assert told[0].time == 5 * scene.dt
    ((name, status),) = told[-1].statuses
    assert (name, status.received) == ("NPZFile q.npz", 20)


def test_no_warning_comes_from_a_plain_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with sr.Scene() as scene:
            scene.add_entity(sr.morphs.Plane())
            quadruped = scene.add_entity(sr.morphs.MJCF(sr.models.path("quadruped"), prefix=""))
            scene.start_recording(quadruped.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz"))
            scene.build()
            scene.step(10)
    assert capfd.readouterr() == ("", "")
