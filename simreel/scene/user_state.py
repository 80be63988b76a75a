"""State of the user's own, as JSON and arrays.

JSON of a file    | {"rng": {"key": {"$array": ["<u8", [624]]}, "pos": 3}}
its arrays        | "rng/key": the values, or their bytes where a reel has no such dtype
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from simreel.errors import FieldError, OptionsError

__all__ = ["UserStates"]

Array = np.ndarray[Any, Any]

_MARK = "$array"
_STORED = frozenset({"<f8", "<f4", "<i8", "<i4", "|u1", "|b1"})


class UserStates:
    """The pairs of functions that read states and put them back, by name."""

    def __init__(self) -> None:
        self._functions: dict[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {}
        self._waiting: tuple[Mapping[str, Any], Mapping[str, Array]] = ({}, {})

    def __len__(self) -> int:
        return len(self._functions)

    def add(self, name: str, get: Callable[[], Any], put: Callable[[Any], object]) -> None:
        """Adds a pair, and puts back what waits for it.

        Raises:
            OptionsError: the arguments are not what is needed, or another state has that name.
            FieldError: what waits for it does not fit together.
        """
        if not isinstance(name, str) or not name or "/" in name:
            raise OptionsError("add_state", [f"name = {name!r}: a text without / is needed"])
        if name in self._functions:
            raise OptionsError("add_state", [f"name = {name!r}: another state has that name"])
        for what, function in (("get", get), ("set", put)):
            if not callable(function):
                raise OptionsError("add_state", [f"{what} = {function!r}: a function is needed"])
        self._functions[name] = (get, put)
        values, arrays = self._waiting
        if name in values:
            put(_fill(values[name], name, arrays))

    def read(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """All states as they are: JSON values by name, and the arrays in them by their path.

        Raises:
            FieldError: a state has a key that is no text, or a value that is neither JSON nor an array.
        """
        arrays: dict[str, Array] = {}
        values = {name: _strip(get(), name, arrays) for name, (get, _) in self._functions.items()}
        return values, arrays

    def put(self, values: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Hands what `read` gave to those that are here under the same names.

        Raises:
            FieldError: the values do not fit together.
        """
        for name, (_, put) in self._functions.items():
            if name in values:
                put(_fill(values[name], name, arrays))

    def wait(self, values: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """As `put`, for those that are added from now on."""
        self._waiting = values, arrays


def _strip(value: Any, path: str, arrays: dict[str, Array]) -> Any:
    """The value with each array replaced by what tells its dtype and shape."""
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str) or "/" in key or key == _MARK:
                raise FieldError(f"state {path!r}", f"the key {key!r}", "a text without / is needed")
        return {key: _strip(each, f"{path}/{key}", arrays) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_strip(each, f"{path}/{place}", arrays) for place, each in enumerate(value)]
    if isinstance(value, np.generic):
        value = value.item()
    if not hasattr(value, "__array__"):
        if not isinstance(value, str | int | float | None) or (isinstance(value, float) and not math.isfinite(value)):
            found = repr(value) if isinstance(value, float) else f"{type(value).__name__} {value!r:.60}"
            needed = "JSON values and arrays are needed; an array may have inf and NaN"
            raise FieldError(f"state {path!r}", found, needed)
        return value
    array = np.ascontiguousarray(value).reshape(np.shape(value))
    array = array.astype(array.dtype.newbyteorder("<"), copy=True)
    if array.dtype.kind not in "biufc":
        raise FieldError(f"state {path!r}", f"an array of {array.dtype}", "numbers are needed")
    code = array.dtype.str
    arrays[path] = array if code in _STORED else np.frombuffer(array.tobytes(), np.uint8)
    return {_MARK: [code, list(array.shape)]}


def _fill(value: Any, path: str, arrays: Mapping[str, Array]) -> Any:
    if isinstance(value, list):
        return [_fill(each, f"{path}/{place}", arrays) for place, each in enumerate(value)]
    if not isinstance(value, Mapping):
        return value
    if _MARK not in value:
        return {key: _fill(each, f"{path}/{key}", arrays) for key, each in value.items()}
    try:
        code, shape = value[_MARK]
        dtype = np.dtype(str(code))
        if dtype.kind not in "biufc":
            raise ValueError(f"an array of {dtype}")
        return np.frombuffer(arrays[path].tobytes(), dtype).reshape(shape).copy()
    except (KeyError, TypeError, ValueError) as error:
        raise FieldError(f"state {path!r}", "a damaged array", f"it cannot be put back ({error})") from error
