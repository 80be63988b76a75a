"""The engine of unit tests."""

from __future__ import annotations

import numpy as np
import pytest

import simreel as sr
from simreel.errors import FieldError, UnstableError
from simreel.testing import FakeEngine


def recorded(tmp_path, engine, drive, n_envs=0):
    scene = sr.Scene(engine=engine)
    scene.start_recording(lambda: engine.state, sr.recorders.NPZFile(tmp_path / "run.npz"))
    scene.build(n_envs)
    drive(scene)
    scene.stop_recording()
    with np.load(tmp_path / "run.npz") as file:
        return dict(file)


def test_it_is_an_engine():
    assert isinstance(FakeEngine(), sr.scene.Engine)


def test_its_state_is_the_step_and_the_file_holds_each(tmp_path):
    run = recorded(tmp_path, FakeEngine(dt=0.5), lambda scene: scene.step(4))
    assert run["data"].tolist() == [0, 1, 2, 3, 4]
    assert run["timestamp"].tolist() == [0, 0.5, 1, 1.5, 2]


@pytest.mark.parametrize(("own", "asked"), [(0, 3), (3, 0), (2, 3)])
def test_with_worlds_each_has_its_own_state(tmp_path, own, asked):
    def drive(scene):
        assert scene.n_envs == 3
        scene.step(2)
        scene.reset([1])
        scene.step(1)
        scene.reset([True, False, False])
        scene.step(1)

    engine = FakeEngine(n_envs=own)
    run = recorded(tmp_path, engine, drive, asked)
    assert run["data"].tolist() == [
        [0, 1e6, 2e6], [1, 1e6 + 1, 2e6 + 1], [2, 1e6, 2e6 + 2], [0, 1e6 + 1, 2e6 + 3], [1, 1e6 + 2, 2e6 + 4],
    ]  # fmt: skip
    assert engine.steps.tolist() == [1, 2, 4]
    assert engine.resets == [[1], [0]]
    for row, times in zip(run["data"], run["world_time"], strict=True):
        steps = (times / engine.dt).round().astype(int).tolist()
        assert row.tolist() == [engine.expected(step, world) for world, step in enumerate(steps)]


def test_a_state_may_have_any_shape_and_dtype():
    engine = FakeEngine(state=lambda step, world: np.full((2, 1), step - world, "i4"))
    sr.Scene(engine=engine).build(2)
    engine.step()
    assert engine.state.tolist() == [[[1], [1]], [[0], [0]]]
    assert engine.state.dtype == np.int32
    single = FakeEngine(state=lambda step, world: [step, 0.5])
    assert single.state.tolist() == [0, 0.5]


def test_its_state_is_live():
    engine = FakeEngine()
    state = engine.state
    engine.step()
    assert state == 1
    assert engine.steps == 1
    engine.reset(None)
    assert state == engine.steps == 0


def test_it_counts_what_is_asked_of_it():
    engine = FakeEngine()
    scene = sr.Scene(engine=engine)
    scene.build()
    scene.step(3)
    assert engine.calls == {"build": 1, "step": 3}
    scene.refresh()
    scene.reset()
    assert engine.calls == {"build": 1, "step": 3, "refresh": 1, "reset": 1}
    assert engine.resets == [None]


def test_a_step_that_was_told_to_fail_fails_once_and_does_not_count():
    engine = FakeEngine()
    scene = sr.Scene(engine=engine)
    scene.build()
    engine.fail_at(2, ValueError("broken"))
    scene.step(2)
    with pytest.raises(ValueError, match="broken"):
        scene.step()
    assert (scene.step_count, engine.state) == (2, 2)
    scene.step()
    assert (scene.step_count, engine.state) == (3, 3)


def test_it_becomes_unstable(tmp_path):
    def drive(scene):
        engine.unstable_at(2)
        with pytest.raises(UnstableError, match="at step 2"):
            scene.step(5)
        scene.reset()
        scene.step(2)

    engine = FakeEngine()
    run = recorded(tmp_path, engine, drive)
    assert run["data"].tolist() == [0, 1, 2, 0, 1, 2]
    assert run["episode"].tolist() == [0, 0, 0, 1, 1, 1]


def test_worlds_become_unstable_and_the_others_advance(tmp_path):
    def drive(scene):
        engine.unstable_at(1, 0, 2)
        with pytest.raises(UnstableError, match="at step 1 in worlds 0, 2"):
            scene.step(3)
        assert engine.steps.tolist() == [1, 2, 1]
        scene.reset([0, 2])
        scene.step(1)
        assert (scene.step_count == engine.steps).all()

    engine = FakeEngine()
    run = recorded(tmp_path, engine, drive, 3)
    assert run["data"][:, 1].tolist() == [1e6, 1e6 + 1, 1e6 + 2, 1e6 + 3]
    assert run["data"][:, 0].tolist() == [0, 1, 0, 1]


def test_a_world_that_there_is_not_is_the_scenes_error():
    scene = sr.Scene(engine=FakeEngine(n_envs=2))
    scene.build()
    with pytest.raises(FieldError):
        scene.reset([2])
