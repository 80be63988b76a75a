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
        self._first = {key: np.array(value) for key, value in self._named(state).items()}
        fields = []
        for key, array in self._first.items():
            if array.dtype.kind not in "biuf":
                raise FieldError(f"state {key!r}", f"{array.dtype}", "numbers are needed")
            if n_envs and array.shape[:1] != (n_envs,):
                raise FieldError(f"state {key!r}", f"shape {array.shape}", f"({n_envs}, ...) is needed, one a world")
            name = f"state/{key}" if key in _TAKEN or key.startswith("channel/") else key
            fields.append(Field(name, np.dtype(np.float64), array.size, (units or {}).get(key, ""), "state"))
        self.layout = Layout(tuple(fields))
        self._width = sum(field.width for field in fields)

    def read(self, state: Any, out: Array) -> None:
        """Writes a state to `out`, as `Engine.read_state`.

        Raises:
            FieldError: it is not like the first one, or float64 cannot hold it.
        """
        named, end = self._named(state), 0
        if named.keys() != self._first.keys():
            raise FieldError("state", f"keys {list(named)}", f"{list(self._first)} are needed, as at the first time")
        for key, first in self._first.items():
            array = np.asarray(named[key])
            if array.shape != first.shape:
                raise FieldError(
                    f"state {key!r}", f"shape {array.shape}", f"{first.shape} is needed, as at the first time"
                )
            columns = array.reshape(self._n_envs, -1) if out.ndim > 1 else array.reshape(-1)
            start, end = end, end + columns.shape[-1]
            out[..., start:end] = columns
            if array.dtype.kind in "iu" and not np.array_equal(out[..., start:end].astype(array.dtype), columns):
                raise FieldError(f"state {key!r}", f"{array.dtype} beyond 2^53", "values that float64 holds are needed")

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
        needed = (self._n_envs, self._width // self._n_envs) if self._n_envs else (self._width,)
        if rows.shape != needed:
            raise FieldError("state", f"shape {rows.shape}", f"{needed} is needed")
        standing, end, merged = self._named(state), 0, {}
        for key, first in self._first.items():
            width = first.size // max(1, self._n_envs)
            start, end = end, end + width
            value = rows[..., start:end].reshape(first.shape).astype(first.dtype)
            if envs_idx is not None and self._n_envs:
                kept = np.array(standing[key])
                kept[envs_idx] = value[envs_idx]
                value = kept
            merged[key] = value
        return merged["state"] if self._is_bare else merged

    def _named(self, state: Any) -> Mapping[str, Any]:
        return {"state": state} if self._is_bare else state
