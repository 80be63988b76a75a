"""The file of a reel that is being written: its name, its lock, whole appends only."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from simreel.errors import TargetError, TargetExistsError
from simreel.reel.locks import free_name, hold, is_being_written

__all__ = ["GrowingFile"]

# Not on every system; the other writes a little more.
_datasync = getattr(os, "fdatasync", os.fsync)


class GrowingFile:
    """A new file, marked as being written until it is closed.

    Args:
        path: its name.
        overwrite: whether a file of that name may be there. It waits as `name.old` until `keep`.

    Raises:
        TargetExistsError: a file of that name is there and `overwrite` is not set.
        TargetError: it is being written, or no file can be made.
    """

    def __init__(self, path: Path, *, overwrite: bool) -> None:
        self.path = path
        self.size = 0
        """Bytes that were appended, whole appends only."""
        self._old = _set_aside(path, overwrite) if os.path.lexists(path) else None
        try:
            self._file = open(path, "xb", buffering=0)  # noqa: SIM115 - closed by `close`
        except (OSError, ValueError) as error:
            self._put_back()
            # ValueError: a zero byte in the name.
            raise TargetError(path, f"cannot be made ({getattr(error, 'strerror', error)})") from error
        hold(self._file)

    def append(self, parts: Sequence[Any]) -> None:
        """Writes the parts with one write.

        Raises:
            OSError: that failed; nothing of it is in the file.
        """
        data = b"".join(parts)
        try:
            written = self._file.write(data) or 0
            while written < len(data):
                # Says why the write was short; usually that the disk is full.
                written += self._file.write(data[written:]) or 0
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._file.fileno(), self.size)
                os.lseek(self._file.fileno(), self.size, os.SEEK_SET)
            raise
        self.size += len(data)

    def sync(self) -> None:
        """Returns when it is on the disk."""
        _datasync(self._file.fileno())

    @property
    def is_deleted(self) -> bool:
        """Whether no name of it is left."""
        return not os.fstat(self._file.fileno()).st_nlink

    def close(self) -> None:
        """Closes it; until then it counts as being written."""
        self._file.close()

    def keep(self) -> None:
        """Removes the old file: the new one is good."""
        if self._old is not None:
            self._old.unlink(missing_ok=True)

    def discard(self) -> None:
        """Closes and removes it; the old file has its name again."""
        self._file.close()
        with suppress(OSError):
            self.path.unlink()
        self._put_back()

    def _put_back(self) -> None:
        if self._old is not None and not os.path.lexists(self.path):
            os.rename(self._old, self.path)


def _set_aside(path: Path, overwrite: bool) -> Path:
    if path.is_dir():
        raise TargetError(path, "is a folder; give the name of a file")
    if path.exists() and not path.is_file():
        raise TargetError(path, "is a device or a pipe; give the name of a file")
    if not overwrite:
        raise TargetExistsError(path)
    # A link may point to nothing.
    if path.exists() and is_being_written(path):
        raise TargetError(path, "it is being written; give another filename or close that first")
    old = free_name(path.with_name(f"{path.name}.old"))
    try:
        os.rename(path, old)
    except OSError as error:
        raise TargetError(path, f"cannot be renamed to {old.name} ({error.strerror})") from error
    return old
