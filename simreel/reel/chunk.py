"""CHNK: where each stream stands in the body of a chunk.

    stream count u32 | length u32 of each | the streams

One stream for each field in the order of the layout; a ragged field has two, its counts and its items.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

__all__ = ["directory_size", "pack_directory", "stream_places", "unpack_directory"]


def directory_size(streams: int) -> int:
    """Bytes before the first stream."""
    return 4 + 4 * streams


def pack_directory(streams: Sequence[bytes]) -> bytes:
    """The bytes that stand before the streams."""
    return struct.pack(f"<{1 + len(streams)}I", len(streams), *map(len, streams))


def unpack_directory(raw: bytes, length: int, streams: int) -> list[tuple[int, int]]:
    """Where each stream starts and ends in the body.

    Args:
        raw: the first bytes of the body.
        length: of the body [bytes].
        streams: how many there must be.

    Raises:
        ValueError: there are not that many, or they pass the end of the body.
    """
    size = directory_size(streams)
    if len(raw) < size:
        raise ValueError(f"a chunk of {length} bytes, too short for the lengths of {streams} streams")
    count, *lengths = struct.unpack_from(f"<{1 + streams}I", raw)
    if count != streams:
        raise ValueError(f"a chunk of {count} streams, the layout needs {streams}")
    places, at = [], size
    for each in lengths:
        places.append((at, at + each))
        at += each
    if at > length:
        raise ValueError(f"a chunk of {length} bytes with streams up to byte {at}")
    return places


def stream_places(ragged: Sequence[bool]) -> list[int]:
    """The number of the first stream of each field, given which fields are ragged."""
    places, at = [], 0
    for is_ragged in ragged:
        places.append(at)
        at += 1 + is_ragged
    return places
