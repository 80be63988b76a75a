"""The identity of a compiled model: a hash that is the same wherever and whenever the same model is compiled."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from simreel.scene.engines.callbacks import empty_model

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["digest", "model_values"]

# Where the files of the assets lie on the machine that compiled the model, and what is as long as these names.
_PATHS = {"paths", "npaths", "nbuffer", "tex_contenttypeadr"}
# Of the compiler's history, not of the model.
_SIGNATURE = {"signature"}


def digest(model: mujoco.MjModel) -> str:
    """The sha256 of what the model computes with, in lower-case hex.

    Of its arrays, sizes and names, `opt` and `stat`; without the paths of its assets and the `bvh_*` arrays, which
    follow from the others. How it looks from the default camera (`vis`) does not count.
    """
    total = hashlib.sha256()
    for name, value in model_values(model):
        if isinstance(value, bytes):
            total.update(b"%s %d\n" % (name.encode(), len(value)))
            total.update(value)
        else:
            array = np.asarray(value)
            total.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
            total.update(array.tobytes())
    return total.hexdigest()


def model_values(model: mujoco.MjModel) -> Iterator[tuple[str, Any]]:
    """What counts of a model, by name, in a fixed order: arrays (live), bytes and numbers; such as "opt.timestep"."""
    for name in _field_names():
        yield name, getattr(model, name)
    for part in ("opt", "stat"):
        struct = getattr(model, part)
        for name in _public(type(struct)):
            value = getattr(struct, name)
            if isinstance(value, (np.ndarray, int, float)):
                yield f"{part}.{name}", value


@cache
def _field_names() -> tuple[str, ...]:
    empty = empty_model()
    return tuple(
        name
        for name in _public(mujoco.MjModel)
        if isinstance(getattr(empty, name), (np.ndarray, bytes, int))
        and name not in _PATHS | _SIGNATURE
        and not name.endswith("_pathadr")
        and "bvh" not in name
    )


def _public(kind: type) -> list[str]:
    return sorted(name for name in dir(kind) if not name.startswith("_"))
