from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed: pip install 'simreel[gym]'")

from simreel.errors import OptionsError  # noqa: E402
from simreel.gym import Record  # noqa: E402
from simreel.gym.clock import dt_of  # noqa: E402


class Still(gymnasium.Env):
    """Has spaces and nothing else."""

    observation_space = gymnasium.spaces.Discrete(2)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, **attributes: object) -> None:
        vars(self).update(attributes)


class StillVector(gymnasium.vector.VectorEnv):
    """A vector of somebody's own, which keeps something under the name `envs`."""

    num_envs = 2
    single_observation_space = single_action_space = gymnasium.spaces.Discrete(2)
    observation_space = action_space = gymnasium.spaces.MultiDiscrete([2, 2])

    def __init__(self, envs: object) -> None:
        self.metadata = {"render_fps": 50}
        self.envs = envs


@pytest.mark.parametrize(
    ("dt", "seconds"),
    [
        (0.25, 0.25),
        (1, 1.0),
        (np.float32(0.25), 0.25),
        (np.float64(0.25), 0.25),
        (np.int64(2), 2.0),
        (np.array(0.25), 0.25),
        (Fraction(1, 4), 0.25),
    ],
    ids=repr,
)
def test_any_number_is_a_dt_and_a_rate_of_pictures(dt, seconds: float) -> None:
    for found in (
        dt_of(Still(dt=dt, metadata={"render_fps": 7})),
        dt_of(gymnasium.Wrapper(Still(dt=dt))),
        1 / dt_of(Still(metadata={"render_fps": dt})),
    ):
        assert type(found) is float
        assert found == seconds


@pytest.mark.parametrize("dt", [True, np.True_, math.nan, math.inf, 0, -0.5, np.float32(0), np.zeros(2), "1", 10**400])
def test_a_dt_or_a_rate_that_gives_no_time_is_named(dt) -> None:
    with pytest.raises(OptionsError, match=r"env\.unwrapped\.dt = .*greater than 0"):
        Record(Still(dt=dt, metadata={"render_fps": 30}), [])
    with pytest.raises(OptionsError, match=r"env\.metadata\['render_fps'\] = .*greater than 0"):
        Record(Still(metadata={"render_fps": dt}), [])


def test_a_method_named_dt_and_a_dt_of_none_are_no_dt() -> None:
    assert dt_of(Still(dt=lambda: 0.5, metadata={"render_fps": 4})) == 0.25
    assert dt_of(Still(dt=None, metadata=None)) == 1.0
    assert dt_of(Still(metadata={"render_fps": None})) == 1.0


@pytest.mark.parametrize("envs", [None, 4, [], {}, {"a": 1}, [1, 2], ["handle0", "handle1"]], ids=repr)
def test_an_attribute_envs_that_holds_no_environments_is_let_alone(envs) -> None:
    assert dt_of(Still(envs=envs, dt=0.5)) == 0.5
    assert dt_of(StillVector(envs)) == 0.02
    Record(StillVector(envs), [])


def test_an_environment_that_has_environments_is_asked_for_its_own_dt() -> None:
    assert dt_of(Still(envs=[Still(dt=0.1)], dt=0.5)) == 0.5
    assert dt_of(StillVector([gymnasium.Wrapper(Still(dt=0.1)), Still(dt=0.1)])) == 0.1
