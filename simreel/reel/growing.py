"""The file of a reel that is being written: its name, its lock, whole appends only."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Any

from simreel.errors import TargetError
from simreel.reel.locks import free_name, hold
from simreel.reel.replacing import check_target

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
        self._old: Path | None = None
        self._node: tuple[int, int] | None = None
        """What tells it from another file of its name, once it is closed."""
        # Here before it is opened: Ctrl-C right after must not leave a file that nobody knows.
        self._file = FileIO.__new__(FileIO)
        try:
            if os.path.lexists(path):
                check_target(path, overwrite=overwrite)
                self._old = free_name(path.with_name(f"{path.name}.old"))
                self._set_aside(self._old)
            self._open()
        except BaseException:
            self.discard()
            raise

    def __del__(self) -> None:
        # Ctrl-C came before anybody had it. In a forked child it is closed.
        file = getattr(self, "_file", None)
        if file is not None and not (file.closed or self.size):
            self.discard()

    def _set_aside(self, old: Path) -> None:
        try:
            os.rename(self.path, old)
        except OSError as error:
            raise TargetError(self.path, f"cannot be renamed to {old.name} ({error.strerror})") from error

    def _open(self) -> None:
        try:
            FileIO.__init__(self._file, self.path, "xb")
        except (OSError, ValueError) as error:
            # ValueError: a zero byte in the name.
            raise TargetError(self.path, f"cannot be made ({getattr(error, 'strerror', error)})") from error
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
        """Returns when it is on the disk, or was discarded."""
        with suppress(ValueError):
            _datasync(self._file.fileno())

    @property
    def is_deleted(self) -> bool:
        """Whether no name of it is left."""
        return not os.fstat(self._file.fileno()).st_nlink

    def close(self) -> None:
        """Closes it; until then it counts as being written."""
        if not self._file.closed:
            self._node = _node(os.fstat(self._file.fileno()))
        self._file.close()

    def keep(self) -> None:
        """Removes the old file: the new one is good."""
        if self._old is not None:
            self._old.unlink(missing_ok=True)

    def discard(self) -> None:
        """Closes and removes it, also after `close`; the old file has its name again."""
        self.close()
        with suppress(OSError):
            if self._node is not None and self._node == _node(os.stat(self.path)):
                self.path.unlink()
        self._node = None
        if self._old is not None and os.path.lexists(self._old) and not os.path.lexists(self.path):
            os.rename(self._old, self.path)


def _node(stat: os.stat_result) -> tuple[int, int]:
    return stat.st_dev, stat.st_ino
