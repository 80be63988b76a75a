"""The layout of MuJoCo's state; the one file of the reel that knows MuJoCo."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, get_args

import numpy as np

from simreel.errors import UnknownNameError
from simreel.reel.layout import Field, Joint, JointType, Layout

if TYPE_CHECKING:
    import mujoco

__all__ = ["layout_from_mujoco"]

_INPUTS = ("ctrl", "qfrc_applied", "xfrc_applied", "eq_active", "mocap_pos", "mocap_quat", "userdata")


def layout_from_mujoco(model: mujoco.MjModel, parts: Iterable[str] | None = None) -> Layout:
    """The layout of a row that `mj_getState` fills: the parts in its order, all float64.

    Args:
        model: the compiled model.
        parts: names of state parts as in `mjtState`, in lower case and without its prefix ("time", "qpos", "qvel",
            "act", "history", "warmstart", "ctrl", ...), in any order. None: the integration state.

    Returns:
        One field for each part that has values in this model, and the table of its joints.

    Raises:
        UnknownNameError: MuJoCo has no such part.
    """
    import mujoco

    bits = {
        name.removeprefix("mjSTATE_").lower(): int(bit)
        for name, bit in mujoco.mjtState.__members__.items()
        # The composite ones change from version to version: only single bits are names of parts.
        if name.startswith("mjSTATE_") and int(bit).bit_count() == 1
    }
    chosen = set(bits) if parts is None else set(parts)
    for name in sorted(chosen - set(bits)):
        raise UnknownNameError("state part", name, bits)
    everything = int(mujoco.mjtState.mjSTATE_INTEGRATION)
    fields = []
    for name, bit in sorted(bits.items(), key=lambda item: item[1]):
        width = mujoco.mj_stateSize(model, bit)
        if name in chosen and width and (parts is not None or bit & everything):
            unit = "s" if name == "time" else ""
            fields.append(Field(name, np.dtype("f8"), width, unit=unit, kind=_kind(name)))
    has_joints = {"qpos", "qvel"} <= {field.name for field in fields}
    return Layout(tuple(fields), _joints(model) if has_joints else ())


def _kind(name: str) -> str:
    if name in _INPUTS:
        return "input"
    return "warmstart" if name == "warmstart" else "state"


def _joints(model: mujoco.MjModel) -> tuple[Joint, ...]:
    # The names stand in the order of mjtJoint's numbers.
    names: tuple[JointType, ...] = get_args(JointType)
    table = zip(model.jnt_type.tolist(), model.jnt_qposadr.tolist(), model.jnt_dofadr.tolist(), strict=True)
    return tuple(Joint(names[number], qposadr, dofadr) for number, qposadr, dofadr in table)
