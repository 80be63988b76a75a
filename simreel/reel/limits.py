"""The largest sizes that the format allows, so that a reader knows what to refuse before it allocates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "BLOB_EXCESS",
    "BLOB_RATIO",
    "MAX_BLOB",
    "MAX_CHUNK_BYTES",
    "MAX_CHUNK_SIZE",
    "MAX_FIELDS",
    "MAX_FRAME_BYTES",
    "MAX_JSON",
    "MAX_SIDE",
    "MIN_RECORD",
    "body_limit",
    "frame_limit",
    "items_bytes",
    "raw_limit",
]

MAX_JSON = 4 * 2**20
MAX_CHUNK_SIZE = 65536
MAX_FIELDS = 4096
# Values of a chunk of several frames, and of a chunk of one.
MAX_CHUNK_BYTES = 4 * 2**20
MAX_FRAME_BYTES = 256 * 2**20
# A body of PARM or NOTE, and the content of a BLOB.
MAX_SIDE = 256 * 2**20
MAX_BLOB = 2**30
# Contents that are more times as large as their payloads: by so many bytes in a file, all of them together. Meshes and
# texts are compressed 3 to 50 times, and only what is made to fill a memory, or a flat terrain, more than 256 times.
BLOB_RATIO = 256
BLOB_EXCESS = 64 * 2**20
# A header and a checksum, padded.
MIN_RECORD = 40


def items_bytes(items: np.ndarray[Any, Any]) -> int:
    """Bytes that items of a ragged field count for: at least one each, so that their number is bounded."""
    return max(items.nbytes, len(items))


def raw_limit(count: int, row_bytes: int, *, has_ragged: bool) -> int:
    """The most bytes of values that a chunk of so many frames may hold."""
    if count == 1:
        return MAX_FRAME_BYTES if has_ragged else max(MAX_CHUNK_BYTES, row_bytes)
    return MAX_CHUNK_BYTES


def body_limit(raw: int, streams: int) -> int:
    """The most bytes of the body of a chunk with at most `raw` bytes of values."""
    return 2 * raw + 1024 * streams + 65536


def frame_limit(file_size: int, chunk_size: int) -> int:
    """More frames than a file of that size can hold."""
    return file_size // MIN_RECORD * chunk_size
