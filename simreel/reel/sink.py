"""Appends the records of a reel and, at its end, what makes it quick to open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from simreel.reel.head import WRITER
from simreel.reel.index import ENTRY, TRAILER_SIZE, Trailer, index_size, pack_entry, pack_index
from simreel.reel.record import COMPLETE, START_SIZE, VERSION, Header, Start, record_end, record_parts

if TYPE_CHECKING:
    from simreel.reel.growing import GrowingFile

__all__ = ["OverSizeError", "Sink"]


class OverSizeError(Exception):
    """A record, and the end of the file after it, would pass the size that the file may have."""


class Sink:
    """A growing file of records. Each append is whole or leaves the file as it was.

    Args:
        file: a new one.
        head: the body of `HEAD`.
        max_size: the most bytes that the file may have in the end; None: any number.

    Raises:
        OSError: the disk is full.
        OverSizeError: `max_size` leaves no room for a record.
    """

    def __init__(self, file: GrowingFile, head: bytes, max_size: int | None) -> None:
        self.file = file
        self._head = head
        self._max_size = max_size
        # 32 bytes a record: it grows with the file, a thousandth of it as a rule.
        self._entries = bytearray()
        if max_size is not None and START_SIZE + record_end(0, len(head)) + self._end_size() > max_size:
            raise OverSizeError
        file.append([Start(VERSION, WRITER).pack()])
        self.append(b"HEAD", [head])

    def append(self, tag: bytes, body: Sequence[Any], first: int = 0, count: int = 0) -> None:
        """Appends a record.

        Args:
            tag: four letters.
            body: objects with a buffer of bytes, one after another.
            first: the number of a frame.
            count: of frames.

        Raises:
            OSError: the disk is full.
            OverSizeError: it would pass `max_size`.
        """
        at = self.file.size
        header = Header(tag, 0, sum(map(len, body)), first, count)
        if self._max_size is not None and record_end(at, header.length) + self._end_size() > self._max_size:
            raise OverSizeError
        self.file.append(record_parts(header, body, at))
        self._entries += pack_entry(header, at)

    def finish(self, frames: int, *, is_complete: bool) -> None:
        """Appends the second HEAD, the index and the trailer.

        Args:
            frames: how many the file has.
            is_complete: whether these are all that were recorded.

        Raises:
            OSError: the disk is full.
        """
        at = self.file.size
        head = Header(b"HEAD", 0, len(self._head), 0, 0)
        parts = record_parts(head, [self._head], at)
        index_at = record_end(at, head.length)
        body = pack_index(bytes(self._entries + pack_entry(head, at)))
        parts += record_parts(Header(b"INDX", 0, len(body), 0, 0), [body], index_at)
        trailer = Trailer(index_at, at, frames).pack()
        header = Header(b"TRLR", COMPLETE if is_complete else 0, len(trailer), 0, 0)
        self.file.append(parts + record_parts(header, [trailer], record_end(index_at, len(body))))

    def _end_size(self) -> int:
        """Bytes that `finish` appends after one record more."""
        entries = len(self._entries) // ENTRY.itemsize + 2
        return record_end(0, len(self._head)) + index_size(entries) + TRAILER_SIZE
