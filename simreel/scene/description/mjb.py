"""MuJoCo's own form of a compiled model (MJB): exact to the bit, and read by the version of MuJoCo that wrote it."""

from __future__ import annotations

import struct
from functools import cache

import mujoco
import numpy as np

from simreel.errors import SceneFileError
from simreel.scene.engines.callbacks import empty_model
from simreel.scene.messages import collected_messages
from simreel.scene.parts import MODEL_ERRORS, reason

__all__ = ["MODEL_NAME", "load_mjb", "save_mjb"]

MODEL_NAME = "model.mjb"
"""Name of the model among the payloads of a file."""

# Five int32: what it is, bytes of a number, how many sizes, version, how many arrays. Then the sizes, int64.
_HEADER = struct.Struct("<5i")
_COUNT_AT, _VERSION_AT = 2, 3
_SIZE = struct.Struct("<q")

# A size of things that only data has, and of its memory [bytes]: nothing in the file bounds them.
_MOST_THINGS, _MOST_MEMORY = 2**20, 2**40
# The last sizes are those of memory.
_MEMORY_SIZES = 2

# What MuJoCo does not compare when it loads a model, and would follow out of its memory: the least value, and the sizes
# of what it may point into.
_RANGES: dict[str, tuple[int, tuple[str, ...]]] = {
    "actuator_history": (0, ("nhistory",)),
    "body_treeid": (-1, ("ntree",)),
    "bvh_child": (-1, ("nbvh",)),
    "bvh_nodeid": (-1, ("nbody", "ngeom", "nflexelem", "nflexvert", "nmeshface")),
    "dof_treeid": (-1, ("ntree",)),
    "flex_stiffnessadr": (-1, ("nflexstiffness",)),
    "flex_vertbodyid": (-1, ("nbody",)),
    "jnt_actuatorid": (-1, ("nactuator",)),
    "sensor_history": (0, ("nhistory",)),
}
_CODES: dict[str, tuple[int, int]] = {"flex_dim": (1, 3), "geom_type": (0, int(mujoco.mjtGeom.mjGEOM_SDF))}
"""Least and greatest value."""


def save_mjb(model: mujoco.MjModel) -> bytes:
    """The model as MJB, without the paths of its assets."""
    buffer = np.zeros(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    raw = buffer.tobytes()
    if any(model.paths):
        # The last text in it: names and the user's texts stand before the paths.
        start = raw.rindex(model.paths)
        raw = raw[:start] + bytes(len(model.paths)) + raw[start + len(model.paths) :]
    return raw


def load_mjb(raw: bytes) -> mujoco.MjModel:
    """The model of an MJB.

    MuJoCo compares its sizes and references; what it believes is checked here before. That finds damage, and is no
    shield against an MJB that somebody made to do harm.

    Raises:
        SceneFileError: it is damaged, or of another version of MuJoCo.
    """
    _check_header(raw)
    try:
        with collected_messages(), mujoco.MjVfs() as files:
            files[MODEL_NAME] = raw
            model = mujoco.MjModel.from_binary_path(MODEL_NAME, vfs=files)
    except MODEL_ERRORS as error:
        raise SceneFileError(MODEL_NAME, reason(error)) from None
    _check_ranges(model)
    return model


def _check_header(raw: bytes) -> None:
    needed = _own_header()
    start = _HEADER.size + needed[_COUNT_AT] * _SIZE.size
    if len(raw) < start:
        raise SceneFileError(MODEL_NAME, f"{len(raw)} bytes are no model")
    found = _HEADER.unpack_from(raw)
    if found[0] == needed[0] and found[_VERSION_AT] != needed[_VERSION_AT]:
        version, own = found[_VERSION_AT], needed[_VERSION_AT]
        raise SceneFileError(MODEL_NAME, f"it is of MuJoCo version {version}, and this is {own}")
    if found != needed:
        raise SceneFileError(MODEL_NAME, "its first bytes are not those of a model")
    sizes = [size for (size,) in _SIZE.iter_unpack(raw[_HEADER.size : start])]
    for position, size in enumerate(sizes):
        is_memory = position >= len(sizes) - _MEMORY_SIZES
        most = _MOST_MEMORY if is_memory else max(len(raw), _MOST_THINGS)
        # -1 leaves a size to MuJoCo.
        if not -1 <= size <= most:
            raise SceneFileError(MODEL_NAME, f"a size of {size} in a model of {len(raw)} bytes")


def _check_ranges(model: mujoco.MjModel) -> None:
    allowed = {name: (least, max(getattr(model, size) for size in sizes)) for name, (least, sizes) in _RANGES.items()}
    for name, (least, most) in (allowed | _CODES).items():
        values = getattr(model, name)
        if values.size and not (least <= values.min() and values.max() <= most):
            raise SceneFileError(MODEL_NAME, f"{name} has a value out of {least} to {most}")


@cache
def _own_header() -> tuple[int, ...]:
    return _HEADER.unpack_from(save_mjb(empty_model()))
