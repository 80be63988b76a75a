"""What a recorder may know of whoever simulates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np

    from simreel.recorders.worlds import WorldClock
    from simreel.reel import Layout

__all__ = ["Channel", "Clock", "ParameterWatch", "StateSource"]


class Clock(Protocol):
    """The step count of a scene."""

    step: int
    """Steps since the last reset of all worlds."""

    is_sampling: bool
    """Whether recorders are taking a sample."""

    worlds: WorldClock
    """Where each world stands in its own episode."""

    @property
    def may_sample(self) -> bool:
        """Whether the state that stands may be sampled outside a step."""

    @property
    def is_fresh(self) -> bool:
        """Whether no step was taken since the state was built, reset or put there."""

    @property
    def dt(self) -> float:
        """Time of one step [s]."""

    @property
    def n_envs(self) -> int:
        """Worlds; 0 without worlds."""


@dataclass(frozen=True)
class Channel:
    """A quantity that is recorded with each frame of a trajectory."""

    name: str
    func: Callable[[], Any]
    unit: str = ""
    columns: tuple[str, ...] = ()
    """Names of its values."""


class ParameterWatch(Protocol):
    """Compares the parameters of a model with those that it saw last."""

    def changes(self) -> dict[str, np.ndarray[Any, Any]]:
        """Those that have changed since the last call, by name; as copies."""


@runtime_checkable
class StateSource(Protocol):
    """A scene, for recorders that record the scene itself. Only their samplers may hold it."""

    def layout(self, exact: bool) -> Layout:
        """As `Engine.layout`."""

    def reader(self) -> Callable[[np.ndarray[Any, Any]], None]:
        """A function that writes the state that stands to an array, as `Engine.read_state`."""

    def channels(self) -> Sequence[Channel]:
        """What is recorded with each frame."""

    def describe(self, embed: str) -> tuple[dict[str, Any], dict[str, bytes]]:
        """What tells how to build the scene again.

        Args:
            embed: as `TrajectoryFile.embed`.

        Returns:
            Entries for the head of the file, and payloads by name.
        """

    def contacts(self) -> Mapping[str, np.ndarray[Any, Any]]:
        """The contacts of the state that stands: (contacts, width) arrays by name.

        Raises:
            SimreelError: there are none to read.
        """

    def unstable(self) -> set[int]:
        """The worlds whose state is of no use until they are reset."""

    def watch(self) -> ParameterWatch | None:
        """A new one, of the parameters as they are now; None where the scene has no model."""

    def user_state(self) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
        """What the user keeps beside the scene: JSON values, and arrays, by name."""
