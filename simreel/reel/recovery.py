"""Makes a whole reel of one that was cut or is damaged."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from simreel.errors import TargetError
from simreel.reel.arguments import file_path
from simreel.reel.chunk_table import merge_spans
from simreel.reel.file import ReelFile
from simreel.reel.locks import free_name, is_being_written
from simreel.reel.rewriting import CopySink, rewriting, seal
from simreel.reel.survey import survey

if TYPE_CHECKING:
    from simreel.reel.scan import Damage
    from simreel.reel.survey import Survey

__all__ = ["RecoverReport", "recover"]


@dataclass(frozen=True)
class RecoverReport:
    """What `recover` did."""

    target: Path
    """The whole file."""

    kept: int
    """Frames in it."""

    lost: int
    """Frames that cannot be read."""

    gaps: tuple[tuple[int, int], ...]
    """Their spans: the first, and the first after them that is not lost. Frames of a chunk that was cut at the end of
    the file are among them; the whole file ends before these."""

    damage: tuple[Damage, ...]
    """The stretches that could not be read of what was repaired, in its order."""

    damaged: Path | None
    """What was repaired, as it was; None where there was nothing to repair and the file is as it was."""

    old: Path | None
    """The file that had this name before the run that was cut, which waits until a clean close."""


def recover(path: str | os.PathLike[str]) -> RecoverReport:
    """Repairs a reel in place: all its good records, as they are, with an index and an end.

    Frames keep their numbers, lost ones too. What was repaired stays beside it as `name.damaged`. The new file takes
    its place when it is on the disk and was read back; until then, whatever happens, the old one has its name.

    Args:
        path: of the reel. A whole one is left as it is.

    Raises:
        MissingFileError: there is none.
        ReadError: the system does not give it.
        DamagedFileError: it is no reel, or nothing of it can be read.
        FileVersionError: it needs another release of simreel.
        TargetError: a running process still writes it, or the disk is full.
        FieldError: `path` is none.
    """
    # The file itself, not a link to it, gets a new neighbour and a new content.
    target = Path(os.path.realpath(file_path("path", path)))
    with closing(ReelFile(target)) as source:
        if is_being_written(target):
            raise TargetError(target, "a running process still writes it; stop that first")
        found = survey(source)
        damaged = None if found.is_closed and not found.damage else _repair(target, source, found)
    gaps = merge_spans([*found.gaps, *_cut_frames(found)])
    old = target.with_name(f"{target.name}.old")
    return RecoverReport(
        target=target,
        kept=found.frames - _count(found.gaps),
        lost=_count(gaps),
        gaps=tuple(gaps),
        damage=tuple(found.damage),
        damaged=damaged,
        old=old if old.exists() else None,
    )


def _repair(target: Path, source: ReelFile, found: Survey) -> Path:
    identity = os.stat(target)
    with rewriting(target) as file:
        sink = CopySink(file, found.head)
        for at in found.offsets:
            sink.copy(source, at)
        seal(sink, found.frames, found.gaps, is_complete=found.is_complete and not found.gaps)
        shutil.copymode(target, file.path)
        # A writer may have put another file in its place meanwhile.
        if is_being_written(target) or not os.path.samestat(os.stat(target), identity):
            raise TargetError(target, "it was replaced while it was being repaired; nothing was changed")
        damaged = _set_aside(target)
        try:
            os.replace(file.path, target)
        except OSError:
            _put_back(damaged, target)
            raise
    return damaged


def _set_aside(target: Path) -> Path:
    """Gives the file a second name that no file had."""
    damaged = free_name(target.with_name(f"{target.name}.damaged"))
    try:
        # So that the first one is never without a file.
        os.link(target, damaged)
    except FileExistsError:
        # Made in this moment.
        return _set_aside(target)
    except OSError:
        # A file system without links.
        os.rename(target, damaged)
    return damaged


def _put_back(damaged: Path, target: Path) -> None:
    if os.path.lexists(target):
        damaged.unlink()
    else:
        os.rename(damaged, target)


def _cut_frames(found: Survey) -> list[tuple[int, int]]:
    cut = found.cut
    if cut is None or cut.tag != b"CHNK" or cut.first < found.frames or cut.frames > found.head.chunk_size:
        return []
    return [(cut.first, cut.first + cut.frames)]


def _count(spans: list[tuple[int, int]]) -> int:
    return sum(stop - start for start, stop in spans)
