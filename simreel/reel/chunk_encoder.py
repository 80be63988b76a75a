"""Makes the bodies of chunks of the rows of a slot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from simreel.reel.chunk import pack_directory
from simreel.reel.layout import Field, Layout
from simreel.reel.limits import MAX_CHUNK_BYTES, items_bytes

if TYPE_CHECKING:
    from simreel.reel.codec import Codec
    from simreel.reel.ring import Slot

__all__ = ["COUNTS", "ChunkEncoder"]

# How many items each frame has of a ragged field.
COUNTS = Field("count", np.dtype("<i4"), 1)


class ChunkEncoder:
    """Encodes the chunks of one file, one after another, on one thread."""

    def __init__(self, layout: Layout, codec: Codec) -> None:
        self._layout = layout
        self._codec = codec
        self._ragged = [field for field in layout.fields if field.ragged]
        self._has_fixed = len(self._ragged) < len(layout.fields)

    def pieces(self, slot: Slot, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """The rows of each chunk that rows `start` to `stop - 1` become, none with more bytes than allowed."""
        nbytes = np.full(stop - start, self._layout.row_bytes)
        for field in self._ragged:
            for row, items in slot.ragged[field.name]:
                if start <= row < stop:
                    nbytes[row - start] += items_bytes(items)
        total = 0
        # A slot has at most a chunk's bytes of fixed fields.
        for row, size in enumerate(nbytes.tolist(), start) if self._ragged else ():
            if total and total + size > MAX_CHUNK_BYTES:
                yield start, row
                start, total = row, 0
            total += size
        yield start, stop

    def encode(self, slot: Slot, start: int, stop: int) -> list[bytes]:
        """The parts of the body of a chunk of rows `start` to `stop - 1`, at least one."""
        # A copy only where the rows lie apart.
        fixed = iter(self._codec.encode(np.ascontiguousarray(slot.rows[start:stop])) if self._has_fixed else ())
        streams: list[bytes] = []
        for field in self._layout.fields:
            streams += self._encode_ragged(field, slot, start, stop) if field.ragged else [next(fixed)]
        return [pack_directory(streams), *streams]

    def _encode_ragged(self, field: Field, slot: Slot, start: int, stop: int) -> list[bytes]:
        counts: np.ndarray[Any, Any] = np.zeros((stop - start, 1), COUNTS.dtype)
        items = [np.empty((0, field.width), field.dtype)]
        for row, each in list(slot.ragged[field.name]):
            if start <= row < stop:
                counts[row - start] = len(each)
                items.append(each)
        return [
            self._codec.encode_ragged(COUNTS, counts),
            self._codec.encode_ragged(field, np.concatenate(items)),
        ]
