"""Which parts of MuJoCo's state stand in a row, and where.

one world       | time | qpos | qvel | ...                           as mj_getState gives it
many worlds     | time of world 0, 1, ... | qpos of world 0, 1, ...  as a frame of a trajectory has it
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from simreel.errors import FieldError
from simreel.reel import Joint, Layout, layout_from_mujoco

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["INTEGRATION", "StateParts"]

INTEGRATION = int(mujoco.mjtState.mjSTATE_INTEGRATION)
"""All that the next step depends on, unless the model sleeps."""

# What a compact row leaves out. A step computes both anew, to other last bits.
_OMITTED = int(mujoco.mjtState.mjSTATE_WARMSTART) | int(mujoco.mjtState.mjSTATE_HISTORY)


class StateParts:
    """The exact and the compact rows of a model.

    Args:
        model: the compiled model.
        n_envs: worlds; 0 without worlds.
    """

    def __init__(self, model: mujoco.MjModel, n_envs: int = 0) -> None:
        self._model = model
        self._n_envs = n_envs
        signatures = (INTEGRATION & ~_OMITTED, INTEGRATION)
        self.signatures = {mujoco.mj_stateSize(model, signature): signature for signature in signatures}
        """What mj_getState is asked for, by the values of a world's row."""
        self._layouts: dict[bool, Layout] = {}

    def _world_layout(self, exact: bool) -> Layout:
        if exact not in self._layouts:
            self._layouts[exact] = layout_from_mujoco(self._model, None if exact else _compact(self._model))
        return self._layouts[exact]

    def layout(self, exact: bool) -> Layout:
        """The layout of a frame: each field has the values of world 0, then those of world 1."""
        layout = self._world_layout(exact)
        if not self._n_envs:
            return layout
        fields = tuple(replace(field, width=self._n_envs * field.width) for field in layout.fields)
        joints = [
            Joint(joint.type, joint.qposadr + world * self._model.nq, joint.dofadr + world * self._model.nv)
            for world in range(self._n_envs)
            for joint in layout.joints
        ]
        return Layout(fields, tuple(joints))

    def columns(self, width: int) -> Sequence[slice]:
        """Where each field of a row of that many values stands among the integration state of a world.

        Raises:
            FieldError: no row has so many values.
        """
        exact = self.signature(width) == INTEGRATION
        names = {field.name for field in self._world_layout(exact).fields}
        found, end = [], 0
        for field in self._world_layout(True).fields:
            start, end = end, end + field.width
            if field.name in names:
                found.append(slice(start, end))
        return found

    def signature(self, width: int) -> int:
        """What `mj_setState` takes a row of that many values as.

        Raises:
            FieldError: no row has so many values.
        """
        try:
            return self.signatures[width]
        except KeyError:
            allowed = " or ".join(map(str, self.signatures))
            raise FieldError("state", f"{width} values", f"{allowed} are needed") from None

    def row(self, row: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
        """A row, or one for each world, as MuJoCo takes it.

        Raises:
            FieldError: another shape.
        """
        array = np.ascontiguousarray(row, np.float64)
        lead = (self._n_envs,) if self._n_envs else ()
        if array.ndim != 1 + len(lead) or array.shape[:-1] != lead:
            raise FieldError("state", f"shape {array.shape}", f"{(*lead, max(self.signatures))} is needed")
        return array


def _compact(model: mujoco.MjModel) -> list[str]:
    omitted = {field.name for field in layout_from_mujoco(model, ("warmstart", "history")).fields}
    return [field.name for field in layout_from_mujoco(model).fields if field.name not in omitted]
