"""INDX and TRLR: where the records of a closed file are.

INDX   bytes of an entry u32 | entries u32 | entries
entry  tag 4s | frame count u32 | first frame u64 | offset u64 | body length u64
TRLR   offset of INDX u64 | offset of the second HEAD u64 | frames u64 | 0 u32
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np

from simreel.reel.record import HEADER_SIZE, Header, record_end

__all__ = ["ENTRY", "TRAILER_SIZE", "Trailer", "index_size", "pack_entry", "pack_index", "read_index"]

ENTRY = np.dtype([("tag", "S4"), ("count", "<u4"), ("first", "<u8"), ("offset", "<u8"), ("length", "<u8")])
_ENTRY = struct.Struct("<4sIQQQ")
_COUNTS = struct.Struct("<II")
_TRAILER = struct.Struct("<QQQI")
TRAILER_SIZE = 64


class Trailer(NamedTuple):
    """The body of TRLR."""

    index_at: int
    """Offset of INDX."""
    head_at: int
    """Offset of the second HEAD."""
    frames: int

    def pack(self) -> bytes:
        """The body."""
        return _TRAILER.pack(*self, 0)

    @classmethod
    def unpack(cls, body: bytes) -> Trailer:
        """What a body says.

        Raises:
            ValueError: it is too short.
        """
        if len(body) < _TRAILER.size:
            raise ValueError("a trailer that is too short")
        return cls._make(_TRAILER.unpack_from(body)[:3])


def index_size(entries: int) -> int:
    """Bytes of the record with so many entries."""
    return record_end(0, _COUNTS.size + entries * ENTRY.itemsize)


def pack_entry(header: Header, at: int) -> bytes:
    """The entry of the record at an offset."""
    return _ENTRY.pack(header.tag, header.frames, header.first, at, header.length)


def pack_index(entries: bytes) -> bytes:
    """The body of INDX, given its entries one after another."""
    return _COUNTS.pack(ENTRY.itemsize, len(entries) // ENTRY.itemsize) + entries


def read_index(body: bytes, start: int, end: int) -> np.ndarray[Any, Any]:
    """The entries of an index of records that stand between two offsets.

    Args:
        body: of INDX.
        start: where the first record may stand.
        end: where the index stands.

    Returns:
        (n,) of `ENTRY`, in the order of the file.

    Raises:
        ValueError: the entries are not in order, or not within the file.
    """
    if len(body) < _COUNTS.size:
        raise ValueError("an index that is too short")
    size, count = _COUNTS.unpack_from(body)
    if size < ENTRY.itemsize or _COUNTS.size + size * count > len(body):
        raise ValueError(f"an index of {count} entries of {size} bytes in {len(body)} bytes")
    raw = np.frombuffer(body, np.uint8, size * count, _COUNTS.size).reshape(count, size)
    entries: np.ndarray[Any, Any] = np.ascontiguousarray(raw[:, : ENTRY.itemsize]).view(ENTRY).reshape(count)
    # Compared as they are: what is added to a huge number would wrap around.
    offsets, lengths = entries["offset"], entries["length"]
    bounds = np.append(offsets, np.uint64(end))
    if count and (bounds[0] < start or (bounds[1:] < bounds[:-1]).any()):
        raise ValueError("an index whose entries are not in order")
    if (lengths > np.uint64(end)).any() or (bounds[1:] - offsets < lengths + np.uint64(HEADER_SIZE + 4)).any():
        raise ValueError("an index of records that overlap")
    return entries
