"""Finds the records of a reel: by its index, or from header to header.

A header whose checksum does not fit, or that says something impossible, costs what is between it and the next good one.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from simreel.errors import DamagedFileError
from simreel.reel.index import ENTRY, TRAILER_SIZE, Trailer, read_index
from simreel.reel.limits import MIN_RECORD
from simreel.reel.record import COMPLETE, HEADER_SIZE, START_SIZE, TAGS, Header, record_end

if TYPE_CHECKING:
    from simreel.reel.file import ReelFile

__all__ = ["Damage", "Records", "find_records"]

# Bytes searched at once; a multiple of 8.
_PIECE = 2**20
_TAGS = np.array([int.from_bytes(tag, "little") for tag in TAGS], "<u4")


class Damage(NamedTuple):
    """A stretch of a file that cannot be read."""

    start: int
    """Its first byte."""
    stop: int
    """The first byte after it."""
    found: str


@dataclass
class Records:
    """The records of a file, in its order."""

    entries: np.ndarray[Any, Any] = field(default_factory=lambda: np.empty(0, ENTRY))
    """(n,) of `ENTRY`; those with unknown tags and those of the end are among them."""
    trailer: Trailer | None = None
    is_complete: bool = False
    """Whether the trailer says that every recorded frame is there."""
    is_indexed: bool = False
    """Whether the entries are those of the index; the headers themselves were not read then."""
    damage: list[Damage] = field(default_factory=list)
    end: int = 0
    """Where the last whole record ends."""


def find_records(file: ReelFile) -> Records:
    """The records, by the index where there is a good one."""
    at = file.size - TRAILER_SIZE
    header = file.header(at) if at >= START_SIZE and at % 8 == 0 else None
    if header is not None and header.tag == b"TRLR":
        records = Records(is_indexed=True, end=file.size)
        # The headers tell the same.
        with suppress(DamagedFileError, ValueError):
            _take_trailer(file, header, at, records)
            if records.trailer is not None:
                records.entries = _read_entries(file, records.trailer)
                return records
    return _scan(file)


def _take_trailer(file: ReelFile, header: Header, at: int, records: Records) -> None:
    if record_end(at, header.length) - at != TRAILER_SIZE:
        return
    # A damaged one says nothing; everything else is there without it.
    with suppress(DamagedFileError, ValueError):
        records.trailer = Trailer.unpack(file.body(header, at))
        records.is_complete = bool(header.flags & COMPLETE)


def _read_entries(file: ReelFile, trailer: Trailer) -> np.ndarray[Any, Any]:
    at, end = trailer.index_at, file.size - TRAILER_SIZE
    header = file.header(at) if START_SIZE <= at < end else None
    if header is None or header.tag != b"INDX" or record_end(at, header.length) > end:
        raise ValueError("no index where the trailer says")
    # No record is smaller: memory stays in proportion to the file.
    if header.length > 8 + (file.size // MIN_RECORD) * 2 * ENTRY.itemsize:
        raise ValueError("an index of more records than the file can hold")
    return read_index(file.body(header, at), START_SIZE, at)


def _scan(file: ReelFile) -> Records:
    size, read, unpack = file.size, file.read, Header.unpack
    found: list[tuple[bytes, int, int, int, int]] = []
    records = Records()
    at = START_SIZE
    while at + HEADER_SIZE <= size:
        header = unpack(read(HEADER_SIZE, at), at)
        if header is None:
            following = _next_header(file, at + 8)
            records.damage.append(Damage(at, following, "no record where one should start"))
            at = following
            continue
        tag, _, length, first, count = header
        end = at + HEADER_SIZE + length + 4
        if end > size:
            following = _next_header(file, at + 8)
            # The last record of a file that is being written, or was cut.
            if following < size:
                records.damage.append(Damage(at, following, "a record that passes the end of the file"))
            at = following
            continue
        if tag == b"TRLR":
            _take_trailer(file, header, at, records)
        found.append((tag, count, first, at, length))
        at = records.end = (end + 7) & ~7
    records.entries = np.array(found, ENTRY)
    return records


def _next_header(file: ReelFile, at: int) -> int:
    """Where the next record with a known tag starts, or the end of the file."""
    while at + HEADER_SIZE <= file.size:
        raw = file.exactly(min(_PIECE, file.size - at), at)
        tags = np.frombuffer(raw, "<u4", len(raw) // 8 * 2)[::2]
        for place in np.flatnonzero(np.isin(tags, _TAGS)).tolist():
            if file.header(at + 8 * place) is not None:
                return int(at + 8 * place)
        at += len(raw) // 8 * 8 or 8
    return file.size
