"""The step count of a scene; times are derived from it, never accumulated."""

from __future__ import annotations

__all__ = ["Clock"]


class Clock:
    """Counts steps since the last reset of all worlds."""

    __slots__ = ("dt", "is_stable", "n_envs", "resets", "step")

    def __init__(self, dt: float) -> None:
        self.dt = dt
        self.n_envs = 0
        self.step = 0
        self.resets = 0
        self.is_stable = True

    @property
    def may_sample(self) -> bool:
        """Whether the state that stands is that of `step`, and not one that a reset put there and no step used yet."""
        return self.is_stable and not (self.step == 0 and self.resets)

    def reset(self) -> None:
        """Puts the count back to 0."""
        self.step = 0
        self.resets += 1
        self.is_stable = True
