"""What a scene asks of whoever computes the physics."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np

    from simreel.recorders.worlds import WorldIds
    from simreel.reel import Layout

__all__ = ["BlockEngine", "Engine", "SplitEngine"]


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

    def layout(self, exact: bool = True) -> Layout:
        """The fields of a state as a trajectory has them, all float64; with worlds each has the values of all worlds.

        Args:
            exact: all that the next step depends on; False: without what a step can do without.

        Raises:
            SimreelError: the state cannot be read.
        """

    def read_state(self, out: np.ndarray[Any, Any]) -> None:
        """Writes the state that stands to `out`, float64.

        Args:
            out: (values,) in the order of the layout, exact or not by its size; or (n_envs, values of a world).
        """

    def write_state(self, row: np.ndarray[Any, Any], envs_idx: WorldIds | None = None) -> None:
        """Puts a state back; what the row does not have is as after a reset.

        Args:
            row: (values,) float64, with worlds (n_envs, values of a world).
            envs_idx: the worlds that take theirs; None: all.

        Raises:
            FieldError: another shape.
        """

    def describe(self) -> dict[str, Any]:
        """What files keep of the simulator beside its states: "json", a dict of JSON, and "blobs", bytes by name.

        `simreel` writes it and does not read it: a scene of this engine comes back only where the engine is given.
        """


@runtime_checkable
class SplitEngine(Engine, Protocol):
    """An engine that can stop inside a step, where state, inputs and all that is derived from them belong together."""

    def sampled_step(self, sample: Callable[[int], None], step: int) -> None:
        """Advances by one step, and calls `sample(step)` in it while the state is that from which the step starts.

        Controls that are set in `sample` count from the next step on.
        """

    def state_step(self, sample: Callable[[int], None], step: int) -> None:
        """As `sampled_step`, for samples that only read state and inputs."""


@runtime_checkable
class BlockEngine(Engine, Protocol):
    """An engine that can take many steps at once, to the bits that one by one would give."""

    def mark(self) -> Any:
        """What `rewind` needs to come back here; None where steps have to be taken one by one."""

    def skip(self, n: int) -> bool:
        """Advances by `n` steps; False where one by one would tell more: then it is to be rewound."""

    def run(self, mark: Any, rows: np.ndarray[Any, Any]) -> bool:
        """As `skip`, by as many steps as there are rows, and fills them with the states that the steps start from.

        Args:
            mark: of the state that stands.
            rows: (n, values) float64, at least 2, in the order of the layout, exact or not by their size; with worlds
                each field has the values of all worlds.
        """

    def rewind(self, mark: Any, steps: int) -> None:
        """Goes back to what was marked, and from there so many steps on, all of which are known to be good."""
