"""Which values of parameters a file may give a model: it may come from anybody, and MuJoCo checks none of them.

floats, options         | any
marks and group numbers | any: they are compared, and lead nowhere
flags                   | 0 and 1
kinds and ids           | those that lead to memory of the right kind
all others              | what was recorded with the model
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["allowed_values"]

Array = np.ndarray[Any, Any]
Read = Callable[[str], Array]

_FREE = frozenset({
    "geom_contype", "geom_conaffinity", "geom_priority", "body_contype", "body_conaffinity", "exclude_signature",
    "flex_contype", "flex_conaffinity", "flex_priority",
    "geom_group", "site_group", "tendon_group", "jnt_group", "actuator_group", "flex_group",
})  # fmt: skip


def _members(enum: Any) -> tuple[int, ...]:
    return tuple(int(value) for value in enum.__members__.values())


_CONDIM = (1, 3, 4, 6)
_SAMEFRAME = _members(mujoco.mjtSameFrame)
_KINDS = {
    "geom_condim": _CONDIM,
    "flex_condim": _CONDIM,
    "pair_dim": _CONDIM,
    "body_sameframe": _SAMEFRAME,
    "geom_sameframe": _SAMEFRAME,
    "site_sameframe": _SAMEFRAME,
    "cam_projection": _members(mujoco.mjtProjection),
    # Not those of an image, which needs one.
    "light_type": _members(mujoco.mjtLightType)[: int(mujoco.mjtLightType.mjLIGHT_IMAGE)],
    "tree_sleep_policy": _members(mujoco.mjtSleepPolicy),
}

# Kinds that take each other's place: what they read is there for each of them.
_GAINS = tuple(int(kind) for kind in (mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtGain.mjGAIN_AFFINE))
_BIASES = tuple(int(kind) for kind in (mujoco.mjtBias.mjBIAS_NONE, mujoco.mjtBias.mjBIAS_AFFINE))
_DYNAMICS = tuple(
    int(kind) for kind in (mujoco.mjtDyn.mjDYN_INTEGRATOR, mujoco.mjtDyn.mjDYN_FILTER, mujoco.mjtDyn.mjDYN_FILTEREXACT)
)
_OF_BODIES = tuple(int(kind) for kind in (mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtEq.mjEQ_WELD))
_EXCHANGED = {
    "actuator_gaintype": (*_GAINS, int(mujoco.mjtGain.mjGAIN_MUSCLE)),
    "actuator_biastype": (*_BIASES, int(mujoco.mjtBias.mjBIAS_MUSCLE)),
    "actuator_dyntype": _DYNAMICS,
    "eq_type": _OF_BODIES,
}

# The first number that is allowed, and the size of the model that is above the last.
_IDS = {
    "geom_matid": (-1, "nmat"),
    "site_matid": (-1, "nmat"),
    "tendon_matid": (-1, "nmat"),
    "flex_matid": (-1, "nmat"),
    "mat_texid": (-1, "ntex"),
    "light_texid": (-1, "ntex"),
    "cam_bodyid": (0, "nbody"),
    "light_bodyid": (0, "nbody"),
}

_MESH, _FIELD, _SDF = (
    int(kind) for kind in (mujoco.mjtGeom.mjGEOM_MESH, mujoco.mjtGeom.mjGEOM_HFIELD, mujoco.mjtGeom.mjGEOM_SDF)
)
_SHAPES = tuple(kind for kind in range(_MESH) if kind != _FIELD)
_TARGETED = (int(mujoco.mjtCamLight.mjCAMLIGHT_TARGETBODY), int(mujoco.mjtCamLight.mjCAMLIGHT_TARGETBODYCOM))
_MODES = _members(mujoco.mjtCamLight)


def allowed_values(
    model: mujoco.MjModel, name: str, values: Mapping[str, Array], recorded: Mapping[str, Array]
) -> Array:
    """Which values of a parameter may be given to a model, bool of its shape.

    Args:
        model: that they are for.
        name: of the parameter.
        values: of all parameters that are given together, in the shapes of the model.
        recorded: what the model that was recorded has for them.
    """
    value, before = values[name], recorded[name]
    if before.dtype.kind == "f" or name.startswith("opt.") or name in _FREE:
        return np.ones(value.shape, bool)

    def read(other: str, source: Mapping[str, Array] = values) -> Array:
        found: Array = source[other] if other in source else getattr(model, other)
        return found

    if name in ("geom_type", "geom_dataid"):
        return _shapes(read, lambda other: read(other, recorded))
    same: Array = value == before
    if before.dtype in (np.dtype(bool), np.dtype(np.uint8)) and name not in _KINDS:
        return same | np.isin(value, (0, 1))
    if name in _KINDS:
        return same | np.isin(value, _KINDS[name])
    if name in _EXCHANGED:
        kinds = _EXCHANGED[name]
        return same | (np.isin(value, kinds) & np.isin(before, kinds))
    if name in _IDS:
        first, size = _IDS[name]
        same |= (value >= first) & (value < getattr(model, size))
        return same
    if name.endswith(("_mode", "_targetbodyid")) and name.startswith(("cam_", "light_")):
        return same | _targets(model, read, name.partition("_")[0])
    if name in ("eq_obj1id", "eq_obj2id"):
        return same | _objects(model, read, name)
    return same


def _shapes(read: Read, recorded: Read) -> Array:
    """Which geoms may have the type and the mesh, or height field, that they have."""
    kind, data = read("geom_type"), read("geom_dataid")
    before, data_before = recorded("geom_type"), recorded("geom_dataid")
    fits: Array = (kind == before) & (data == data_before)
    fits |= np.isin(kind, _SHAPES) & ((data == -1) | np.isin(data, data_before))
    for with_data in (_MESH, _FIELD):
        # Of others the model may not have what a collision needs.
        fits |= (kind == with_data) & np.isin(data, data_before[(before == with_data) & (data_before >= 0)])
    return fits


def _targets(model: mujoco.MjModel, read: Read, kind: str) -> Array:
    """Which cameras or lights may have the mode and the target that they have."""
    mode, target = read(f"{kind}_mode"), read(f"{kind}_targetbodyid")
    first = np.where(np.isin(mode, _TARGETED), 0, -1)
    fits: Array = np.isin(mode, _MODES) & (target >= first) & (target < model.nbody)
    return fits


def _objects(model: mujoco.MjModel, read: Read, name: str) -> Array:
    """Which constraints may have the bodies, sites, joints or tendons that they have."""
    kind, of, value = read("eq_type"), read("eq_objtype"), read(name)
    bound = np.zeros(value.shape, np.int64)
    for objects, size in ((mujoco.mjtObj.mjOBJ_BODY, model.nbody), (mujoco.mjtObj.mjOBJ_SITE, model.nsite)):
        bound[np.isin(kind, _OF_BODIES) & (of == int(objects))] = size
    bound[kind == int(mujoco.mjtEq.mjEQ_JOINT)] = model.njnt
    bound[kind == int(mujoco.mjtEq.mjEQ_TENDON)] = model.ntendon
    # A joint or a tendon may be held alone; of no other kind -1 is an object.
    alone = name == "eq_obj2id" and ~np.isin(kind, _OF_BODIES) & (bound > 0)
    fits: Array = (value < bound) & ((value >= 0) | (alone & (value == -1)))
    return fits
