"""An engine without physics, whose state tells the step and the world that it belongs to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from simreel.errors import UnstableError
from simreel.scene.engines.array_state import ArrayState

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from simreel.recorders.worlds import WorldIds
    from simreel.reel import Layout

__all__ = ["FakeEngine"]

# Far more steps than a test takes, so that the states of two worlds never meet.
_WORLD = 1e6


def _step_and_world(step: int, world: int) -> float:
    return _WORLD * world + step


class FakeEngine:
    """Counts what a scene asks of it; fails on request: `Scene(engine=FakeEngine())`.

    Args:
        dt: time of one step [s].
        n_envs: worlds, where `scene.build()` names no number of them.
        state: the state of a world, a number or an array that keeps its shape and dtype, from the steps since its
            reset and its number. By default `1e6 * world + step`.
    """

    def __init__(
        self, dt: float = 0.01, n_envs: int = 0, *, state: Callable[[int, int], ArrayLike] = _step_and_world
    ) -> None:
        self.dt = dt
        self.n_envs = n_envs
        self.calls: Counter[str] = Counter()
        """How often each method of `Engine` was called, by its name."""
        self.resets: list[list[int] | None] = []
        """The worlds of each call of `reset`; None for all."""
        self._function = state
        self._failures: dict[int, Exception] = {}
        self._start()

    @property
    def state(self) -> np.ndarray[Any, Any]:
        """The state that stands: a live array, (n_envs, ...) with worlds, that the next step writes to."""
        return self._state

    @property
    def steps(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Steps since the last reset, () int64; with worlds those of each, (n_envs,)."""
        return self._steps.copy() if self.n_envs else self._steps[0].copy()

    def expected(self, step: int, world: int = 0) -> np.ndarray[Any, Any]:
        """What the state of a world is that many steps after its reset."""
        return np.asarray(self._function(step, world))

    def fail_at(self, step: int, error: Exception) -> None:
        """Has the step with that number, counted from the last reset of all worlds, raise instead; once."""
        self._failures[step] = error

    def unstable_at(self, step: int, *worlds: int) -> None:
        """As `fail_at`, as a simulation does that becomes NaN: with worlds in some of them, and the others advance."""
        self.fail_at(step, UnstableError("made so by FakeEngine.", worlds=worlds))

    def build(self, n_envs: int) -> None:
        """Starts all worlds."""
        self.calls["build"] += 1
        self.n_envs = n_envs or self.n_envs
        self._start()

    def step(self) -> None:
        """Advances each world, unless it was told to fail."""
        self.calls["step"] += 1
        error = self._failures.pop(self._step, None)
        stays = error.worlds if isinstance(error, UnstableError) else ()
        if error is None or stays:
            self._step += 1
            self._steps += 1
            self._steps[list(stays)] -= 1
            self._write_state()
        if error is not None:
            raise error

    def reset(self, envs_idx: WorldIds | None) -> None:
        """Puts all worlds (None) or some back to their start."""
        self.calls["reset"] += 1
        self.resets.append(None if envs_idx is None else np.asarray(envs_idx).tolist())
        if envs_idx is None:
            self._step = 0
            self._steps[:] = 0
        else:
            self._steps[envs_idx] = 0
        self._write_state()

    def refresh(self) -> None:
        """Counts the call."""
        self.calls["refresh"] += 1

    def layout(self, exact: bool = True) -> Layout:
        """One field, `state`, with the state of each world."""
        del exact
        return self._arrays.layout

    def read_state(self, out: np.ndarray[Any, Any]) -> None:
        """Counts the call and writes the state that stands to `out`."""
        self.calls["read_state"] += 1
        self._arrays.read(self._state, out)

    def write_state(self, row: np.ndarray[Any, Any], envs_idx: WorldIds | None = None) -> None:
        """Counts the call and takes the state, until the next step makes its own."""
        self.calls["write_state"] += 1
        self._state[...] = self._arrays.merge(row, self._state, envs_idx)

    def describe(self) -> dict[str, Any]:
        """As `Engine.describe`."""
        return {"json": {}, "blobs": {}}

    def _start(self) -> None:
        self._step = 0
        self._steps = np.zeros(self.n_envs or 1, np.int64)
        self._state = self._states()
        self._arrays = ArrayState(self._state, self.n_envs)

    def _write_state(self) -> None:
        np.copyto(self._state, self._states())

    def _states(self) -> np.ndarray[Any, Any]:
        states = np.array([self._function(step, world) for world, step in enumerate(self._steps.tolist())])
        return states if self.n_envs else states[0, ...]
