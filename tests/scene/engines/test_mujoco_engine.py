from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import mujoco
import numpy as np
import pytest

import simreel as sr
from simreel.errors import SceneStateError, UnknownNameError, UnstableError
from simreel.scene.engines.mujoco_engine import MuJoCoEngine
from simreel.scene.messages import collected_messages, hold_messages, release_messages

INTEGRATORS = ["euler", "rk4", "implicit", "implicitfast", "discrete"]
STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)

MUSCLE = """<mujoco><option timestep="0.002"/><worldbody><body><joint name="j" axis="0 1 0" damping="1"/>
<geom type="capsule" size="0.02" fromto="0 0 0 0 0 -.4"/><site name="a" pos="0.05 0 0"/></body>
<site name="b" pos="0.1 0 0.3"/></worldbody>
<tendon><spatial name="t"><site site="a"/><site site="b"/></spatial></tendon>
<actuator><muscle name="muscle" tendon="t" ctrllimited="true" ctrlrange="0 1"/></actuator>
<sensor><actuatorfrc actuator="muscle"/></sensor></mujoco>"""

DELAYED = """<mujoco><option timestep="0.002"/><worldbody><body><joint name="j" axis="0 1 0" damping="1"/>
<geom type="capsule" size="0.02" fromto="0 0 0 0 0 -.4"/></body></worldbody>
<actuator><position joint="j" kp="20" delay="0.01" nsample="8"/></actuator>
<sensor><jointpos joint="j"/></sensor></mujoco>"""


def gymnasium_model(name: str) -> str:
    spec = importlib.util.find_spec("gymnasium")
    if spec is None or spec.origin is None:
        pytest.skip("gymnasium is not installed: pip install 'simreel[demo]'")
    return str(Path(spec.origin).parent / "envs/mujoco/assets" / f"{name}.xml")


def load(name: str) -> mujoco.MjModel:
    if name == "muscle":
        return mujoco.MjModel.from_xml_string(MUSCLE)
    if name == "delayed":
        return mujoco.MjModel.from_xml_string(DELAYED)
    if name in sr.models.names():
        return mujoco.MjModel.from_xml_path(str(sr.models.path(name)))
    with collected_messages():
        return mujoco.MjModel.from_xml_path(gymnasium_model(name))


def state_of(model: mujoco.MjModel, data: mujoco.MjData) -> bytes:
    state = np.empty(mujoco.mj_stateSize(model, STATE))
    mujoco.mj_getState(model, data, state, STATE)
    return state.tobytes()


def integrator(model: mujoco.MjModel, name: str) -> None:
    model.opt.integrator = mujoco.mjtIntegrator.__members__[f"mjINT_{name.upper()}"]


@pytest.mark.parametrize(
    ("name", "method"),
    [
        (name, method)
        for name in ("arm", "quadruped", "cloth", "muscle", "delayed", "ant", "humanoid")
        for method in INTEGRATORS
        # MuJoCo's discrete integrator takes no flex edges.
        if (name, method) != ("cloth", "discrete")
    ],
)
def test_a_sampled_step_is_mj_step_to_the_bit(name: str, method: str) -> None:
    model = load(name)
    integrator(model, method)
    ours, theirs = mujoco.MjData(model), mujoco.MjData(model)
    engine = MuJoCoEngine(model, ours)
    engine.build(0)
    rng = np.random.default_rng(0)
    for step in range(60 if name == "cloth" else 200):
        ours.ctrl[:] = theirs.ctrl[:] = rng.uniform(-1, 1, model.nu)
        engine.sampled_step(lambda _: None, step)
        mujoco.mj_step(model, theirs)
        assert state_of(model, ours) == state_of(model, theirs), step
        assert ours.sensordata.tobytes() == theirs.sensordata.tobytes(), step


