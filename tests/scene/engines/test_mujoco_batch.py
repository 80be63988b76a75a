from __future__ import annotations

import mujoco
import numpy as np
import pytest

import simreel as sr
from simreel.errors import SceneStateError, UnstableError
from simreel.scene.engines.mujoco_batch import MuJoCoBatchEngine
from simreel.scene.messages import hold_messages, release_messages

STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)


def load(name: str = "quadruped") -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_path(str(sr.models.path(name)))
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    return model, data


def make(name: str = "quadruped", n_envs: int = 4, substeps: int = 1) -> MuJoCoBatchEngine:
    model, data = load(name)
    engine = MuJoCoBatchEngine(model, data, n_envs, substeps)
    engine.build(n_envs)
    return engine


def state_of(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    state = np.empty(mujoco.mj_stateSize(model, STATE))
    mujoco.mj_getState(model, data, state, STATE)
    return state


@pytest.mark.parametrize("substeps", [1, 3])
@pytest.mark.parametrize("derived", [(), ("xpos",), ("sensordata", "qacc")])
def test_each_world_is_what_it_is_alone(derived: tuple[str, ...], substeps: int) -> None:
    engine = make(substeps=substeps)
    model, _ = load()
    alone = [load()[1] for _ in range(4)]
    for name in derived:
        engine.array(name)
    rng = np.random.default_rng(0)
    for step in range(100):
        controls = rng.uniform(-1, 1, (4, model.nu))
        engine.array("ctrl")[:] = controls
        if step % 3:
            engine.sampled_step(lambda _: None, step)
        else:
            engine.step()
        for world, data in enumerate(alone):
            data.ctrl[:] = controls[world]
            mujoco.mj_step(model, data, substeps)
            assert engine.batch.state[world].tobytes() == state_of(model, data).tobytes(), (step, world)


@pytest.mark.parametrize("fields", [("xpos", "xquat"), ("sensordata",), ("qacc", "xpos")])
def test_derived_fields_in_a_sample_belong_to_state_and_controls(fields: tuple[str, ...]) -> None:
    engine = make()
    model, data = load()
    arrays = {name: engine.array(name) for name in fields}

    def check(step: int) -> None:
        for world in range(4):
            mujoco.mj_setState(model, data, engine.batch.state[world].copy(), STATE)
            mujoco.mj_forward(model, data)
            for name, array in arrays.items():
                assert array[world].tobytes() == getattr(data, name).tobytes(), (step, world, name)

    rng = np.random.default_rng(1)
    for step in range(50):
        engine.array("ctrl")[:] = rng.uniform(-1, 1, (4, model.nu))
        engine.sampled_step(check, step)


def test_a_derived_field_that_is_first_read_in_a_sample_is_right_at_once() -> None:
    engine = make()
    seen = []
    engine.step()
    engine.sampled_step(lambda _: seen.append(engine.array("xpos").copy()), 1)
    assert np.abs(seen[0]).sum() > 0


def test_controls_that_a_sample_sets_count_from_the_next_step_on() -> None:
    engine, other = make(), make()

    def set_controls(_: int) -> None:
        engine.array("ctrl")[:] = 0.5

    engine.sampled_step(set_controls, 0)
    other.step()
    np.testing.assert_array_equal(engine.array("qvel"), other.array("qvel"))
    assert (engine.array("ctrl") == 0.5).all()


def test_reset_puts_some_worlds_back_and_leaves_the_others() -> None:
    engine, other = make(), make()
    start = engine.batch.state.copy()
    for step in range(30):
        for e in (engine, other):
            e.array("ctrl")[:] = np.sin(step)
            e.step()
    engine.reset(np.array([1, 3]))
    np.testing.assert_array_equal(engine.batch.state[[1, 3]], start[[1, 3]])
    np.testing.assert_array_equal(engine.batch.state[[0, 2]], other.batch.state[[0, 2]])
    engine.reset()
    np.testing.assert_array_equal(engine.batch.state, start)


def test_a_run_after_a_reset_is_the_first_run_again() -> None:
    engine = make()
    engine.array("sensordata")
    runs = []
    for _ in range(2):
        for step in range(50):
            engine.array("ctrl")[:] = np.sin(step / 5)
            engine.sampled_step(lambda _: None, step)
        runs.append(engine.batch.state.tobytes())
        engine.reset()
    assert runs[0] == runs[1]


def test_reset_to_a_keyframe() -> None:
    engine = make()
    engine.array("qpos")[:] = 1
    engine.reset(np.array([2]), "home")
    np.testing.assert_array_equal(engine.array("qpos")[2], engine.model.key_qpos[0])
    assert (engine.array("qpos")[[0, 1, 3]] == 1).all()


@pytest.mark.parametrize("sampled", [True, False])
def test_worlds_that_blow_up_are_named_and_the_others_go_on(sampled: bool) -> None:
    hold_messages()
    engine, other = make(), make()
    engine.array("qvel")[[1, 3], 4] = np.nan
    seen: list[int] = []
    with pytest.raises(UnstableError, match=r"worlds 1, 3: .* in qvel") as caught:
        engine.sampled_step(seen.append, 0) if sampled else engine.step()
    other.step()
    assert caught.value.worlds == (1, 3)
    assert seen == ([0] if sampled else [])
    np.testing.assert_array_equal(engine.batch.state[[0, 2]], other.batch.state[[0, 2]])
    engine.reset(np.array([1, 3]))
    engine.step()
    release_messages()


def test_python_callbacks_are_refused_with_what_to_do() -> None:
    built = MuJoCoBatchEngine(*load(), 2)
    mujoco.set_mjcb_control(lambda model, data: None)
    try:
        with pytest.raises(SceneStateError, match=r"mjcb_control .* build with n_envs=0"):
            built.build(2)
    finally:
        mujoco.set_mjcb_control(None)
    engine = make()
    mujoco.set_mjcb_control(lambda model, data: None)
    try:
        with pytest.raises(SceneStateError, match="mjcb_control"):
            engine.step()
    finally:
        mujoco.set_mjcb_control(None)


def test_a_model_that_sleeps_gets_a_batch_that_keeps_each_world() -> None:
    model, data = load()
    model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_SLEEP)
    engine = MuJoCoBatchEngine(model, data, 3)
    engine.build(3)
    assert engine.batch.persistent
    engine.step()
