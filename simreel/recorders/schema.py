"""Names, shapes and dtypes of a recorder's samples, fixed by the first one, and samples as bytes.

A sample travels as one `bytes` object: the values of its columns in C order, one after another, then each text as a
length (u32, little endian) and its UTF-8 bytes.

    | column 0 | column 1 | ... | length | text 0 | length | text 1 | ...
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simreel.errors import SampleError

__all__ = ["Column", "Schema"]

_ALLOWED = "a number, bool, str, array, sequence of numbers, or a dict of these is needed"
_TEXT = np.dtypes.StringDType()
_LENGTH = struct.Struct("<I")
_FLOAT = struct.Struct("=d")

Pack = Callable[[Any], bytes]


@dataclass(frozen=True)
class Column:
    """One named value of each sample."""

    key: str | None
    """None where the data function returns a value without keys."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def is_text(self) -> bool:
        """Whether the values are str."""
        return self.dtype is _TEXT

    @property
    def nbytes(self) -> int:
        """Bytes of one value; 0 for text."""
        return 0 if self.is_text else self.dtype.itemsize * int(np.prod(self.shape, dtype=np.int64))


class Schema:
    """The columns of a recorder's samples, in the order of the first sample."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = tuple(columns)
        self._keys = {column.key for column in self.columns}
        self._arrays = [c for c in self.columns if not c.is_text]
        self._texts = [c for c in self.columns if c.is_text]
        self._row_bytes = sum(c.nbytes for c in self._arrays)

    @classmethod
    def of(cls, data: Any) -> Schema:
        """The schema that the first sample fixes.

        Raises:
            SampleError: the data holds what cannot be recorded.
        """
        columns = []
        for key, value in _flatten(data).items():
            if isinstance(value, str):
                columns.append(Column(key, _TEXT, ()))
            else:
                array = _as_array(key, value)
                columns.append(Column(key, array.dtype, array.shape))
        return cls(columns)

    @property
    def has_text(self) -> bool:
        """Whether samples differ in size."""
        return bool(self._texts)

    def single_array(self) -> tuple[np.dtype[Any] | None, tuple[int, ...]]:
        """Dtype and shape where the data is one array without a key, else None and ()."""
        if self._keys == {None} and not self._texts:
            return self.columns[0].dtype, self.columns[0].shape
        return None, ()

    def packer(self) -> Pack:
        """A function from what the data function returns to the bytes of a sample.

        It raises SampleError where the data differs from the first sample.
        """
        if self._texts:
            return self._pack
        if self._keys == {None}:
            return _column_packer(self.columns[0])
        return _dict_packer([(c.key, _column_packer(c)) for c in self.columns], len(self.columns), self._pack)

    def _pack(self, data: Any) -> bytes:
        values = _flatten(data)
        if values.keys() != self._keys:
            self._raise_keys(values)
        parts = [_convert(c, values[c.key]).tobytes() for c in self._arrays]
        for column in self._texts:
            text = values[column.key]
            if not isinstance(text, str):
                raise SampleError(column.key, type(text).__name__, "str needed, as in the first sample")
            encoded = _encode(column.key, text)
            parts += [_LENGTH.pack(len(encoded)), encoded]
        return b"".join(parts)

    def _raise_keys(self, values: Mapping[str | None, Any]) -> None:
        if None in values or None in self._keys:
            raise SampleError(None, _describe(values), f"{_describe(self._keys)} needed, as in the first sample")
        missing = [key for key in self._keys if key not in values]
        if missing:
            raise SampleError(
                sorted(map(str, missing))[0], "no value", "each sample must have the keys of the first one"
            )
        new = [key for key in values if key not in self._keys]
        raise SampleError(new[0], "a new key", "each sample must have the keys of the first one")

    def unpack(self, parts: Sequence[bytes]) -> dict[str, np.ndarray[Any, Any]]:
        """The columns of some samples: (n, *shape) views of one buffer, `data` where there are no keys."""
        n = len(parts)
        texts: list[list[str]] = [[] for _ in self._texts]
        if self._texts:
            for part in parts:
                at = self._row_bytes
                for text in texts:
                    (length,) = _LENGTH.unpack_from(part, at)
                    text.append(part[at + 4 : at + 4 + length].decode())
                    at += 4 + length
            parts = [part[: self._row_bytes] for part in parts]
        buffer = b"".join(parts)
        columns: dict[str, np.ndarray[Any, Any]] = {}
        offset = 0
        for column in self.columns:
            name = "data" if column.key is None else column.key
            if column.is_text:
                columns[name] = np.array(texts.pop(0), dtype=_TEXT)
                continue
            strides = (self._row_bytes, *_c_strides(column))
            columns[name] = np.ndarray((n, *column.shape), column.dtype, buffer, offset, strides)
            offset += column.nbytes
        return columns


def _c_strides(column: Column) -> tuple[int, ...]:
    strides: list[int] = []
    step = column.dtype.itemsize
    for length in reversed(column.shape):
        strides.insert(0, step)
        step *= length
    return tuple(strides)


def _column_packer(column: Column) -> Pack:
    dtype, shape = column.dtype, column.shape
    is_float = dtype == np.float64 and shape == ()

    def pack(value: Any) -> bytes:
        if value.__class__ is np.ndarray and value.dtype is dtype and value.shape == shape:
            return value.tobytes()
        if is_float and value.__class__ is float:
            return _FLOAT.pack(value)
        return _convert(column, value).tobytes()

    return pack


def _dict_packer(packers: list[tuple[str | None, Pack]], n: int, slow: Pack) -> Pack:
    def pack(data: Any) -> bytes:
        if data.__class__ is dict and len(data) == n:
            try:
                return b"".join([pack_column(data[key]) for key, pack_column in packers])
            except KeyError:
                pass  # Nested, numbered or wrong keys: the slow way accepts or names them.
        return slow(data)

    return pack


def _flatten(data: Any) -> dict[str | None, Any]:
    if not isinstance(data, Mapping):
        return {None: data}
    values: dict[str | None, Any] = {}
    _flatten_into(values, "", data)
    if not values:
        raise SampleError(None, "an empty dict", _ALLOWED)
    return values


def _flatten_into(values: dict[str | None, Any], prefix: str, data: Mapping[Any, Any]) -> None:
    for part, value in data.items():
        if not isinstance(part, str | int | np.integer) or isinstance(part, bool):
            raise SampleError(prefix or None, f"a key of type {type(part).__name__}", "keys must be str or int")
        key = f"{prefix}{part}"
        _encode(key, key)
        if isinstance(value, Mapping):
            _flatten_into(values, f"{key}/", value)
        elif key in values:
            raise SampleError(key, "the same key twice", "nested keys are joined with '/'; rename one of them")
        else:
            values[key] = value


def _encode(key: str | None, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise SampleError(key, "text with lone surrogates", "text must be valid Unicode") from None


def _as_array(key: str | None, value: Any) -> np.ndarray[Any, Any]:
    if value is None or isinstance(value, str | bytes):
        raise SampleError(key, type(value).__name__, _ALLOWED)
    try:
        array = _import_array(value)
    except Exception as error:
        raise SampleError(key, f"{type(value).__name__} ({error})", _ALLOWED) from error
    if array.dtype.kind not in "biufc":
        found = "an array of objects" if array.dtype.kind == "O" else f"dtype {array.dtype}"
        raise SampleError(key, f"{type(value).__name__} ({found})", _ALLOWED)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _import_array(value: Any) -> np.ndarray[Any, Any]:
    if hasattr(value, "detach") and hasattr(value, "cpu"):
        # A torch tensor that needs a gradient or lives on a device refuses to become an array.
        value = value.detach().cpu()
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        return np.from_dlpack(value)
    return np.asarray(value)


def _convert(column: Column, value: Any) -> np.ndarray[Any, Any]:
    """The value as the first sample's dtype, where nothing is lost by it."""
    if isinstance(value, Mapping):
        raise SampleError(column.key, "a dict", f"shape {column.shape} needed, as in the first sample")
    array = _as_array(column.key, value)
    if array.shape != column.shape:
        raise SampleError(column.key, f"shape {array.shape}", f"shape {column.shape} needed, as in the first sample")
    if array.dtype == column.dtype:
        return array
    kinds = array.dtype.kind.replace("u", "i") + column.dtype.kind.replace("u", "i")
    if kinds in {"ii", "if", "ff", "cc", "fc", "ic"}:
        with np.errstate(all="ignore"):
            converted = array.astype(column.dtype)
            back = (converted.real if kinds[1] == "c" != kinds[0] else converted).astype(array.dtype)
        if np.array_equal(back, array, equal_nan=array.dtype.kind in "fc") and _keeps_range(array, converted):
            return converted
    raise SampleError(column.key, f"{array.dtype}", f"{column.dtype} needed, as in the first sample")


def _keeps_range(array: np.ndarray[Any, Any], converted: np.ndarray[Any, Any]) -> bool:
    """Whether integers came through a conversion that also converts back where it overflowed.

    Between signed and unsigned it does, as -1 to 255 and back; and from a float of 2^63 on some processors.
    """
    if array.dtype.kind not in "iu":
        return True
    if converted.dtype.kind in "iu":
        return np.array_equal(array < 0, converted < 0)
    limit = 2.0 ** (8 * array.dtype.itemsize - (array.dtype.kind == "i"))
    return bool(np.all(converted.real.astype(np.float64) < limit))


def _describe(keys: Any) -> str:
    return "a value without keys" if None in keys else "a dict"