@pytest.mark.parametrize("method", INTEGRATORS)
@pytest.mark.parametrize("name", ["arm", "muscle", "humanoid"])
def test_a_step_that_samples_the_state_is_mj_step_to_the_bit(name: str, method: str) -> None:
    model = load(name)
    integrator(model, method)
    ours, theirs = mujoco.MjData(model), mujoco.MjData(model)
    engine = MuJoCoEngine(model, ours)
    engine.build(0)
    rng = np.random.default_rng(0)
    for step in range(200):
        ours.ctrl[:] = theirs.ctrl[:] = rng.uniform(-1, 1, model.nu)
        seen = []
        engine.state_step(lambda _, seen=seen: seen.append(state_of(model, ours)), step)
        assert seen == [state_of(model, theirs)], step
        mujoco.mj_step(model, theirs)
        assert state_of(model, ours) == state_of(model, theirs), step
        assert ours.sensordata.tobytes() == theirs.sensordata.tobytes(), step


@pytest.mark.parametrize("flag", ["mjENBL_FWDINV", "mjENBL_ENERGY", "mjENBL_SLEEP", "mjENBL_INVDISCRETE"])
def test_a_sampled_step_is_mj_step_under_each_flag(flag: str) -> None:
    model = load("quadruped")
    model.opt.enableflags |= int(mujoco.mjtEnableBit.__members__[flag])
    ours, theirs = mujoco.MjData(model), mujoco.MjData(model)
    engine = MuJoCoEngine(model, ours)
    engine.build(0)
    for step in range(600):
        engine.sampled_step(lambda _: None, step)
        mujoco.mj_step(model, theirs)
        assert state_of(model, ours) == state_of(model, theirs), step
    assert ours.energy.tobytes() == theirs.energy.tobytes()
    assert ours.solver_fwdinv.tobytes() == theirs.solver_fwdinv.tobytes()


@pytest.mark.parametrize("substeps", [1, 2, 5])
def test_substeps_are_that_many_calls_of_mj_step(substeps: int) -> None:
    model = load("arm")
    ours, theirs = mujoco.MjData(model), mujoco.MjData(model)
    engine = MuJoCoEngine(model, ours, substeps)
    engine.build(0)
    assert engine.dt == substeps * model.opt.timestep
    for step in range(100):
        ours.ctrl[:] = theirs.ctrl[:] = np.sin(step / 10)
        if step % 2:
            engine.step()
        else:
            engine.sampled_step(lambda _: None, step)
        mujoco.mj_step(model, theirs, substeps)
    assert state_of(model, ours) == state_of(model, theirs)


@pytest.mark.parametrize("method", INTEGRATORS)
@pytest.mark.parametrize("name", ["arm", "quadruped", "humanoid"])
def test_what_a_sample_sees_belongs_together(name: str, method: str) -> None:
    model = load(name)
    integrator(model, method)
    data, checked = mujoco.MjData(model), mujoco.MjData(model)
    engine = MuJoCoEngine(model, data)
    engine.build(0)
    # mj_step1 stops before accelerations, in mj_step too: sensors of that stage are a step old there.
    stages = [mujoco.mjtStage.mjSTAGE_POS, mujoco.mjtStage.mjSTAGE_VEL]
    if method != "discrete":
        stages.append(mujoco.mjtStage.mjSTAGE_ACC)
    of_stage = np.isin(model.sensor_needstage, [int(stage) for stage in stages])
    starts, sizes = model.sensor_adr[of_stage], model.sensor_dim[of_stage]
    columns = np.concatenate([[], *map(np.arange, starts, starts + sizes)]).astype(int)

    def check(step: int) -> None:
        state = np.empty(mujoco.mj_stateSize(model, STATE))
        mujoco.mj_getState(model, data, state, STATE)
        mujoco.mj_setState(model, checked, state, STATE)
        mujoco.mj_forward(model, checked)
        assert data.xpos.tobytes() == checked.xpos.tobytes(), step
        assert data.xquat.tobytes() == checked.xquat.tobytes(), step
        assert data.sensordata[columns].tobytes() == checked.sensordata[columns].tobytes(), step
        assert data.ncon == checked.ncon, step

    rng = np.random.default_rng(1)
    for step in range(100):
        data.ctrl[:] = rng.uniform(-1, 1, model.nu)
        engine.sampled_step(check, step)


