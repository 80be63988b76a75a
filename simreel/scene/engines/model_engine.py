"""What the engines of MuJoCo models have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import mujoco
    import numpy as np

    from simreel.recorders.worlds import WorldIds

__all__ = ["ModelEngine"]


class ModelEngine(ABC):
    """Steps worlds of a `mujoco.MjModel`."""

    n_envs: int
    """Worlds; 0 without worlds."""

    def __init__(self, model: mujoco.MjModel, substeps: int) -> None:
        self.model = model
        self._substeps = substeps

    @property
    def dt(self) -> float:
        """Time of one step [s]: substeps times the model's timestep."""
        return float(self.model.opt.timestep) * self._substeps

    @abstractmethod
    def build(self, n_envs: int) -> None:
        """As `Engine.build`."""

    @abstractmethod
    def step(self) -> None:
        """Advances by `substeps` physics steps.

        Raises:
            UnstableError: MuJoCo found NaN, infinite or huge values, and has reset what they were in.
        """

    @abstractmethod
    def refresh(self) -> None:
        """As `Engine.refresh`."""

    @abstractmethod
    def reset(self, envs_idx: WorldIds | None = None, keyframe: int | str | None = None) -> None:
        """Puts all worlds or some back to the built state, or to a keyframe.

        Raises:
            UnknownNameError: the model has no such keyframe.
        """

    @abstractmethod
    def array(self, name: str) -> np.ndarray[Any, Any]:
        """A live array of a field of `mujoco.MjData`, with worlds (n_envs, ...)."""

    @property
    @abstractmethod
    def state_owners(self) -> list[object]:
        """What data functions read state and inputs of: the MjData, live arrays."""

    @abstractmethod
    def picture_data(self, env: int) -> mujoco.MjData:
        """The data of a world, with poses that belong to its state; to be looked at only.

        Raises:
            FieldError: there is no such world.
        """
