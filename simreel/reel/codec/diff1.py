"""The codec for any simulator: differences of integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import zstandard

from simreel.reel.codec.base import Codec
from simreel.reel.codec.differences import Differences
from simreel.reel.codec.field_coder import FieldCoder
from simreel.reel.codec.operands import Floats, clean

if TYPE_CHECKING:
    from simreel.reel.codec.family import Columns, Family
    from simreel.reel.layout import Field, Layout

__all__ = ["Diff1"]


class Diff1(Codec):
    """Each column by its first, second or third difference."""

    name = "diff1"

    level: ClassVar[int] = 1
    """Of zstd."""

    def __init__(self, layout: Layout, dt: float) -> None:
        super().__init__(layout, dt)
        self._compressor = zstandard.ZstdCompressor(level=self.level)
        self.coders = {
            index: FieldCoder(field, self._families(field))
            for index, field in enumerate(layout.fields)
            if not field.ragged
        }
        """What encodes and decodes each fixed field, by its place in the layout."""
        fields = [coder.field for coder in self.coders.values()]
        self._starts = _starts(fields)
        self._bounds = np.cumsum([0, *(field.width for field in fields)])
        """The first column of each field, and the end."""

        self._wider: dict[int, Diff1] = {}
        """Codecs of so many rows side by side."""

    def _families(self, field: Field) -> list[Family]:
        """The predictors that the columns of a field may have."""
        return [Differences(field.width)]

    def encode(self, rows: np.ndarray[Any, np.dtype[np.void]]) -> list[bytes]:
        """One stream for each fixed field, in the order of the layout."""
        known: dict[str, Floats] = {}

        def operands(name: str) -> Floats:
            if name not in known:
                known[name] = clean(np.ascontiguousarray(rows[name].T))
            return known[name]

        columns = _varying(rows, self._starts)
        bounds = np.searchsorted(columns, self._bounds).tolist()
        streams = []
        for place, coder in enumerate(self.coders.values()):
            mine = columns[bounds[place] : bounds[place + 1]] - self._bounds[place]
            streams.append(coder.encode(rows[coder.field.name], mine, operands, self._compressor))
        return streams

    def needs(self, index: int) -> tuple[int, ...]:
        """The other fields that may be needed to decode a field, ascending."""
        found: set[int] = set()
        waiting = [index]
        while waiting:
            new = {self.layout.index(name) for name in self.coders[waiting.pop()].needs} - found
            found |= new
            waiting += new
        return tuple(sorted(found))

    def decode(
        self, streams: Mapping[int, memoryview], n: int, wanted: Sequence[int]
    ) -> dict[int, np.ndarray[Any, Any]]:
        """The values of the wanted fixed fields, each (n, width) of the field's dtype.

        Raises:
            CodecError: a stream is malformed.
        """
        decoding = _Decoding(self, {index: [stream] for index, stream in streams.items()}, n)
        return {index: decoding.values(index).T for index in wanted}

    def decode_many(
        self, chunks: Sequence[Mapping[int, memoryview]], n: int, wanted: Sequence[int]
    ) -> list[dict[int, np.ndarray[Any, Any]]]:
        """What `decode` gives for each of several chunks of n frames, as if they were worlds side by side.

        Raises:
            CodecError: a stream of any of them is malformed.
        """
        count = len(chunks)
        if count not in self._wider:
            self._wider[count] = type(self)(self.layout.repeated(count), self.dt)
        decoding = _Decoding(self._wider[count], {index: [chunk[index] for chunk in chunks] for index in chunks[0]}, n)
        # Copies: a view would keep all chunks as long as one of them.
        parts = {index: np.split(decoding.values(index), count) for index in wanted}
        return [{index: parts[index][number].T.copy() for index in wanted} for number in range(count)]

    def encode_ragged(self, field: Field, values: np.ndarray[Any, Any]) -> bytes:
        """The stream of a table of (count, width) values."""
        columns = _varying(np.ascontiguousarray(values), _starts([field]))
        return _table(field).encode(values, columns, _no_operands, self._compressor)

    def decode_ragged(self, field: Field, stream: memoryview, count: int) -> np.ndarray[Any, Any]:
        """The (count, width) values.

        Raises:
            CodecError: the stream is malformed.
        """
        return _table(field).decode([stream], count, _no_operands).T


class _Decoding:
    """The fields of chunks side by side as far as they were asked for."""

    def __init__(self, codec: Diff1, streams: Mapping[int, Sequence[memoryview]], n: int) -> None:
        self._codec = codec
        self._streams = streams
        self._n = n
        self._values: dict[int, np.ndarray[Any, Any]] = {}
        self._operands: dict[str, Floats] = {}

    def values(self, index: int) -> np.ndarray[Any, Any]:
        """By column, (width, n)."""
        if index not in self._values:
            coder = self._codec.coders[index]
            self._values[index] = coder.decode(self._streams[index], self._n, self.operands)
        return self._values[index]

    def operands(self, name: str) -> Floats:
        """The clean values of a field of float64."""
        if name not in self._operands:
            self._operands[name] = clean(self.values(self._codec.layout.index(name)))
        return self._operands[name]


def _starts(fields: Sequence[Field]) -> Columns:
    """The first byte of each column in a row."""
    sizes = np.repeat([field.dtype.itemsize for field in fields], [field.width for field in fields])
    starts: Columns = np.cumsum(sizes) - sizes
    return starts


def _varying(rows: np.ndarray[Any, Any], starts: Columns) -> Columns:
    """The columns that have another value than their first, of all fields at once: each alone takes as long."""
    if len(rows) < 2 or not starts.size:
        return np.empty(0, np.intp)
    octets = rows.view(np.uint8).reshape(len(rows), -1)
    return np.flatnonzero(np.logical_or.reduceat((octets[1:] != octets[0]).any(axis=0), starts))


def _table(field: Field) -> FieldCoder:
    # Its predictors are chosen for each table: these have few values, and one row has little to do with the next.
    return FieldCoder(field, [Differences(field.width)])


def _no_operands(name: str) -> Floats:
    raise LookupError(name)
