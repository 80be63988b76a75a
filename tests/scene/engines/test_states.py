"""States that engines give and take."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import simreel as sr
from simreel.errors import FieldError, SceneStateError
from simreel.scene import Engine, FunctionEngine
from simreel.scene.engines.protocol import BlockEngine
from simreel.testing import FakeEngine

DELAYED = """<mujoco><option timestep="0.002"/><worldbody><body><joint name="j" axis="0 1 0" damping="1"/>
<geom type="capsule" size="0.02" fromto="0 0 0 0 0 -.4"/></body></worldbody>
<actuator><position joint="j" kp="20" delay="0.01" nsample="8"/></actuator></mujoco>"""


def quadruped(n_envs: int) -> sr.Scene:
    scene = sr.Scene()
    scene.add_entity(sr.morphs.MJCF(sr.models.path("quadruped")))
    scene.build(n_envs)
    return scene


def state_of(engine: Engine, *, exact: bool = True) -> np.ndarray:
    width = sum(field.width for field in engine.layout(exact).fields)
    out = np.empty((engine.n_envs, width // engine.n_envs) if engine.n_envs else width)
    engine.read_state(out)
    return out


@pytest.mark.parametrize("n_envs", [0, 1, 3])
def test_a_state_that_is_put_back_goes_on_bit_for_bit(n_envs: int) -> None:
    scene = quadruped(n_envs)
    engine, rng = scene.engine, np.random.default_rng(0)
    controls = rng.normal(size=(30, *engine.array("ctrl").shape))
    ends = []
    scene.step(20)
    kept = state_of(engine)
    for _ in range(2):
        for ctrl in controls:
            engine.array("ctrl")[:] = ctrl
            scene.step()
        ends.append(state_of(engine).tobytes())
        engine.write_state(kept)
        assert state_of(engine).tobytes() == kept.tobytes()
    assert ends[0] == ends[1]


@pytest.mark.parametrize("exact", [False, True])
def test_a_frame_of_worlds_has_each_field_of_all_of_them(exact: bool) -> None:
    scene = quadruped(3)
    scene.step(5)
    layout = scene.engine.layout(exact)
    rows = state_of(scene.engine, exact=exact)
    frame = np.empty(rows.size)
    scene.engine.read_state(frame)
    start = end = 0
    for field in layout.fields:
        width = field.width // 3
        assert frame[end : end + field.width].reshape(3, width).tobytes() == rows[:, start : start + width].tobytes()
        start, end = start + width, end + field.width
    assert end == frame.size


def test_what_a_compact_row_has_not_is_as_after_a_reset() -> None:
    for n_envs in (0, 2):
        scene = quadruped(n_envs)
        scene.step(20)
        compact = state_of(scene.engine, exact=False)
        scene.engine.write_state(compact)
        fields = {field.name: field.width // max(1, n_envs) for field in scene.engine.layout().fields}
        start = sum(width for name, width in list(fields.items())[: list(fields).index("warmstart")])
        state = state_of(scene.engine)
        assert (state[..., start : start + fields["warmstart"]] == 0).all()
        assert state_of(scene.engine, exact=False).tobytes() == compact.tobytes()


def test_history_is_left_out_of_a_compact_row() -> None:
    engine = sr.Scene.from_mujoco(mujoco.MjModel.from_xml_string(DELAYED)).engine
    names = [[field.name for field in engine.layout(exact).fields] for exact in (True, False)]
    assert set(names[0]) - set(names[1]) == {"history", "warmstart"}


def test_single_worlds_take_their_states_and_the_others_run_on() -> None:
    engine = quadruped(3).engine
    before = state_of(engine)
    for _ in range(5):
        engine.step()
    after = state_of(engine)
    engine.write_state(before, np.array([0, 2]))
    found = state_of(engine)
    assert found[[0, 2]].tobytes() == before[[0, 2]].tobytes()
    assert found[1].tobytes() == after[1].tobytes()


def test_an_unstable_scene_steps_on_from_a_state_that_is_put_there() -> None:
    scene = quadruped(0)
    kept = state_of(scene.engine)
    scene.step(3)
    scene.data.qpos[0] = np.nan
    with pytest.raises(ArithmeticError):
        scene.step()
    scene._leave("seek")
    scene.engine.write_state(kept)
    scene._arrive(np.array([0]), np.array([0]))
    scene.step(3)


@pytest.mark.parametrize("n_envs", [0, 2])
def test_a_state_of_another_size_is_told(n_envs: int) -> None:
    engine = quadruped(n_envs).engine
    with pytest.raises(FieldError, match="state: "):
        engine.write_state(np.zeros((2, 7) if n_envs else 7))
    with pytest.raises(FieldError, match="shape"):
        engine.write_state(np.zeros((3, 3, 3)))


def test_functions_give_and_take_arrays_of_any_dtype() -> None:
    now = {"x": np.arange(3, dtype=np.float32), "n": np.int64(2**40), "on": np.array([True, False])}
    engine = FunctionEngine(lambda: None, dt=0.1, get_state=lambda: now, set_state=now.update)
    engine.build(0)
    kept = state_of(engine)
    assert kept.tolist() == [0, 1, 2, 2**40, 1, 0]
    now |= {"x": np.zeros(3, np.float32), "n": np.int64(0), "on": np.array([False, False])}
    engine.write_state(kept)
    assert now["x"].tolist() == [0, 1, 2]
    assert (now["x"].dtype, now["n"].dtype, now["on"].dtype) == (np.float32, np.int64, bool)
    assert now["n"] == 2**40


def test_a_bare_array_comes_back_bare() -> None:
    got = []
    engine = FunctionEngine(lambda: None, dt=0.1, get_state=lambda: np.ones((2, 2)), set_state=got.append)
    engine.build(0)
    engine.write_state(np.arange(4.0))
    assert got[0].tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize(
    ("states", "match"),
    [
        ([["a"]], "numbers are needed"),
        ([[1.0], [1.0, 2.0]], r"shape \(2,\) given, \(1,\) is needed"),
        ([{"a": 1.0}, {"b": 1.0}], r"keys \['b'\]"),
        ([[1], [2**53 + 1]], r"beyond 2\^53"),
    ],
    ids=str,
)
def test_a_state_that_does_not_fit_is_told(states: list, match: str) -> None:
    now = [states[0]]
    engine = FunctionEngine(lambda: None, dt=0.1, get_state=lambda: now[0], set_state=print)
    engine.build(0)
    with pytest.raises(FieldError, match=match):
        read_twice(engine, now, states[-1])


def read_twice(engine: Engine, now: list, then: object) -> None:
    out = np.empty(sum(field.width for field in engine.layout().fields))
    now[0] = then
    engine.read_state(out)


def test_worlds_of_functions_need_a_leading_axis() -> None:
    engine = FunctionEngine(lambda: None, dt=0.1, get_state=lambda: np.ones(3), set_state=print)
    engine.build(2)
    with pytest.raises(FieldError, match=r"\(2, \.\.\.\) is needed, one a world"):
        engine.layout()


def test_functions_without_a_state_are_told_what_to_give() -> None:
    with pytest.raises(SceneStateError, match="get_state"):
        FunctionEngine(lambda: None, dt=0.1).layout()


def test_engines_are_what_the_protocols_say() -> None:
    assert isinstance(quadruped(0).engine, BlockEngine)
    assert isinstance(quadruped(2).engine, BlockEngine)
    assert isinstance(FakeEngine(), Engine)
    assert isinstance(FunctionEngine(lambda: None, dt=1), Engine)


def test_a_fake_engine_gives_and_takes_states() -> None:
    engine = FakeEngine(n_envs=2)
    engine.step()
    kept = state_of(engine)
    assert kept.tolist() == [[1], [1_000_001]]
    engine.step()
    engine.write_state(kept, np.array([1]))
    assert engine.state.tolist() == [2, 1_000_001]
    assert engine.calls["read_state"] == engine.calls["write_state"] == 1
