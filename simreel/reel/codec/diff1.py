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
    from simreel.reel.codec.family import Family
    from simreel.reel.layout import Field, Layout

__all__ = ["Diff1"]


class Diff1(Codec):
    """Each column by its first, second or third difference."""

    name = "diff1"

    level: ClassVar[int] = 1
    """Of zstd. At 1 it takes about as long as all the rest."""

    def __init__(self, layout: Layout, dt: float) -> None:
        super().__init__(layout, dt)
        self._compressor = zstandard.ZstdCompressor(level=self.level)
        self._coders = {
            index: FieldCoder(field, self._families(field))
            for index, field in enumerate(layout.fields)
            if not field.ragged
        }

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

        return [coder.encode(rows[coder.field.name], operands, self._compressor) for coder in self._coders.values()]

    def needs(self, index: int) -> tuple[int, ...]:
        """The other fields that may be needed to decode a field, ascending."""
        found: set[int] = set()
        waiting = [index]
        while waiting:
            new = {self.layout.index(name) for name in self._coders[waiting.pop()].needs} - found
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
        decoded: dict[int, np.ndarray[Any, Any]] = {}
        known: dict[str, Floats] = {}

        def values(index: int) -> np.ndarray[Any, Any]:
            if index not in decoded:
                decoded[index] = self._coders[index].decode(streams[index], n, operands)
            return decoded[index]

        def operands(name: str) -> Floats:
            if name not in known:
                known[name] = clean(values(self.layout.index(name)))
            return known[name]

        return {index: values(index).T for index in wanted}

    def encode_ragged(self, field: Field, values: np.ndarray[Any, Any]) -> bytes:
        """The stream of a table of (count, width) values."""
        return _table(field).encode(values, _no_operands, self._compressor)

    def decode_ragged(self, field: Field, stream: memoryview, count: int) -> np.ndarray[Any, Any]:
        """The (count, width) values.

        Raises:
            CodecError: the stream is malformed.
        """
        return _table(field).decode(stream, count, _no_operands).T


def _table(field: Field) -> FieldCoder:
    # Its predictors are chosen for each table: these have few values, and one row has little to do with the next.
    return FieldCoder(field, [Differences(field.width)])


def _no_operands(name: str) -> Floats:
    raise LookupError(name)
