from __future__ import annotations

import math

import numpy as np
import pytest

import simreel as sr
from simreel.errors import OptionsError, SceneStateError
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
