"""PARM and NOTE: what belongs to a frame but is no part of it, as a JSON value and arrays.

JSON length u32 | JSON | the arrays, each at the next multiple of 8
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simreel.errors import FieldError
from simreel.reel.limits import MAX_JSON, MAX_SIDE
from simreel.reel.text import dump_json, load_json

__all__ = ["Side", "json_parts", "pack_side", "split_json", "unpack_side"]

_DTYPES = {name: np.dtype(f"<{name}") for name in ("f8", "f4", "i8", "i4")}
_DTYPES |= {"u1": np.dtype(np.uint8), "bool": np.dtype(np.bool_)}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_LENGTH = struct.Struct("<I")
# NumPy makes no arrays of more dimensions.
_MAX_NDIM = 64


@dataclass(frozen=True)
class Side:
    """A parameter record or a note."""

    frame: int
    """The first frame that it holds for, or the one that it is about."""
    value: Any
    """JSON."""
    arrays: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)


def json_parts(value: Any, what: str) -> bytes:
    """A JSON value with its length before it.

    Raises:
        FieldError: JSON cannot hold it.
    """
    raw = dump_json(value, what)
    return _LENGTH.pack(len(raw)) + raw


def split_json(body: bytes) -> tuple[Any, int]:
    """The JSON at the start of a body, and where it ends.

    Raises:
        ValueError: there is none.
    """
    size = _LENGTH.unpack_from(body)[0] if len(body) >= _LENGTH.size else MAX_JSON
    end = _LENGTH.size + size
    if end > len(body):
        raise ValueError("JSON that passes the end of its record")
    return load_json(body[_LENGTH.size : end]), end


def pack_side(value: Any, arrays: Mapping[str, Any], what: str) -> list[bytes]:
    """The parts of a body.

    Args:
        value: JSON.
        arrays: by name; of the dtypes that fields may have, any shape.
        what: its name in the text of an error.

    Raises:
        FieldError: something cannot be stored, or is too large.
    """
    if not isinstance(arrays, Mapping) or not all(isinstance(name, str) for name in arrays):
        raise FieldError(what, f"arrays {arrays!r:.100}", "arrays by name, which is text, are needed")
    given = {name: _array(f"{what} {name!r}", array) for name, array in arrays.items()}
    entries = []
    for name, array in given.items():
        dtype = array.dtype.newbyteorder("<")
        if dtype not in _NAMES:
            raise FieldError(
                f"{what} {name!r}", f"dtype {array.dtype}", f"one of {', '.join(_NAMES.values())} is needed"
            )
        entries.append({"name": name, "dtype": _NAMES[dtype], "shape": list(array.shape)})
    parts = [json_parts({"value": value, "arrays": entries}, what)]
    at = len(parts[0])
    for array in given.values():
        raw = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        parts += [bytes(-at % 8), raw]
        at += -at % 8 + len(raw)
    if at > MAX_SIDE:
        raise FieldError(what, f"{at} bytes", f"at most {MAX_SIDE} are allowed")
    return parts


def _array(what: str, given: Any) -> np.ndarray[Any, Any]:
    try:
        return np.asarray(given)
    except ValueError as error:
        raise FieldError(what, f"no array ({error})", "lists in it must be of one length") from None


def unpack_side(body: bytes, frame: int) -> Side:
    """What a body holds; the arrays are read-only.

    Raises:
        ValueError: it is malformed.
    """
    values, at = split_json(body)
    if not isinstance(values, dict) or not isinstance(values.get("arrays"), list) or "value" not in values:
        raise ValueError("a record without 'value' and 'arrays'")
    arrays = {}
    for entry in values["arrays"]:
        name, dtype, shape = _checked(entry)
        at += -at % 8
        count = math.prod(shape)
        end = at + count * dtype.itemsize
        if end > len(body):
            raise ValueError(f"array {name!r} passes the end of its record")
        arrays[name] = np.frombuffer(body, dtype, count, at).reshape(shape) if count else np.empty(shape, dtype)
        at = end
    return Side(frame, values["value"], arrays)


def _checked(entry: Any) -> tuple[str, np.dtype[Any], list[int]]:
    if not isinstance(entry, dict):
        raise ValueError("an array that is not described")  # noqa: TRY004 - it is the file that is wrong
    name, dtype, shape = entry.get("name"), entry.get("dtype"), entry.get("shape")
    if not isinstance(name, str) or not isinstance(dtype, str) or dtype not in _DTYPES:
        raise ValueError(f"an array of dtype {dtype!r}")
    # The product of the others is bounded below by no array's bytes where one is 0.
    if (
        not isinstance(shape, list)
        or len(shape) > _MAX_NDIM
        or any(type(size) is not int or not 0 <= size <= MAX_SIDE for size in shape)
        or math.prod(size or 1 for size in shape) > MAX_SIDE
    ):
        raise ValueError(f"array {name!r} of shape {shape!r}")
    return name, _DTYPES[dtype], shape
