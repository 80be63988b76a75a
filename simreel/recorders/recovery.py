"""Makes whole files of what a killed run left."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from simreel.errors import DamagedFileError, MissingFileError, SimreelError, TargetError
from simreel.recorders.spool import SpoolReader, spools_of
from simreel.recorders.target import episodes_of, free_name, is_being_written, lock
from simreel.recorders.video_recovery import is_video, recover_video

__all__ = ["RecoverReport", "recover"]

_SPOOL = re.compile(r"(.+\.npz)\.(\d+)\.spool(\.\d+)?", re.IGNORECASE)
# Bytes read at once.
_PIECE = 2**20


@dataclass(frozen=True)
class RecoverReport:
    """What `recover` did."""

    target: Path
    """The whole file."""

    kept: int
    """Rows in it."""

    lost: int
    """Rows that were there and cannot be read; a row that was cut at the end counts."""

    damaged: Path | None
    """What was repaired, as it was."""

    old: Path | None
    """The file that had the target's name before."""

    others: tuple[Path, ...]
    """Other spools of the target or of its episodes, left alone."""


def recover(path: str | os.PathLike[str]) -> RecoverReport:
    """Puts what can be read of a killed recording at its target.

    Args:
        path: the target (such as `run.npz`) or the spool beside it. Of several spools the newest with a row is taken.

    Raises:
        MissingFileError: there is neither the file nor a spool of it.
        TargetError: a running process still writes it, or the disk is full.
        DamagedFileError: it holds no row, or is not what its name says.
    """
    given = Path(path)
    try:
        given = given.expanduser()
        if given.suffix.lower() == ".csv":
            return _recover_csv(_csv_of(given))
        if is_video(given):
            return recover_video(given)
        if _SPOOL.fullmatch(given.name):
            if not given.is_file():
                raise MissingFileError(given, "to be recovered")
            return _recover_npz(given, ())
        return _recover_npz(*_newest(given))
    except SimreelError:
        raise
    except (OSError, RuntimeError) as error:
        raise TargetError(given, f"recovering it failed ({error})") from error


def _newest(target: Path) -> tuple[Path, Sequence[Path]]:
    """The spool to take, and the others."""
    spools = spools_of(target)
    if spools:
        # Of a run with a file for each episode only the last one was open.
        spools.sort(key=lambda path: path.name.startswith(f"{target.name}."))
        # One without a row must not hide those of an earlier run.
        newest = next(filter(_holds_something, reversed(spools)), spools[-1])
        return newest, [path for path in spools if path != newest]
    if not target.exists():
        raise MissingFileError(target, "to be recovered; there is no spool of it either")
    if target.suffix.lower() != ".npz":
        raise DamagedFileError(target, 0, "neither a recording that can be recovered nor the spool of one")
    how = "it was closed whole" if zipfile.is_zipfile(target) else "it is no archive"
    raise DamagedFileError(target, 0, f"nothing to recover: no spool of it is left, and {how}")


def _holds_something(spool: Path) -> bool:
    """Whether there is a row to recover, or will be."""
    if is_being_written(spool):
        return True
    with suppress(DamagedFileError), SpoolReader(spool) as reader:
        return reader.rows > 0
    return False


def _recover_npz(spool: Path, others: Sequence[Path]) -> RecoverReport:
    from simreel.recorders.npz import archive

    match = _SPOOL.fullmatch(spool.name)
    assert match is not None
    target = spool.with_name(match[1])
    if is_being_written(spool):
        raise _still_written(spool)
    with SpoolReader(spool) as reader:
        # Nobody else recovers it in the meantime.
        if not lock(reader.fileno()):
            raise _still_written(spool)
        if not reader.rows:
            raise DamagedFileError(spool, reader.size, _why_empty(reader))
        comment = {"complete": False, "rows": reader.rows, "lost": reader.lost_rows}
        old = archive(reader, target, overwrite=True, comment=comment, keep_old=True)
        damaged = _move(spool, target.with_name(f"{target.name}.damaged"))
        _remove_unfinished(target.with_name(f"{target.name}.{match[2]}.tmp"))
        return RecoverReport(target, reader.rows, reader.lost_rows, damaged, old, tuple(others))


def _why_empty(reader: SpoolReader) -> str:
    if reader.lost_rows and not reader.columns:
        return f"its head is damaged; without it {reader.lost_rows} rows cannot be read"
    if reader.lost_rows:
        return f"all its {reader.lost_rows} rows are damaged"
    return "holds no whole row; the run was killed before its first block"


def _remove_unfinished(archive: Path) -> None:
    """Removes the archive that a run was making when it was killed."""
    with suppress(OSError):
        if not is_being_written(archive):
            archive.unlink()


def _csv_of(given: Path) -> Path:
    """The file itself, or the newest of its episodes."""
    if given.is_file():
        return given
    episodes = episodes_of(given)
    if not episodes:
        raise MissingFileError(given, "to be recovered")
    return max(episodes, key=lambda path: path.stat().st_mtime_ns)


def _recover_csv(target: Path) -> RecoverReport:
    backup = target.with_name(f"{target.name}.old")
    old = backup if backup.exists() else None
    with open(target, "rb") as source:
        if not lock(source.fileno()):
            raise _still_written(target)
        rows, whole = _whole_rows(source)
        if not rows:
            hint = f"; the earlier file is {old}" if old else ""
            raise DamagedFileError(
                target, whole, f"holds no whole row; the run was killed before its first block{hint}"
            )
        if whole == os.fstat(source.fileno()).st_size:
            return RecoverReport(target, rows - 1, 0, None, old, ())
        provisional = free_name(target.with_name(f"{target.name}.{os.getpid()}.tmp"))
        try:
            _copy_start(source, provisional, whole)
            damaged = _move(target, target.with_name(f"{target.name}.damaged"))
            os.rename(provisional, target)
        except BaseException:
            with suppress(OSError):
                provisional.unlink()
            raise
    return RecoverReport(target, rows - 1, 1, damaged, old, ())


def _copy_start(source: BinaryIO, copy: Path, size: int) -> None:
    source.seek(0)
    with open(copy, "xb") as file:
        while size and (piece := source.read(min(size, _PIECE))):
            size -= file.write(piece)
        file.flush()
        os.fsync(file.fileno())


def _whole_rows(file: BinaryIO) -> tuple[int, int]:
    """Lines that end outside quotes, the header included, and the bytes up to the end of the last."""
    rows = whole = at = 0
    in_quotes = False
    while line := file.readline(_PIECE):
        at += len(line)
        in_quotes ^= line.count(b'"') % 2 == 1
        if line.endswith(b"\n") and not in_quotes:
            rows, whole = rows + 1, at
    return rows, whole


def _still_written(path: Path) -> TargetError:
    return TargetError(path, "a running process still writes it; stop that first")


def _move(source: Path, target: Path) -> Path:
    target = free_name(target)
    os.rename(source, target)
    return target
