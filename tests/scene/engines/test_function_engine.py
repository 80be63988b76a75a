from __future__ import annotations

import math

import numpy as np
import pytest

import simreel as sr
from simreel.errors import FieldError, OptionsError, SceneStateError
from simreel.scene.engines.function_engine import FunctionEngine


class Pendulum:
    """A simulator of somebody's own: angle and rate, semi-implicit Euler."""

    def __init__(self, dt: float = 0.01) -> None:
        self.dt = dt
        self.state = np.array([1.0, 0.0])

    def step(self) -> None:
        self.state[1] -= self.dt * 9.81 * math.sin(self.state[0])
        self.state[0] += self.dt * self.state[1]

    def get_state(self) -> np.ndarray:
        return self.state

    def set_state(self, state: np.ndarray) -> None:
        self.state = state


def test_a_simulator_of_functions_is_recorded_as_any_other(tmp_path) -> None:
    pendulum = Pendulum()
    engine = FunctionEngine(pendulum.step, dt=pendulum.dt, get_state=pendulum.get_state, set_state=pendulum.set_state)
    with sr.Scene(engine=engine) as scene:
        scene.start_recording(lambda: pendulum.state, sr.recorders.NPZFile(tmp_path / "run.npz", hz=50))
        scene.build()
        scene.step(10)
        scene.reset()
        scene.step(4)
    other = Pendulum()
    rows = [other.state.copy()]
    for _ in range(10):
        other.step()
        rows.append(other.state.copy())
    with np.load(tmp_path / "run.npz") as file:
        assert file["step"].tolist() == [0, 2, 4, 6, 8, 10, 0, 2, 4]
        np.testing.assert_array_equal(file["data"], [*rows[::2], *rows[:5:2]])


def test_reset_calls_the_users_reset_with_the_worlds_where_there_are_some() -> None:
    calls: list[object] = []
    engine = FunctionEngine(lambda: None, dt=1.0, reset=lambda *ids: calls.append(ids))
    engine.build(0)
    engine.reset(None)
    engine.build(3)
    engine.reset(None)
    engine.reset(np.array([2]))
    assert [[np.asarray(ids).tolist() for ids in call] for call in calls] == [[], [[0, 1, 2]], [[2]]]


def test_a_reset_without_the_means_says_what_is_needed() -> None:
    scene = sr.Scene(engine=FunctionEngine(lambda: None, dt=1.0))
    scene.build()
    with pytest.raises(SceneStateError, match=r"reset=, or get_state= and set_state="):
        scene.reset()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"step": None, "dt": 1.0}, "step = None"),
        ({"step": 3, "dt": 1.0}, "step = 3"),
        ({"step": print, "dt": 0.0}, "dt = 0.0"),
        ({"step": print, "dt": math.nan}, "dt = nan"),
        ({"step": print, "dt": "1"}, "dt = '1'"),
        ({"step": print, "dt": 1.0, "get_state": print}, "set_state is missing"),
        ({"step": print, "dt": 1.0, "reset": 1}, "reset = 1"),
    ],
)
def test_a_wrong_argument_is_named(arguments: dict[str, object], named: str) -> None:
    with pytest.raises(OptionsError, match=named):
        FunctionEngine(**arguments)


def test_a_unit_of_what_is_no_part_of_the_state_is_named() -> None:
    engine = FunctionEngine(
        print, dt=1.0, get_state=lambda: {"angle": 1.0}, set_state=print, fields={"angle": "rad", "rate": "rad/s"}
    )
    with pytest.raises(OptionsError, match="'rate'"):
        engine.build(0)


@pytest.mark.parametrize("dt", [1, 0.25, np.float32(0.25), np.int64(2), np.array(0.25)], ids=repr)
def test_any_number_is_a_dt(dt) -> None:
    engine = FunctionEngine(print, dt=dt)
    assert type(engine.dt) is float
    assert engine.dt == dt


@pytest.mark.parametrize("dt", [True, np.True_, np.float32(np.nan), np.array(0.0), np.ones(1), 10**400], ids=repr)
def test_a_dt_that_is_no_time_is_named(dt) -> None:
    with pytest.raises(OptionsError, match=r"dt = .*greater than 0"):
        FunctionEngine(print, dt=dt)


class Walkers:
    """Three worlds of somebody's own: places, and an integer count of steps."""

    def __init__(self) -> None:
        self.state = {"x": np.array([[0.1, 1], [2, 3], [4, 5]], np.float32), "n": np.zeros(3, np.int64)}

    def step(self) -> None:
        self.state["x"] += 1
        self.state["n"] += 1

    def get_state(self):
        return self.state

    def set_state(self, state) -> None:
        self.state = state


