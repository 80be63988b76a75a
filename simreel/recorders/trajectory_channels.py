"""The channels of a trajectory: the values of functions, as fields of its frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from simreel.errors import SampleError
from simreel.recorders.schema import Column, Schema
from simreel.reel import Field

if TYPE_CHECKING:
    from simreel.recorders.source import Channel
    from simreel.reel import ReelWriter

__all__ = ["ChannelFields"]

# What a reel holds, for each dtype of a value that it holds without loss.
_STORED = {"b1": "bool", "u1": "u1", "i1": "i4", "i2": "i4", "u2": "i4", "i4": "i4", "u4": "i8", "i8": "i8"}
_STORED |= {"f2": "f4", "f4": "f4", "f8": "f8"}


class ChannelFields:
    """Asks the functions once; their first values fix the fields.

    Args:
        channels: what is recorded.

    Raises:
        SampleError: a value cannot be recorded, or has not as many values as its columns have names.
    """

    def __init__(self, channels: Sequence[Channel]) -> None:
        self._functions = {channel.name: channel.func for channel in channels}
        data = self._call()
        schema = Schema.of(data)
        self._pack = schema.packer()
        self._first: bytes | None = self._pack(data)
        described = {channel.name: channel for channel in channels}
        self.meta: list[dict[str, Any]] = []
        """For the head of the file, in the order of adding."""
        self._places: list[tuple[str, np.dtype[Any], int, int]] = []
        fields, offset = [], 0
        for column in schema.columns:
            stored = _stored(column, self._functions)
            assert column.key is not None
            channel, width = described[column.key], column.nbytes // column.dtype.itemsize
            if channel.columns and len(channel.columns) != width:
                raise SampleError(
                    column.key, f"{width} values", f"{len(channel.columns)} are needed, one for each of its columns"
                )
            name = f"channel/{column.key}"
            fields.append(Field(name, np.dtype(stored), width, channel.unit, "channel"))
            self._places.append((name, column.dtype, width, offset))
            offset += column.nbytes
            self.meta.append(
                {
                    "name": column.key,
                    "unit": channel.unit,
                    "columns": list(channel.columns),
                    "dtype": stored,
                    "shape": list(column.shape),
                }
            )
        # A row is aligned where the larger values come first.
        self.fields = tuple(sorted(fields, key=lambda field: -field.dtype.itemsize))

    def read(self) -> bytes:
        """The values that stand, packed; the first time those that fixed the fields.

        Raises:
            SampleError: a value is not like the first one.
        """
        if self._first is not None:
            first, self._first = self._first, None
            return first
        return self._pack(self._call())

    def write(self, packed: bytes, reel: ReelWriter) -> None:
        """Puts packed values into the row that is being filled."""
        for name, dtype, width, offset in self._places:
            reel.next_part(name, name)[:] = np.frombuffer(packed, dtype, width, offset)

    def _call(self) -> dict[str, Any]:
        return {name: function() for name, function in self._functions.items()}


def _stored(column: Column, functions: dict[str, Any]) -> str:
    if column.key not in functions:
        raise SampleError(column.key, "a dict", "a channel is one number or array; add a channel for each key")
    code = "" if column.is_text else f"{column.dtype.kind}{column.dtype.itemsize}"
    if code not in _STORED:
        found = "str" if column.is_text else f"{column.dtype}"
        raise SampleError(column.key, found, "a channel holds bool, integers up to int64, or floats up to float64")
    return _STORED[code]
