"""Makes a reel of the records of another: beside its target, under a name of its own until it is good."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from simreel.errors import DamagedFileError, SimreelError, TargetError
from simreel.reel.file import ReelFile
from simreel.reel.growing import GrowingFile
from simreel.reel.index import pack_entry
from simreel.reel.limits import MIN_RECORD
from simreel.reel.locks import free_name
from simreel.reel.record import HEADER_SIZE, Header
from simreel.reel.sink import Sink
from simreel.reel.survey import survey

if TYPE_CHECKING:
    from simreel.reel.head import Head

__all__ = ["CopySink", "rewriting", "seal"]

# Bytes copied at once.
_PIECE = 2**20


class CopySink(Sink):
    """A growing file that also takes records of another one as they are, a piece at a time.

    Args:
        file: a new one.
        head: what it holds.
    """

    def __init__(self, file: GrowingFile, head: Head) -> None:
        super().__init__(file, head.to_bytes(), None)
        self._chunk_size = head.chunk_size

    def copy(self, source: ReelFile, at: int) -> None:
        """Appends the record that stands at an offset of another file.

        Args:
            source: the other file.
            at: where a good record stands.

        Raises:
            DamagedFileError: it is not good any more.
            OSError: the disk is full.
        """
        header = source.header(at)
        if header is None:
            raise DamagedFileError(source.path, at, "a record that was good a moment ago")
        start, end = at + HEADER_SIZE, at + HEADER_SIZE + header.length
        pieces = (source.exactly(min(_PIECE, end - place), place) for place in range(start, end, _PIECE))
        if self._append_pieces(header, pieces) != source.exactly(4, end):
            raise DamagedFileError(source.path, at, "a record that was good a moment ago")

    def make_room(self, frames: int) -> None:
        """Makes the file as large as one of so many frames must be, lost ones included; a reader believes no less.

        Raises:
            OSError: the disk is full.
        """
        missing = -(-frames // self._chunk_size) * MIN_RECORD - self.file.size
        if missing > 0:
            # A tag that no reader knows.
            pieces = (bytes(min(_PIECE, missing - place)) for place in range(0, missing, _PIECE))
            self._append_pieces(Header(b"VOID", 0, missing, 0, 0), pieces)

    def _append_pieces(self, header: Header, pieces: Iterable[bytes]) -> bytes:
        """Appends a record and gives the checksum of its body."""
        here, crc = self.file.size, 0
        self.file.append([header.pack(here)])
        for piece in pieces:
            crc = zlib.crc32(piece, crc)
            self.file.append([piece])
        checksum = crc.to_bytes(4, "little")
        self.file.append([checksum, bytes(-(self.file.size + 4) % 8)])
        self._entries += pack_entry(header, here)
        return checksum


@contextmanager
def rewriting(target: Path) -> Iterator[GrowingFile]:
    """A new file beside a target, which the block fills, seals and renames; removed if the block fails.

    Raises:
        TargetError: it cannot be made, or the disk is full.
    """
    try:
        file = GrowingFile(free_name(target.with_name(f"{target.name}.{os.getpid()}.tmp")), overwrite=False)
    except TargetError as error:
        raise TargetError(target, error.reason) from error
    try:
        yield file
    except BaseException as error:
        file.discard()
        if isinstance(error, OSError) and not isinstance(error, SimreelError):
            raise TargetError(target, f"{error.strerror}; nothing was changed") from error
        raise


def seal(sink: CopySink, frames: int, gaps: list[tuple[int, int]], *, is_complete: bool) -> None:
    """Ends a file, closes it, and reads it back.

    Args:
        sink: of the file.
        frames: how many it has, lost ones included.
        gaps: the spans of lost frames that it must have.
        is_complete: whether every frame that was recorded is there.

    Raises:
        DamagedFileError: it is not what was written.
        OSError: the disk is full.
    """
    sink.make_room(frames)
    sink.finish(frames, is_complete=is_complete)
    sink.file.sync()
    sink.file.close()
    with closing(ReelFile(sink.file.path)) as written:
        found = survey(written)
    if found.damage or not found.is_closed or (found.frames, found.gaps) != (frames, gaps):
        at = found.damage[0].start if found.damage else 0
        raise DamagedFileError(sink.file.path, at, "what was just written reads back otherwise; is the disk failing?")