def test_single_worlds_come_back_from_the_state_at_build(tmp_path) -> None:
    walkers = Walkers()
    engine = FunctionEngine(walkers.step, dt=1.0, get_state=walkers.get_state, set_state=walkers.set_state)
    start = walkers.state["x"].copy()
    with sr.Scene(engine=engine) as scene:
        scene.start_recording(lambda: walkers.state["n"], sr.recorders.NPZFile(tmp_path / "run.npz"))
        scene.build(n_envs=3)
        scene.step(3)
        others = walkers.state["x"][[0, 2]].copy()
        scene.reset(envs_idx=[1])
        assert walkers.state["n"].tolist() == [3, 0, 3]
        assert {key: value.dtype for key, value in walkers.state.items()} == {"x": np.float32, "n": np.int64}
        assert walkers.state["x"][1].tobytes() == start[1].tobytes()
        assert walkers.state["x"][[0, 2]].tobytes() == others.tobytes()
        scene.step(2)
        scene.reset(envs_idx=[False, True, True])
        scene.step()
        scene.reset()
        assert walkers.state["x"].tobytes() == start.tobytes()
    with np.load(tmp_path / "run.npz") as file:
        np.testing.assert_array_equal(file["world_time"], file["data"])


def test_single_worlds_of_a_state_that_has_none_are_told() -> None:
    engine = FunctionEngine(print, dt=1.0, get_state=lambda: np.zeros(2), set_state=print)
    engine.build(3)
    with pytest.raises(FieldError, match=r"shape \(2,\) given, \(3, \.\.\.\) is needed, one a world"):
        engine.reset(np.array([1]))


@pytest.mark.parametrize(
    ("state", "match"),
    [
        (np.zeros(0), r"state: shape \(0,\) given, at least one number"),
        ({}, r"state: \{\} given, at least one number"),
        ({"a": np.zeros((0, 3))}, "at least one number"),
        ({1: 2.0}, "state: key 1 given, text is needed"),
        ([[1], [1, 2]], "state 'state': rows of different lengths given"),
        ({"a": [[1], [1, 2]]}, "state 'a': rows of different lengths given"),
        ({"a": "text"}, "numbers are needed"),
        (None, "object given, numbers are needed"),
    ],
    ids=repr,
)
def test_a_state_that_is_no_arrays_of_numbers_is_told(tmp_path, state, match: str) -> None:
    engine = FunctionEngine(lambda: None, dt=1.0, get_state=lambda: state, set_state=print)
    scene = sr.Scene(engine=engine)
    scene.start_recording(sr.recorders.TrajectoryFile(tmp_path / "run.reel"))
    scene.build()
    with pytest.raises(FieldError, match=match):
        scene.step()
    scene.destroy()


@pytest.mark.parametrize(
    ("second", "match"),
    [
        (np.zeros(2), r"ndarray given, a dict of \['a', 'none'\] is needed"),
        ({"a": [[1], [1, 2]], "none": []}, "state 'a': rows of different lengths given"),
        ({"a": ["1", "2"], "none": []}, "state 'a': <U1 given, numbers are needed"),
        ({"a": [1, 2j], "none": []}, "state 'a': complex128 given, numbers are needed"),
    ],
    ids=repr,
)
def test_a_state_that_is_not_like_the_first_is_told(second, match: str) -> None:
    states = [{"a": np.zeros(2), "none": np.zeros(0)}] * 3
    engine = FunctionEngine(lambda: None, dt=1.0, get_state=lambda: states.pop(0), set_state=print)
    engine.build(0)
    out = np.empty(2)
    engine.read_state(out)
    states[:] = [second]
    with pytest.raises(FieldError, match=match):
        engine.read_state(out)


def test_units_that_are_no_dict_are_named() -> None:
    with pytest.raises(OptionsError, match="fields = 5: a dict of units is needed"):
        FunctionEngine(print, dt=1.0, fields=5)


def test_a_reset_that_cannot_be_done_ends_no_episode(tmp_path):
    scene = sr.Scene(engine=FunctionEngine(lambda: None, dt=0.1))
    scene.start_recording(lambda: 1.0, sr.recorders.NPZFile(tmp_path / "a.npz"))
    scene.build()
    scene.step(3)
    with pytest.raises(SceneStateError, match="reset=, or get_state= and set_state= is needed"):
        scene.reset()
    assert scene.step_count == 3
    scene.step()
    scene.stop_recording()
    with np.load(tmp_path / "a.npz") as file:
        assert file["step"].tolist() == [0, 1, 2, 3, 4]
        assert not file["episode"].any()
