"""Notices what somebody changes in a model: its arrays lie in one piece of memory, its options in another.

| body_ .. light_, flex_ | mesh_, skin_ | hfield_ | tex_ | mat_ .. sensor_ | key_, names, B_, M_, ... |
      a run: compared                     compared            compared
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import mujoco
import numpy as np

from simreel.scene.engines.callbacks import empty_model

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
# Bytes around the gravity that are mjModel's own for sure: sizes of arrays stand before its options, and some hundred
# addresses behind.
_BEFORE, _BEHIND = 256, 1024


class ModelWatch:
    """Compares a model with what it was at the last look.

    Args:
        model: that is watched.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        # The runs are views of its memory.
        self._model = model
        self._arrays = dict(_arrays(model))
        spans = [_options_span(model), *_spans(self._arrays.values())]
        self._runs = [_view(start, end) for start, end in spans]
        # A bytearray is compared in place; of bytes and arrays a copy or a result would be made first.
        self._copies = [bytearray(run) for run in self._runs]
        self._known = {name: value.tobytes() for name, value in self._values()}

    def changes(self) -> dict[str, Array]:
        """As `ParameterWatch.changes`."""
        for run, copy in zip(self._runs, self._copies, strict=True):
            if copy != run:
                return self._changed()
        return {}

    def _changed(self) -> dict[str, Array]:
        for run, copy in zip(self._runs, self._copies, strict=True):
            copy[:] = run
        changed = {}
        for name, value in self._values():
            # As bytes: NaN is no change.
            raw = value.tobytes()
            if raw != self._known[name]:
                self._known[name] = raw
                changed[name] = value.copy()
        return changed

    def _values(self) -> Iterator[tuple[str, Array]]:
        for name in _option_names():
            yield f"opt.{name}", np.asarray(getattr(self._model.opt, name))
        yield from self._arrays.items()


def _view(start: int, end: int) -> memoryview:
    return memoryview((ctypes.c_uint8 * (end - start)).from_address(start))


def _arrays(model: mujoco.MjModel) -> Iterator[tuple[str, Array]]:
    for name in _array_names():
        value = getattr(model, name)
        if isinstance(value, np.ndarray) and value.nbytes:
            yield name, value


def _spans(arrays: Iterable[Array]) -> Iterator[tuple[int, int]]:
    """First address and end of the memory of all arrays, of as many at once as lie together."""
    spans = sorted((array.ctypes.data, array.ctypes.data + array.nbytes) for array in arrays)
    start, end = spans[0]
    for first, stop in [*spans[1:], (_NO_END, 0)]:
        if first - end > _GAP:
            yield start, end
            start, end = first, stop
        end = max(end, stop)


def _options_span(model: mujoco.MjModel) -> tuple[int, int]:
    """First address and end of its options."""
    gravity = model.opt.gravity.ctypes.data
    first, stop = _options_place()
    return gravity + first, gravity + stop


@cache
def _options_place() -> tuple[int, int]:
    """Where the options stand, counted from the gravity [bytes]: the bytes that change with them tell."""
    model = empty_model()
    options = model.opt
    gravity = options.gravity.ctypes.data
    memory = _view(gravity - _BEFORE, gravity + _BEHIND)
    before = np.array(memory)
    for name in _option_names():
        if isinstance(value := getattr(options, name), np.ndarray):
            value += 1
        else:
            setattr(options, name, value + 1)
    places = np.flatnonzero(before != np.array(memory))
    # Of a number not all bytes have changed.
    return int(places[0]) // 8 * 8 - _BEFORE, int(places[-1]) // 8 * 8 + 8 - _BEFORE


@cache
def _array_names() -> tuple[str, ...]:
    return tuple(name for name in dir(mujoco.MjModel) if name.startswith(_PREFIXES))


@cache
def _option_names() -> tuple[str, ...]:
    return tuple(name for name in dir(mujoco.MjOption()) if not name.startswith("_"))
