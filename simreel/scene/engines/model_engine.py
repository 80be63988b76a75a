"""What the engines of MuJoCo models have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any

import mujoco

from simreel.scene.engines.state_parts import StateParts

if TYPE_CHECKING:
    import numpy as np

    from simreel.recorders.worlds import WorldIds
    from simreel.reel import Layout

__all__ = ["ModelEngine"]

_SLEEP = int(mujoco.mjtEnableBit.mjENBL_SLEEP | mujoco.mjtEnableBit.mjENBL_IPC)


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

    @property
    def sleeps(self) -> bool:
        """Whether the model may put bodies to sleep, or keeps other things from step to step that no state row has."""
        return bool(self.model.opt.enableflags & _SLEEP)

    @cached_property
    def state_parts(self) -> StateParts:
        """The rows of this model's state."""
        return StateParts(self.model, self.n_envs)

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
    def model_changed(self) -> None:
        """Hears that parameters of `model` have changed.

        Raises:
            SceneStateError: the worlds have parameters of their own.
        """

    @abstractmethod
    def forgive(self, envs_idx: WorldIds | None) -> None:
        """Hears that somebody else resets worlds, or all, in which NaN, infinite or huge values were found."""

    @abstractmethod
    def refresh(self) -> None:
        """As `Engine.refresh`."""

    @abstractmethod
    def reset(self, envs_idx: WorldIds | None = None, keyframe: int | str | None = None) -> None:
        """Puts all worlds or some back to the built state, or to a keyframe.

        Raises:
            UnknownNameError: the model has no such keyframe.
        """

    def layout(self, exact: bool = True) -> Layout:
        """As `Engine.layout`: the integration state; not exact, without warm start and history."""
        return self.state_parts.layout(exact)

    @abstractmethod
    def read_state(self, out: np.ndarray[Any, Any]) -> None:
        """As `Engine.read_state`."""

    @abstractmethod
    def write_state(self, row: np.ndarray[Any, Any], envs_idx: WorldIds | None = None) -> None:
        """As `Engine.write_state`."""

    def describe(self) -> dict[str, Any]:
        """As `Engine.describe`: the compiled model. `describe_scene` tells more, and what it was compiled from."""
        from simreel.scene.description.digest import digest
        from simreel.scene.description.mjb import MODEL_NAME, save_mjb

        values = {"engine_version": mujoco.__version__, "digest": digest(self.model)}
        return {"json": values, "blobs": {MODEL_NAME: save_mjb(self.model)}}

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
