"""What a reel is made of: a start of 64 bytes, and records that each carry two checksums.

    start    magic 12s | major u16 | minor u16 | writer 44s | crc32 u32
    record   tag 4s | flags u32 | body length u64 | first frame u64 | frame count u32 | header crc32 u32
             | body | body crc32 u32 | zeros up to a multiple of 8

The crc of a header covers its place in the file as well: what looks like a record inside recorded data is none.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

__all__ = [
    "COMPLETE",
    "HEADER_SIZE",
    "MAGIC",
    "START_SIZE",
    "TAGS",
    "VERSION",
    "Header",
    "Start",
    "record_end",
    "record_parts",
    "version_text",
]

MAGIC = b"\x89simreel\r\n\x1a\n"
VERSION = (1, 0)
START_SIZE = 64
TAGS = (b"HEAD", b"BLOB", b"CHNK", b"PARM", b"NOTE", b"INDX", b"TRLR")
# Flag of TRLR: every frame that was recorded is in the file.
COMPLETE = 1

_START = struct.Struct("<12sHH44s")
_HEADER = struct.Struct("<4sIQQI")
_CRC = struct.Struct("<I")
_PLACE = struct.Struct("<Q")
HEADER_SIZE = _HEADER.size + _CRC.size


def version_text(version: tuple[int, int]) -> str:
    """The version as people write it."""
    return f"{version[0]}.{version[1]}"


class Start(NamedTuple):
    """The first 64 bytes of a file, the same in all versions."""

    version: tuple[int, int]
    writer: str

    def pack(self) -> bytes:
        """The bytes; of a longer name of the writer the first 44."""
        raw = _START.pack(MAGIC, *self.version, self.writer.encode()[:44])
        return raw + _CRC.pack(zlib.crc32(raw))

    @classmethod
    def unpack(cls, raw: bytes) -> Start | None:
        """The start of a file, or None where `raw` is none or is damaged."""
        if len(raw) != START_SIZE or raw[-4:] != _CRC.pack(zlib.crc32(raw[:-4])):
            return None
        magic, major, minor, writer = _START.unpack_from(raw)
        return cls((major, minor), writer.rstrip(b"\0").decode(errors="replace")) if magic == MAGIC else None


class Header(NamedTuple):
    """What stands before the body of a record."""

    tag: bytes
    flags: int
    length: int
    """Of the body [bytes]."""
    first: int
    """Number of a frame."""
    frames: int
    """How many it holds."""

    def pack(self, at: int) -> bytes:
        """The header as it stands at byte `at` of the file."""
        raw = _HEADER.pack(*self)
        return raw + _CRC.pack(zlib.crc32(_PLACE.pack(at), zlib.crc32(raw)))

    @classmethod
    def unpack(cls, raw: bytes, at: int) -> Header | None:
        """The header that stands at byte `at`, or None where `raw` is none."""
        # Not through `pack`: the scan of a file calls this for each of its records.
        if len(raw) != HEADER_SIZE or zlib.crc32(_PLACE.pack(at), zlib.crc32(raw[:28])) != _CRC.unpack_from(raw, 28)[0]:
            return None
        return cls._make(_HEADER.unpack_from(raw))


def record_end(at: int, length: int) -> int:
    """Where the record after the one at byte `at` starts."""
    return (at + HEADER_SIZE + length + 4 + 7) & ~7


def record_parts(header: Header, body: Sequence[Any], at: int) -> list[Any]:
    """All bytes of a record that is to stand at byte `at`, for one write.

    Args:
        header: its `length` is that of the body.
        body: objects with a buffer, one after another.
        at: a multiple of 8.
    """
    crc = 0
    for part in body:
        crc = zlib.crc32(part, crc)
    end = at + HEADER_SIZE + header.length + 4
    return [header.pack(at), *body, _CRC.pack(crc), bytes(-end % 8)]
