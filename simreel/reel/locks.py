"""Names that no file has, and marks on files that are being written."""

from __future__ import annotations

import os
import weakref
from io import FileIO
from pathlib import Path

__all__ = ["free_name", "hold", "is_being_written", "lock"]


def free_name(path: Path) -> Path:
    """The path itself, or with the first number that no file has."""
    candidate, number = path, 0
    while os.path.lexists(candidate):
        number += 1
        candidate = path.with_name(f"{path.name}.{number}")
    return candidate


_own: weakref.WeakSet[FileIO] = weakref.WeakSet()


def hold(file: FileIO) -> None:
    """Marks a new file as being written by this process, until it is closed; a forked child does not count."""
    lock(file.fileno())
    _own.add(file)


def _let_go() -> None:
    # The lock belongs to the open file, which a child shares: it would last as long as the child.
    for file in list(_own):
        file.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


def lock(fd: int) -> bool:
    """Marks an open file as being written, until it is closed; False where another process has.

    Where the system has no such locks, no file counts as being written.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # A file system without locks.
        return True
    return True


def is_being_written(path: Path) -> bool:
    """Whether a running process has the file locked."""
    with open(path, "rb") as file:
        return not lock(file.fileno())
