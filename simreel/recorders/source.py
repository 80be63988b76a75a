"""What a recorder may know of whoever simulates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from simreel.recorders.worlds import WorldClock

__all__ = ["Clock"]


class Clock(Protocol):
    """The step count of a scene."""

    step: int
    """Steps since the last reset of all worlds."""

    worlds: WorldClock
    """Where each world stands in its own episode."""

    @property
    def may_sample(self) -> bool:
        """Whether the state that stands may be sampled outside a step."""

    @property
    def dt(self) -> float:
        """Time of one step [s]."""

    @property
    def n_envs(self) -> int:
        """Worlds; 0 without worlds."""
