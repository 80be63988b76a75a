"""Callbacks in Python that somebody has set, and what simreel compiles for itself."""

from __future__ import annotations

import mujoco
import pytest

import simreel as sr
from simreel.errors import SceneStateError
from simreel.scene.engines.callbacks import empty_model, has_callbacks, without_callbacks


@pytest.fixture
def control():
    """A callback that fits a model with a control, and no other."""

    def callback(model: mujoco.MjModel, data: mujoco.MjData) -> None:
        data.ctrl[0] = 0.5

    path = str(sr.models.path("cartpole"))
    model = mujoco.MjModel.from_xml_path(path)
    mujoco.set_mjcb_control(callback)
    yield model
    mujoco.set_mjcb_control(None)


def test_they_are_lifted_and_put_back(control) -> None:
    held = mujoco.get_mjcb_control()
    with without_callbacks():
        assert not has_callbacks()
    assert has_callbacks()
    assert mujoco.get_mjcb_control() is held
    with pytest.raises(ZeroDivisionError), without_callbacks():
        raise ZeroDivisionError
    assert mujoco.get_mjcb_control() is held
    assert empty_model().nu == 0


def test_a_run_with_a_callback_is_recorded_saved_and_run_again(tmp_path, control) -> None:
    scene = sr.Scene.from_mujoco(control)
    scene.start_recording(sr.recorders.TrajectoryFile(tmp_path / "run.reel"))
    scene.build()
    scene.step(20)
    scene.stop_recording()
    scene.save_checkpoint(tmp_path / "point.reel")
    scene.export(tmp_path / "scene.reel")
    assert sr.Scene.load_trajectory(tmp_path / "run.reel").verify().ok
    assert sr.Scene.load_checkpoint(tmp_path / "point.reel").step_count == 20
    sr.Scene.load(tmp_path / "scene.reel").build()


def test_worlds_say_that_no_callback_can_take_part(control) -> None:
    scene = sr.Scene.from_mujoco(control)
    with pytest.raises(SceneStateError, match="n_envs=0"):
        scene.build(n_envs=2)
