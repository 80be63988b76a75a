"""What `simreel run` records: arrays of `mujoco.MjData`, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
import typer

from simreel.errors import nearest
from simreel.scene.engines.callbacks import empty_model

if TYPE_CHECKING:
    from simreel.scene import Scene

__all__ = ["DEFAULT_FIELDS", "FieldSource"]

DEFAULT_FIELDS = ("qpos", "qvel", "ctrl")

# MuJoCo keeps these in its arena: their length is that of the contacts, constraints or islands of the step.
_VARYING_PREFIXES = ("efc_", "iefc_", "efm_", "island_", "map_")
_VARYING = {"dof_island", "tree_island", "tendon_efcadr", "iacc", "iacc_smooth", "ifrc_constraint", "ifrc_smooth"}

# A step computes these only for sensors and options that need them.
_UPDATES: dict[str, tuple[Callable[[mujoco.MjModel, mujoco.MjData], None], ...]] = {
    "subtree_linvel": (mujoco.mj_subtreeVel,),
    "subtree_angmom": (mujoco.mj_subtreeVel,),
    "cacc": (mujoco.mj_rnePostConstraint,),
    "cfrc_int": (mujoco.mj_rnePostConstraint,),
    "cfrc_ext": (mujoco.mj_rnePostConstraint,),
    "energy": (mujoco.mj_energyPos, mujoco.mj_energyVel),
}


class FieldSource:
    """The data function of some fields; works from `bind` on.

    Args:
        names: of arrays of `mujoco.MjData`.
        option: where the user has named them.

    Raises:
        typer.BadParameter: a name is no array of `mujoco.MjData`, or one that changes its length.
    """

    def __init__(self, names: Sequence[str], option: str = "--record") -> None:
        self._names = tuple(names)
        known = _arrays()
        for name in names:
            if name not in known:
                raise typer.BadParameter(f"{option} {name}: mujoco.MjData has no such array.{nearest(name, known)}")
            if name in _VARYING or name.startswith(_VARYING_PREFIXES):
                raise typer.BadParameter(
                    f"{option} {name}: its length changes with the contacts; it cannot be recorded"
                )

    def bind(self, scene: Scene) -> None:
        """Takes live views of a built scene. Of the default fields those without values are left out."""
        self._model, self._data = scene.model, scene.data
        views = {name: getattr(self._data, name) for name in self._names}
        if self._names == DEFAULT_FIELDS:
            views = {name: view for name, view in views.items() if view.size}
        self._views: dict[str, np.ndarray[Any, Any]] = views
        self._updates = {update for name in views for update in _UPDATES.get(name, ())}

    def __call__(self) -> dict[str, np.ndarray[Any, Any]]:
        """Live views, brought up to date."""
        for update in self._updates:
            update(self._model, self._data)
        return self._views


def _arrays() -> list[str]:
    empty = mujoco.MjData(empty_model())
    return [name for name in dir(empty) if not name.startswith("_") and isinstance(getattr(empty, name), np.ndarray)]
