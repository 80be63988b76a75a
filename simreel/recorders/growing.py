"""A file that grows under its own name, while one that had the name waits beside it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from simreel.errors import TargetError, TargetExistsError
from simreel.recorders.target import free_name, hold, is_being_written

__all__ = ["GrowingFile"]


class GrowingFile:
    """A new file, marked as being written; whole writes only.

    Has the methods of a file that a muxer needs, and reads back what was written.

    Args:
        path: its name.
        overwrite: whether a file of that name may be there. It waits as `name.old` until `keep(is_good=True)`.

    Raises:
        TargetExistsError: a file of that name is there and `overwrite` is not set.
        TargetError: a running recording writes it, or no file can be made.
    """

    def __init__(self, path: Path, *, overwrite: bool) -> None:
        self.path = path
        self.size = 0
        """Bytes up to the farthest one written."""
        self._old = _set_aside(path, overwrite) if os.path.lexists(path) else None
        try:
            self._file = open(path, "x+b", buffering=0)  # noqa: SIM115 - closed by `keep` or `discard`
        except OSError as error:
            self._put_back()
            raise TargetError(path, f"cannot be made ({error.strerror})") from error
        hold(self._file)

    @property
    def closed(self) -> bool:
        """Whether nothing can be written any more."""
        return self._file.closed

    @property
    def is_there(self) -> bool:
        """Whether it has its name still: nobody has deleted, moved or replaced it."""
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(self._file.fileno()))
        except OSError:
            return False

    @property
    def is_deleted(self) -> bool:
        """Whether no name of it is left."""
        return not os.fstat(self._file.fileno()).st_nlink

    def writable(self) -> bool:
        """Whether it can be written to."""
        return not self.closed

    def readable(self) -> bool:
        """Whether it can be read."""
        return not self.closed

    def seekable(self) -> bool:
        """Whether it has a position."""
        return not self.closed

    def write(self, data: bytes) -> int:
        """Writes all of it, or raises what keeps it from being written."""
        written = self._file.write(data) or 0
        while written < len(data):
            # Says why the write was short; usually that the disk is full.
            written += self._file.write(data[written:]) or 0
        self.size = max(self.size, self._file.tell())
        return written

    def cut_back(self) -> None:
        """Takes away what a write has left that failed at the end."""
        with suppress(OSError):
            os.ftruncate(self._file.fileno(), self.size)

    def read(self, size: int = -1) -> bytes:
        """At most so many bytes; none at the end."""
        return self._file.read(size) or b""

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Moves; returns the position."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """The position."""
        return self._file.tell()

    def sync(self) -> None:
        """Returns when it is on the disk."""
        os.fsync(self._file.fileno())

    def keep(self, *, is_good: bool) -> None:
        """Closes it; the old file goes where this one is good."""
        self._file.close()
        # What a failed run has must not replace a good file.
        if self._old is not None and is_good:
            self._old.unlink(missing_ok=True)

    def discard(self) -> None:
        """Closes and removes it; the old file has its name again."""
        is_there = not self.closed and self.is_there
        self._file.close()
        if is_there:
            with suppress(FileNotFoundError):
                self.path.unlink()
        self._put_back()

    def _put_back(self) -> None:
        if self._old is not None and not os.path.lexists(self.path):
            os.rename(self._old, self.path)


def _set_aside(path: Path, overwrite: bool) -> Path:
    if not overwrite:
        raise TargetExistsError(path)
    # A link may point to nothing.
    if path.exists() and is_being_written(path):
        raise TargetError(path, "a running recording writes it; give another filename or stop that first")
    old = free_name(path.with_name(f"{path.name}.old"))
    os.rename(path, old)
    return old
