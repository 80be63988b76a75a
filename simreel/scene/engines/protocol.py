"""What a scene asks of whoever computes the physics."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from simreel.recorders.worlds import WorldIds

__all__ = ["Engine", "SplitEngine"]


@runtime_checkable
class Engine(Protocol):
    """Advances a simulation by steps of `dt` [s]."""

    @property
    def dt(self) -> float:
        """Time of one step [s]."""

    @property
    def n_envs(self) -> int:
        """Worlds; 0 without worlds."""

    def build(self, n_envs: int) -> None:
        """Gets ready to step; the state that stands now is the one that `reset` returns to."""

    def step(self) -> None:
        """Advances by one step."""

    def reset(self, envs_idx: WorldIds | None) -> None:
        """Puts all worlds (None) or some back to the built state."""

    def refresh(self) -> None:
        """Brings what is derived from the state up to date, and leaves the state as it is."""


@runtime_checkable
class SplitEngine(Engine, Protocol):
    """An engine that can stop inside a step, where state, inputs and all that is derived from them belong together."""

    def sampled_step(self, sample: Callable[[int], None], step: int) -> None:
        """Advances by one step, and calls `sample(step)` in it while the state is that from which the step starts.

        Controls that are set in `sample` count from the next step on.
        """

    def state_step(self, sample: Callable[[int], None], step: int) -> None:
        """As `sampled_step`, for samples that only read state and inputs."""
