"""The clock of an environment: one step of it is one step of the clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from simreel.errors import (
    OptionsError,
    PlotError,
    RecorderError,
    RecorderErrorGroup,
    RecorderOverflowError,
    SampleError,
    SceneStateError,
    WriteError,
)
from simreel.scene.engines.function_engine import FunctionEngine, positive_number
from simreel.scene.scene import Scene

if TYPE_CHECKING:
    import gymnasium
    import numpy as np

    AnyEnv = gymnasium.Env[Any, Any] | gymnasium.vector.VectorEnv[Any, Any, Any]

__all__ = ["EnvClock", "dt_of"]

T = TypeVar("T")

# Where an environment raises these, a `Record` or scene within it does, which has taken its step by then.
_AFTER_STEP = (PlotError, RecorderError, RecorderErrorGroup, RecorderOverflowError, SampleError, WriteError)


class EnvClock(Scene):
    """A scene that counts an environment's steps, samples between them, and steps nothing itself.

    Args:
        env: whose steps are counted.

    Raises:
        OptionsError: the environment's time of a step is no time.
    """

    def __init__(self, env: AnyEnv) -> None:
        super().__init__(engine=FunctionEngine(_refuse, dt=dt_of(env)))
        self._may_sample = False
        self._is_refused = False
        """Whether a step of this episode was refused, after its sample."""

    def build(self, n_envs: int = 0) -> None:
        """As `Scene.build`; nothing is sampled before a step, since an environment may have no state yet."""
        super().build(n_envs)
        self.mark_reset()

    def take(self, env: AnyEnv, step: Callable[[], T]) -> T:
        """Lets the due recorders sample and has a step taken, which counts unless it raises.

        Args:
            env: whose step it is. Where it tells that it was never reset nothing is sampled: it refuses the step.
            step: takes it.

        Returns:
            What `step` returns.

        Raises:
            SimreelError: a recorder failed. The others sampled, and the step was taken.
        """
        # Not kept: a scene lives until the garbage collector comes, and an environment need not.
        self._may_sample = self._may_sample or not _needs_reset(env)
        if not self._may_sample:
            return step()
        clock, manager = self._clock, self._manager
        count = clock.step
        if manager.is_due(count):
            manager.sample(count)
        else:
            clock.step = count + 1
        try:
            result = step()
        except _AFTER_STEP:
            raise
        except Exception:
            clock.step = count
            self._is_refused = True
            raise
        manager.raise_reports()
        return result

    def end_worlds(self, worlds: np.ndarray[Any, np.dtype[np.bool_]]) -> None:
        """Ends the episodes of some worlds within `take` or `restart`, which raise what fails.

        Args:
            worlds: a mask, (n_envs,) bool.
        """
        self._end_episode("env.step", worlds)

    def restart(self, reset: Callable[[], T]) -> T:
        """Ends the episode, with the last sample where it is due, and has the environment reset.

        Args:
            reset: resets it.

        Returns:
            What `reset` returns.

        Raises:
            SimreelError: a recorder failed. The environment was reset.
        """
        if self._is_refused and self._clock.is_fresh:
            # The row of this start is an episode by itself, or it would stand for the next start as well. Past the
            # start, and with a state of no use, the clock has it ended and no second row taken.
            self._clock.step += 1
            self._clock.fail(())
        self._is_refused = False
        self._end_episode("env.reset", None)
        result = reset()
        self._manager.raise_reports()
        return result

    def restart_worlds(self, worlds: np.ndarray[Any, np.dtype[np.bool_]], reset: Callable[[], T]) -> T:
        """As `restart`, of some worlds: nothing is sampled, so they are reset first, which may be refused.

        Args:
            worlds: a mask, (n_envs,) bool.
            reset: resets them.

        Returns:
            What `reset` returns.

        Raises:
            SimreelError: a recorder failed. The worlds were reset.
        """
        result = reset()
        self.end_worlds(worlds)
        self._manager.raise_reports()
        return result


def dt_of(env: AnyEnv) -> float:
    """Time of one step [s]: the environment's own dt, or that of its `render_fps`, else 1.

    Raises:
        OptionsError: the one that it has is no number greater than 0.
    """
    dt = getattr(_one_of(env).unwrapped, "dt", None)
    # A method of that name is something else.
    if dt is not None and not callable(dt):
        return _positive("env.unwrapped.dt", dt, "a time [s]")
    fps = (env.metadata or {}).get("render_fps")
    return 1.0 if fps is None else 1 / _positive("env.metadata['render_fps']", fps, "a rate [1/s]")


def _positive(name: str, value: Any, what: str) -> float:
    number = positive_number(value)
    if number is None:
        raise OptionsError("gym.Record", [f"{name} = {value!r}: {what} greater than 0 is needed, or None"])
    return number


def _needs_reset(env: AnyEnv) -> bool:
    """Whether the environment tells that it was never reset, as those of `gymnasium.make` do: it refuses a step."""
    one: Any = _one_of(env)
    # A vector of its own kind has no such wrappers.
    tells = hasattr(one, "has_wrapper_attr") and one.has_wrapper_attr("has_reset")
    return tells and not one.get_wrapper_attr("has_reset")


def _one_of(env: AnyEnv) -> AnyEnv:
    """The first environment of a vector that has them at hand, which are alike; else the environment itself."""
    import gymnasium

    if isinstance(env, gymnasium.vector.VectorEnv):
        envs = getattr(env.unwrapped, "envs", None)
        if isinstance(envs, list | tuple) and envs and isinstance(envs[0], gymnasium.Env):
            return envs[0]
    return env


def _refuse() -> NoReturn:
    raise SceneStateError("scene.step()", "the environment is stepped by its own step")