@pytest.mark.parametrize("substeps", [1, 3])
@pytest.mark.parametrize("method", INTEGRATORS)
def test_a_control_that_the_sample_sets_counts_from_the_next_step_on(method: str, substeps: int) -> None:
    model = load("quadruped")
    integrator(model, method)
    ours, theirs = mujoco.MjData(model), mujoco.MjData(model)
    engine = MuJoCoEngine(model, ours, substeps)
    engine.build(0)
    rng = np.random.default_rng(2)
    control = np.zeros(model.nu)

    def sample(_: int) -> None:
        ours.ctrl[:] = control
        engine.refresh()

    for step in range(50):
        before = ours.ctrl.copy()
        control = rng.uniform(-1, 1, model.nu)
        engine.sampled_step(sample, step)
        theirs.ctrl[:] = before
        mujoco.mj_step(model, theirs, substeps)
        theirs.ctrl[:] = control
        assert state_of(model, ours) == state_of(model, theirs), step


@pytest.mark.parametrize("name", ["arm", "quadruped", "humanoid", "muscle", "delayed"])
@pytest.mark.parametrize("method", INTEGRATORS)
def test_refresh_leaves_the_run_as_it_is(name: str, method: str) -> None:
    model = load(name)
    integrator(model, method)
    ours, theirs = mujoco.MjData(model), mujoco.MjData(model)
    engine = MuJoCoEngine(model, ours)
    engine.build(0)
    for step in range(100):
        ours.ctrl[:] = theirs.ctrl[:] = np.cos(step / 7)
        engine.refresh()
        engine.step()
        mujoco.mj_step(model, theirs)
    assert state_of(model, ours) == state_of(model, theirs)


def test_refresh_follows_each_change_of_state_and_inputs() -> None:
    model = load("arm")
    data = mujoco.MjData(model)
    engine = MuJoCoEngine(model, data)
    engine.build(0)
    engine.refresh()
    for change in (data.qpos, data.qvel, data.ctrl, data.qfrc_applied):
        before = data.qacc.copy()
        change[:] = 0.1
        engine.refresh()
        assert not np.array_equal(before, data.qacc)


def test_reset_returns_to_the_data_as_it_was_given() -> None:
    model = load("quadruped")
    data = mujoco.MjData(model)
    for _ in range(50):
        mujoco.mj_step(model, data)
    data.ctrl[:] = 0.3
    given = state_of(model, data)
    engine = MuJoCoEngine(model, data)
    engine.build(0)
    for _ in range(20):
        engine.step()
    engine.reset()
    assert state_of(model, data) == given


def test_reset_to_a_keyframe_by_name_or_number() -> None:
    model = load("quadruped")
    data = mujoco.MjData(model)
    engine = MuJoCoEngine(model, data)
    engine.build(0)
    for keyframe in ("home", 0):
        engine.step()
        engine.reset(keyframe=keyframe)
        np.testing.assert_array_equal(data.qpos, model.key_qpos[0])


@pytest.mark.parametrize("keyframe", ["hom", 7, -1])
def test_an_unknown_keyframe_is_named_with_those_there_are(keyframe: int | str) -> None:
    model = load("quadruped")
    engine = MuJoCoEngine(model, mujoco.MjData(model))
    engine.build(0)
    with pytest.raises(UnknownNameError, match=r"keyframe.*'home'"):
        engine.reset(keyframe=keyframe)


@pytest.fixture
def quiet_mujoco() -> Iterator[None]:
    hold_messages()
    yield
    release_messages()


