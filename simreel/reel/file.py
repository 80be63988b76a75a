"""An open reel: stretches of it, whole, or an error that says where."""

from __future__ import annotations

import os
import stat
import weakref
import zlib
from contextlib import suppress
from pathlib import Path

from simreel.errors import ClosedFileError, DamagedFileError, MissingFileError, ReadError
from simreel.reel.limits import MAX_JSON
from simreel.reel.record import HEADER_SIZE, Header

__all__ = ["ReelFile"]

# Bytes read at once where a body is only checked.
_PIECE = 2**20


class ReelFile:
    """A file that is open for reading. Threads may share it; a forked child gets a descriptor of its own.

    Args:
        path: of the file.

    Raises:
        MissingFileError: there is none.
        ReadError: it cannot be opened, or is no file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd = _open(path)
        self._closing = weakref.finalize(self, os.close, self._fd)
        status = os.fstat(self._fd)
        if not stat.S_ISREG(status.st_mode):
            self.close()
            raise ReadError(path, "it is not a file")
        self.size = status.st_size
        """When it was opened [bytes]; a file that is being written grows."""
        _files.add(self)

    def close(self) -> None:
        """Closes it; twice is fine."""
        # First: the system may give the number of a closed descriptor to another file.
        self._fd = -1
        self._closing()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return not self._closing.alive

    def read(self, size: int, at: int) -> bytes:
        """So many bytes from an offset on, fewer at the end of the file.

        Raises:
            ClosedFileError: the file is closed.
            ReadError: the system does not give them.
        """
        try:
            return os.pread(self._fd, size, at)
        except OSError as error:
            if self.closed:
                raise ClosedFileError(self.path, "reading") from None
            raise ReadError(self.path, f"{error.strerror}, byte {at}") from error

    def exactly(self, size: int, at: int) -> bytes:
        """So many bytes from an offset on.

        Raises:
            DamagedFileError: the file ends before.
        """
        raw = self.read(size, at)
        # The system may give less at once than there is.
        while len(raw) < size:
            piece = self.read(size - len(raw), at + len(raw))
            if not piece:
                raise DamagedFileError(self.path, at + len(raw), f"the file ends, {size - len(raw)} bytes are missing")
            raw += piece
        return raw

    def header(self, at: int) -> Header | None:
        """The header at an offset; None where there is none, or its checksum does not fit."""
        return Header.unpack(self.read(HEADER_SIZE, at), at)

    def body(self, header: Header, at: int) -> bytes:
        """The body of the record at an offset. The caller has checked that its length is allowed.

        Raises:
            DamagedFileError: its checksum does not fit.
        """
        start = at + HEADER_SIZE
        body = self.exactly(header.length, start)
        self._check(zlib.crc32(body), self.exactly(4, start + header.length), header, at)
        return body

    def check_body(self, header: Header, at: int) -> bytes:
        """The first bytes, enough for its JSON, of the body of the record at an offset, all of which was checked.

        Raises:
            DamagedFileError: its checksum does not fit.
        """
        start, end = at + HEADER_SIZE, at + HEADER_SIZE + header.length
        first = self.exactly(min(4 + MAX_JSON, header.length), start)
        crc = zlib.crc32(first)
        for piece in range(start + len(first), end, _PIECE):
            crc = zlib.crc32(self.exactly(min(_PIECE, end - piece), piece), crc)
        self._check(crc, self.exactly(4, end), header, at)
        return first

    def _check(self, crc: int, stored: bytes, header: Header, at: int) -> None:
        if crc.to_bytes(4, "little") != stored:
            kind = header.tag.decode("ascii", "replace")
            raise DamagedFileError(self.path, at, f"a {kind} record whose checksum does not fit")

    def _reopen(self) -> None:
        """In a forked child: a descriptor that its parent does not share, if the file has its name still."""
        if self.closed:
            return
        with suppress(OSError):
            fd = _open(self.path)
            if os.path.samestat(os.fstat(fd), os.fstat(self._fd)):
                self._closing()
                self._fd = fd
                self._closing = weakref.finalize(self, os.close, fd)
            else:
                os.close(fd)


def _open(path: Path) -> int:
    try:
        # A named pipe would wait for somebody who writes.
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        raise MissingFileError(path, "a reel to read") from None
    except (OSError, ValueError) as error:
        # ValueError: a zero byte in the name.
        raise ReadError(path, str(getattr(error, "strerror", error))) from error


_files: weakref.WeakSet[ReelFile] = weakref.WeakSet()


def _reopen_all() -> None:
    for file in list(_files):
        file._reopen()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reopen_all)
