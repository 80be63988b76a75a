"""Which frames stand in which chunk, and which stand in none."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from simreel.reel.limits import body_limit, frame_limit, raw_limit
from simreel.reel.record import Header

if TYPE_CHECKING:
    from simreel.reel.head import Head

__all__ = ["ChunkTable", "merge_spans"]


class ChunkTable:
    """The chunks of a file that a reader takes, in the order of their frames.

    Args:
        entries: (n,) of `ENTRY`, the records of the file.
        head: what the file says of its chunks.
        file_size: [bytes]
        frames: that the file says it has; None: those up to the end of the last chunk.
    """

    def __init__(self, entries: np.ndarray[Any, Any], head: Head, file_size: int, frames: int | None) -> None:
        chunks = entries[entries["tag"] == b"CHNK"]
        most = frame_limit(file_size, head.chunk_size)
        has_ragged = any(field.ragged for field in head.layout.fields)
        row_bytes = head.layout.row_bytes
        sizes = [raw_limit(count, row_bytes, has_ragged=has_ragged) for count in (1, 2)]
        bodies = [body_limit(size, head.streams) for size in sizes]
        counts, firsts = chunks["count"], chunks["first"]
        is_one = counts == 1
        # Each is compared before it is used: what is added to a huge number would wrap around.
        allowed = (counts > 0) & (counts <= head.chunk_size) & (firsts <= most)
        allowed &= is_one | (counts * np.uint64(max(1, row_bytes)) <= sizes[1])
        allowed &= chunks["length"] <= np.where(is_one, np.uint64(bodies[0]), np.uint64(bodies[1]))
        allowed &= firsts + counts <= most
        end = 0
        spans = zip(allowed.tolist(), firsts.tolist(), counts.tolist(), strict=True)
        for number, (is_allowed, first, count) in enumerate(spans):
            if is_allowed and first >= end:
                end = first + count
            else:
                allowed[number] = False
        kept = chunks[allowed]
        self.refused: list[int] = chunks["offset"][~allowed].tolist()
        """Offsets of chunks that say something impossible."""
        self.offsets: list[int] = kept["offset"].tolist()
        self.lengths: list[int] = kept["length"].tolist()
        """Of the bodies [bytes]."""
        self.firsts: list[int] = kept["first"].tolist()
        """First frame of each chunk, growing."""
        self.counts: list[int] = kept["count"].tolist()
        self.frames = max(end, frames) if frames is not None and frames <= most else end
        """Frames of the file, lost ones included."""

    def __len__(self) -> int:
        return len(self.firsts)

    def header(self, chunk: int) -> Header:
        """The header that a chunk must have; without its flags."""
        return Header(b"CHNK", 0, self.lengths[chunk], self.firsts[chunk], self.counts[chunk])

    def span(self, chunk: int) -> tuple[int, int]:
        """The first frame of a chunk, and the first after it."""
        return self.firsts[chunk], self.firsts[chunk] + self.counts[chunk]

    def find(self, frame: int) -> int | None:
        """The chunk that holds a frame; None where none does."""
        chunk = bisect_right(self.firsts, frame) - 1
        return chunk if chunk >= 0 and frame < self.firsts[chunk] + self.counts[chunk] else None

    def between(self, start: int, stop: int) -> range:
        """The chunks that hold any of frames `start` to `stop - 1`."""
        first = bisect_right(self.firsts, start) - 1
        if first < 0 or self.firsts[first] + self.counts[first] <= start:
            first += 1
        return range(first, bisect_right(self.firsts, stop - 1)) if stop > start else range(0)

    def missing(self) -> Iterator[tuple[int, int]]:
        """The spans of frames that stand in no chunk."""
        at = 0
        for first, count in zip(self.firsts, self.counts, strict=True):
            if first > at:
                yield at, first
            at = first + count
        if self.frames > at:
            yield at, self.frames


def merge_spans(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans in order; those that touch become one."""
    merged: list[tuple[int, int]] = []
    for start, stop in sorted(spans):
        if merged and merged[-1][1] >= start:
            merged[-1] = merged[-1][0], max(stop, merged[-1][1])
        else:
            merged.append((start, stop))
    return merged
