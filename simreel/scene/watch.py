"""Notices what somebody changes in a model, whose arrays lie in one piece of memory.

| body_ .. light_, flex_ | mesh_, skin_ | hfield_ | tex_ | mat_ .. sensor_ | key_, names, B_, M_, ... |
      a run: compared                     compared            compared
"""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Iterator
from functools import cache
from typing import Any

import mujoco
import numpy as np

__all__ = ["ModelWatch"]

Array = np.ndarray[Any, Any]

# Of the names of fields of mjModel that a step reads and that people change. Meshes, textures and names are not.
_PREFIXES = (
    "qpos0", "qpos_spring", "body_", "jnt_", "dof_", "tree_", "geom_", "site_", "cam_", "light_", "flex", "hfield_",
    "mat_", "pair_", "exclude_", "eq_", "tendon_", "wrap_", "actuator_", "sensor_", "plugin_attr", "numeric_",
)  # fmt: skip
# Bytes between two fields that are compared along with them: padding, and small fields that nobody changes.
_GAP = 4096
_NO_END = 2**64


class ModelWatch:
    """Compares a model with what it was at the last look.

    Args:
        model: that is watched.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        # The runs are views of its memory.
        self._model = model
        self._arrays = dict(_arrays(model))
        self._runs = list(_runs(self._arrays.values()))
        # Bytes are compared 30 times as fast as arrays.
        self._copies = [run.tobytes() for run in self._runs]
        self._known = {name: array.copy() for name, array in self._arrays.items()}
        self._option_names = _option_names()
        self._read_options = operator.attrgetter(*self._option_names)
        self._options = self._option_values()

    def changes(self) -> dict[str, Array]:
        """As `ParameterWatch.changes`."""
        options = self._option_values()
        changed = {}
        if options != self._options:
            for name, value, before in zip(self._option_names, options, self._options, strict=True):
                if value != before:
                    changed[f"opt.{name}"] = np.array(getattr(self._model.opt, name))
            self._options = options
        copies = [run.tobytes() for run in self._runs]
        if copies != self._copies:
            self._copies = copies
            changed |= self._changed_arrays()
        return changed

    def _changed_arrays(self) -> dict[str, Array]:
        changed = {}
        for name, array in self._arrays.items():
            known = self._known[name]
            # As bytes: NaN is no change.
            if array.tobytes() != known.tobytes():
                np.copyto(known, array)
                changed[name] = array.copy()
        return changed

    def _option_values(self) -> tuple[Any, ...]:
        values = self._read_options(self._model.opt)
        return tuple(value.tobytes() if isinstance(value, np.ndarray) else value for value in values)


def _arrays(model: mujoco.MjModel) -> Iterator[tuple[str, Array]]:
    for name in _array_names():
        value = getattr(model, name)
        if isinstance(value, np.ndarray) and value.nbytes:
            yield name, value


def _runs(arrays: Any) -> Iterator[Array]:
    """Views of the memory of all arrays, each of as many of them as lie together."""
    spans = sorted((array.ctypes.data, array.ctypes.data + array.nbytes) for array in arrays)
    start, end = spans[0]
    for first, stop in [*spans[1:], (_NO_END, 0)]:
        if first - end > _GAP:
            yield np.frombuffer((ctypes.c_uint8 * (end - start)).from_address(start), np.uint8)
            start, end = first, stop
        end = max(end, stop)


@cache
def _array_names() -> tuple[str, ...]:
    return tuple(name for name in dir(mujoco.MjModel) if name.startswith(_PREFIXES))


@cache
def _option_names() -> tuple[str, ...]:
    return tuple(name for name in dir(mujoco.MjOption()) if not name.startswith("_"))
