"""Where each world stands in its own episode, beside the one clock that drives the sampling."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["WorldClock", "WorldIds", "WorldSteps"]

WorldIds = np.ndarray[Any, np.dtype[np.intp]]
"""Numbers of worlds, (k,), each once and ascending."""

WorldSteps = np.ndarray[Any, np.dtype[np.int64]]
"""A step of each world, (n_envs,)."""


class WorldClock:
    """Counts the episodes of each world, and from which step of the clock each runs.

    Args:
        n_envs: worlds.
    """

    def __init__(self, n_envs: int) -> None:
        self.start = np.zeros(n_envs, np.int64)
        """(n_envs,) int64: the step at which the episode of each world started."""
        self.episode = np.zeros(n_envs, np.int32)
        """(n_envs,) int32: episodes of each world that have ended."""

    def anew(self) -> WorldClock:
        """A clock of the same worlds, at the same steps, that counts episodes from 0."""
        clock = WorldClock(len(self.start))
        clock.start[:] = self.start
        return clock

    def restart(self, envs_idx: WorldIds | None, step: int) -> None:
        """Ends the episodes of some worlds at a step of the clock; of all (None), when the clock goes back to 0."""
        # A world that was reset and has not been stepped since has no episode to end.
        if envs_idx is None:
            self.episode[self.start < step] += 1
            self.start[:] = 0
            return
        self.episode[envs_idx[self.start[envs_idx] < step]] += 1
        self.start[envs_idx] = step

    def steps(self, steps: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The steps of each world, (n, n_envs) int64, at some steps of the clock, (n,)."""
        return steps[:, None] - self.start
