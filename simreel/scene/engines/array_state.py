"""The state of a simulator that is no MuJoCo model, one array or several, as a row of float64."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from simreel.errors import FieldError
from simreel.reel import Field, Layout

__all__ = ["ArrayState"]

Array = np.ndarray[Any, Any]

# What stands beside the state in each frame.
_TAKEN = ("step", "episode")


class ArrayState:
    """Turns a state into rows and back; the first one fixes names, shapes and dtypes.

    Args:
        state: an array, or a dict of arrays.
        n_envs: worlds; each array has a leading axis of as many. 0 without worlds.
        units: of the keys.

    Raises:
        FieldError: the state has no numbers, or no leading axis of the worlds.
    """

    def __init__(self, state: Any, n_envs: int = 0, units: Mapping[str, str] | None = None) -> None:
        self._is_bare = not isinstance(state, Mapping)
        self._n_envs = n_envs
        self._first = {key: _numbers(key, value).copy() for key, value in self._named(state).items()}
        fields = []
        for key, array in self._first.items():
            if not isinstance(key, str):
                raise FieldError("state", f"key {key!r}", "text is needed")
            if n_envs and array.shape[:1] != (n_envs,):
                raise FieldError(f"state {key!r}", f"shape {array.shape}", f"({n_envs}, ...) is needed, one a world")
            name = f"state/{key}" if key in _TAKEN or key.startswith("channel/") else key
            fields.append(Field(name, np.dtype(np.float64), array.size, (units or {}).get(key, ""), "state"))
        if not any(field.width for field in fields):
            found = f"shape {self._first['state'].shape}" if self._is_bare else repr(state)
            raise FieldError("state", found, "at least one number is needed, in an array or a dict of arrays")
        self.layout = Layout(tuple(fields))
        width = sum(field.width for field in fields)
        self._row_shape = (n_envs, width // n_envs) if n_envs else (width,)

    def read(self, state: Any, out: Array) -> None:
        """Writes a state to `out`, as `Engine.read_state`.

        Raises:
            FieldError: it is not like the first one, or float64 cannot hold it.
        """
        named, end = self._like_first(state), 0
        for key, first in self._first.items():
            array = named[key]
            # As at the first time, as a rule: then there is nothing to check.
            if not (array.__class__ is np.ndarray and array.dtype is first.dtype and array.shape == first.shape):
                array = _numbers(key, array, first.shape)
            columns = array.reshape(self._n_envs, -1) if out.ndim > 1 else array.reshape(-1)
            start, end = end, end + columns.shape[-1]
            out[..., start:end] = columns
            if array.dtype.kind in "iu" and not np.array_equal(out[..., start:end].astype(array.dtype), columns):
                raise FieldError(f"state {key!r}", f"{array.dtype} beyond 2^53", "values that float64 holds are needed")

    def row(self, state: Any) -> Array:
        """A state as `merge` takes it, (values,) float64, with worlds (n_envs, values of a world).

        Raises:
            FieldError: as `read`.
        """
        out = np.empty(self._row_shape)
        self.read(state, out)
        return out

    def merge(self, row: Array, state: Any, envs_idx: Array | None) -> Any:
        """The state that a row holds, for `set_state`.

        Args:
            row: as `Engine.write_state` takes it.
            state: the one that stands; worlds that are not among `envs_idx` keep theirs.
            envs_idx: None: all worlds.

        Raises:
            FieldError: the row does not fit.
        """
        rows = np.asarray(row, np.float64)
        if rows.shape != self._row_shape:
            raise FieldError("state", f"shape {rows.shape}", f"{self._row_shape} is needed")
        is_partial = envs_idx is not None and self._n_envs > 0
        standing, end, merged = self._like_first(state) if is_partial else {}, 0, {}
        for key, first in self._first.items():
            width = first.size // max(1, self._n_envs)
            start, end = end, end + width
            value = rows[..., start:end].reshape(first.shape).astype(first.dtype)
            if is_partial:
                kept = _numbers(key, standing[key], first.shape).copy()
                kept[envs_idx] = value[envs_idx]
                value = kept
            merged[key] = value
        return merged["state"] if self._is_bare else merged

    def _like_first(self, state: Any) -> Mapping[str, Any]:
        named = self._named(state)
        if named.keys() != self._first.keys():
            raise FieldError("state", f"keys {list(named)}", f"{list(self._first)} are needed, as at the first time")
        return named

    def _named(self, state: Any) -> Mapping[str, Any]:
        if self._is_bare:
            return {"state": state}
        # A dict first: to ask the abstract class takes as long as the rest.
        if not (isinstance(state, dict) or isinstance(state, Mapping)):  # noqa: SIM101
            raise FieldError("state", type(state).__name__, f"a dict of {list(self._first)} is needed")
        return state


def _numbers(key: object, value: Any, shape: tuple[int, ...] | None = None) -> Array:
    try:
        array = np.asarray(value)
    except ValueError:
        raise FieldError(f"state {key!r}", "rows of different lengths", "an array of numbers is needed") from None
    if array.dtype.kind not in "biuf":
        raise FieldError(f"state {key!r}", f"{array.dtype}", "numbers are needed")
    if shape is not None and array.shape != shape:
        raise FieldError(f"state {key!r}", f"shape {array.shape}", f"{shape} is needed, as at the first time")
    return array
