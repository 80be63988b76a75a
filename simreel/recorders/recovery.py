"""Makes whole files of what a killed run left."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from simreel.errors import DamagedFileError, MissingFileError, TargetError
from simreel.recorders.spool import SpoolReader, spools_of
from simreel.recorders.target import free_name, is_being_written

__all__ = ["RecoverReport", "recover"]


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
    """Older spools of the same target, left alone."""


def recover(path: str | os.PathLike[str]) -> RecoverReport:
    """Puts what can be read of a killed recording at its target.

    Args:
        path: the target (`run.npz`, `run.csv`) or the spool beside it. Of several spools the newest is taken.

    Raises:
        MissingFileError: there is neither the file nor a spool of it.
        TargetError: a running process still writes it.
        DamagedFileError: it holds no row, or is not what its name says.
    """
    given = Path(path)
    if given.suffix == ".csv":
        return _recover_csv(given)
    target, spools = _find(given)
    spool = spools[-1]
    if is_being_written(spool):
        raise TargetError(spool, "a running process still writes it; stop that first")
    return _recover_npz(target, spool, spools[:-1])


def _find(given: Path) -> tuple[Path, Sequence[Path]]:
    if ".spool" in given.suffixes:
        if not given.is_file():
            raise MissingFileError(given, "to be recovered")
        return given.with_name(given.name[: given.name.index(".npz.") + 4]), [given]
    spools = spools_of(given)
    if spools:
        # Of a run with a file for each episode only the last one was open.
        newest, _ = _find(spools[-1])
        return newest, [path for path in spools if _find(path)[0] == newest]
    if given.exists():
        raise DamagedFileError(given, 0, "nothing to recover: no spool of it is left, and it was closed whole")
    raise MissingFileError(given, "to be recovered; there is no spool of it either")


def _recover_npz(target: Path, spool: Path, others: Sequence[Path]) -> RecoverReport:
    from simreel.recorders.npz import archive

    provisional = free_name(target.with_name(f"{target.name}.recovered"))
    with SpoolReader(spool) as reader:
        if not reader.rows:
            raise DamagedFileError(spool, reader.size, "holds no whole row; the run was killed before its first block")
        comment = {"complete": False, "rows": reader.rows, "lost": reader.lost_rows}
        archive(reader, provisional, overwrite=False, comment=comment)
        kept, lost = reader.rows, reader.lost_rows
    old = _move(target, target.with_name(f"{target.name}.old")) if target.exists() else None
    os.rename(provisional, target)
    damaged = _move(spool, target.with_name(f"{target.name}.damaged"))
    return RecoverReport(target, kept, lost, damaged, old, tuple(others))


def _recover_csv(target: Path) -> RecoverReport:
    if not target.is_file():
        raise MissingFileError(target, "to be recovered")
    if is_being_written(target):
        raise TargetError(target, "a running process still writes it; stop that first")
    size = target.stat().st_size
    rows, whole = _whole_rows(target)
    if not rows:
        raise DamagedFileError(target, whole, "holds no whole row; the run was killed before its first block")
    backup = target.with_name(f"{target.name}.old")
    old = backup if backup.exists() else None
    if whole == size:
        return RecoverReport(target, rows - 1, 0, None, old, ())
    damaged = _move(target, target.with_name(f"{target.name}.damaged"))
    with open(damaged, "rb") as source, open(target, "xb") as file:
        while (left := whole - file.tell()) > 0:
            file.write(source.read(min(left, 2**20)))
        os.fsync(file.fileno())
    return RecoverReport(target, rows - 1, 1, damaged, old, ())


def _whole_rows(path: Path) -> tuple[int, int]:
    """Lines that end outside quotes, the header included, and the bytes up to the end of the last."""
    rows = whole = at = 0
    in_quotes = False
    with open(path, "rb") as file:
        for line in file:
            at += len(line)
            in_quotes ^= line.count(b'"') % 2 == 1
            if line.endswith(b"\n") and not in_quotes:
                rows, whole = rows + 1, at
    return rows, whole


def _move(source: Path, target: Path) -> Path:
    target = free_name(target)
    os.rename(source, target)
    return target
