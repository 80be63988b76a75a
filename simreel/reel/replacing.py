"""A file that has its name only when it is whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from simreel.errors import SimreelError, TargetError, TargetExistsError, WriteError
from simreel.reel.locks import free_name, is_being_written

__all__ = ["check_target", "replacing"]


@contextmanager
def replacing(target: Path, *, overwrite: bool) -> Iterator[Path]:
    """A name beside a target to write a file under, whose folder is made.

    The file gets the target's name when the block has ended, and is removed if the block fails: until then, whatever
    happens, an old file has its name.

    Args:
        target: absolute.
        overwrite: whether a file of that name may be there.

    Raises:
        TargetExistsError: it is there and `overwrite` is not set.
        TargetError: it cannot be made, or is being written.
        WriteError: the disk is full.
    """
    check_target(target, overwrite=overwrite)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TargetError(target, f"the folder cannot be made ({error.strerror})") from error
    new = free_name(target.with_name(f"{target.name}.{os.getpid()}.tmp"))
    try:
        yield new
        # Somebody may have made or opened it meanwhile.
        check_target(target, overwrite=overwrite)
        _rename(new, target)
    except TargetError as error:
        raise TargetError(target, error.reason) from error
    except WriteError as error:
        raise WriteError(target, error.reason, 0) from error
    finally:
        # It is not there where it has got its name.
        with suppress(OSError):
            new.unlink()


def check_target(target: Path, *, overwrite: bool) -> None:
    """Tells what would keep a file from getting its name.

    Raises:
        TargetExistsError: a file of that name is there and `overwrite` is not set.
        TargetError: it is being written, or no file.
    """
    try:
        _check(target, overwrite=overwrite)
    except SimreelError:
        raise
    except OSError as error:
        raise TargetError(target, f"cannot be looked up ({error.strerror})") from error


def _check(target: Path, *, overwrite: bool) -> None:
    if target.is_dir():
        raise TargetError(target, "is a folder; give the name of a file")
    if target.exists() and not target.is_file():
        raise TargetError(target, "is a device or a pipe; give the name of a file")
    # A link may point to nothing.
    if not os.path.lexists(target):
        return
    if not overwrite:
        raise TargetExistsError(target)
    if target.exists() and is_being_written(target):
        raise TargetError(target, "it is being written; give another filename or close that first")


def _rename(new: Path, target: Path) -> None:
    try:
        os.replace(new, target)
    except OSError as error:
        raise TargetError(target, f"cannot be made ({error.strerror})") from error
