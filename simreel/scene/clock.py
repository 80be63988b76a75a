"""The step count of a scene; times are derived from it, never accumulated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simreel.recorders.worlds import WorldClock

if TYPE_CHECKING:
    from collections.abc import Collection

    from simreel.recorders.worlds import WorldIds, WorldSteps

__all__ = ["Clock"]


class Clock:
    """Counts steps since the last reset of all worlds, and knows where each world stands in its own episode."""

    __slots__ = ("_origin", "dt", "is_sampling", "n_envs", "resets", "step", "unstable", "worlds")

    def __init__(self, dt: float) -> None:
        self.dt = dt
        self.step = 0
        self.resets = 0
        self.is_sampling = False
        """Whether recorders are taking the sample of `step`."""
        self._origin = 0
        self.unstable: set[int] = set()
        """Worlds whose state is of no use until they are reset; world 0 where there are no worlds."""
        self.set_worlds(0)

    def set_worlds(self, n_envs: int) -> None:
        """Sets the number of worlds; 0 without worlds."""
        self.n_envs = n_envs
        self.worlds = WorldClock(n_envs)

    @property
    def may_sample(self) -> bool:
        """Whether the state that stands is that of `step`, and not one that a reset put there and no step used yet."""
        return not self.unstable and not (self.is_fresh and self.resets)

    @property
    def is_fresh(self) -> bool:
        """Whether no step was taken since the state was built, reset or put there."""
        return self.step == self._origin

    def fail(self, worlds: Collection[int]) -> None:
        """Notes that worlds, or the only one, have become unstable."""
        self.unstable.update(worlds or (0,))

    def reset(self, envs_idx: WorldIds | None = None) -> None:
        """Puts the count back to 0, or starts a new episode in some worlds."""
        self.worlds.restart(envs_idx, self.step)
        if envs_idx is None:
            self.step = self._origin = 0
            self.resets += 1
            self.unstable.clear()
        else:
            self.unstable.difference_update(envs_idx.tolist())

    def start_at(self, steps: WorldSteps) -> None:
        """Sets the count anew after a reset; with worlds to the step of each, (n_envs,), else (1,)."""
        self.step = self._origin = int(steps.max())
        if self.n_envs:
            self.worlds.start[:] = self.step - steps