@pytest.mark.parametrize("field", ["qpos", "qvel"])
@pytest.mark.parametrize("at", [0, 30])
@pytest.mark.parametrize("sampled", [True, False])
@pytest.mark.usefixtures("quiet_mujoco")
def test_a_bad_value_is_an_error_of_its_step_and_is_not_sampled(field: str, at: int, sampled: bool) -> None:
    model = load("arm")
    data = mujoco.MjData(model)
    engine = MuJoCoEngine(model, data)
    engine.build(0)
    for _ in range(at):
        engine.step()
    getattr(data, field)[2] = np.nan
    seen: list[int] = []
    with pytest.raises(UnstableError, match=rf"{field} at index 2"):
        engine.sampled_step(seen.append, at) if sampled else engine.step()
    assert seen == []


@pytest.mark.usefixtures("quiet_mujoco")
def test_a_bad_control_is_set_to_zero_as_mujoco_does() -> None:
    model = load("arm")
    ours, theirs = mujoco.MjData(model), mujoco.MjData(model)
    engine = MuJoCoEngine(model, ours)
    engine.build(0)
    ours.ctrl[:] = theirs.ctrl[:] = np.nan
    engine.sampled_step(lambda _: None, 0)
    mujoco.mj_step(model, theirs)
    assert state_of(model, ours) == state_of(model, theirs)


def test_an_acceleration_that_blows_up_is_an_error_of_its_step() -> None:
    model = load("cartpole")
    data = mujoco.MjData(model)
    scene = sr.Scene.from_mujoco(model, data)
    scene.build()
    scene.step()
    data.qfrc_applied[0] = 1e300
    with pytest.raises(UnstableError, match=r"step 1: .* in qacc at index 0"):
        scene.step()
    scene.destroy()


def test_worlds_are_refused_by_the_engine_of_one_world() -> None:
    model = load("arm")
    engine = MuJoCoEngine(model, mujoco.MjData(model))
    with pytest.raises(SceneStateError, match="n_envs=3"):
        engine.build(3)


@pytest.mark.parametrize("edit", ["edit_model", "by hand"])
@pytest.mark.parametrize("integrator", [mujoco.mjtIntegrator.mjINT_RK4, mujoco.mjtIntegrator.mjINT_IMPLICITFAST])
def test_a_change_of_the_integrator_counts_for_recorded_steps_too(tmp_path, edit, integrator):
    path = str(sr.models.path("arm"))
    model = mujoco.MjModel.from_xml_path(path)
    data = mujoco.MjData(model)
    scene = sr.Scene.from_mujoco(model, data)
    scene.start_recording(lambda: data.xpos, sr.recorders.NPZFile(tmp_path / "x.npz"))
    scene.build()
    data.ctrl[:] = 0.5
    scene.step(20)
    if edit == "edit_model":
        with scene.edit_model() as edited:
            edited.opt.integrator = integrator
    else:
        model.opt.integrator = integrator
    scene.step(20)
    scene.stop_recording()
    alone = mujoco.MjModel.from_xml_path(path)
    expected = mujoco.MjData(alone)
    expected.ctrl[:] = 0.5
    mujoco.mj_step(alone, expected, 20)
    alone.opt.integrator = integrator
    mujoco.mj_step(alone, expected, 20)
    assert data.qpos.tobytes() == expected.qpos.tobytes()


def test_refresh_sees_that_somebody_has_looked_ahead_and_come_back():
    model = mujoco.MjModel.from_xml_path(str(sr.models.path("arm")))
    data = mujoco.MjData(model)
    scene = sr.Scene.from_mujoco(model, data)
    scene.build()
    scene.step(5)
    scene.refresh()
    right = data.xpos.copy()
    state = np.empty(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_INTEGRATION))
    mujoco.mj_getState(model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
    data.ctrl[:] = 1
    mujoco.mj_step(model, data, 50)
    mujoco.mj_setState(model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
    scene.refresh()
    assert data.xpos.tobytes() == right.tobytes()
