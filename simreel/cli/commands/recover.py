"""`simreel recover`: makes a whole file of what a killed run left."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from simreel.cli.console import put

__all__ = ["recover"]


def recover(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file that was recorded, or the .spool beside it.")],
) -> None:
    """Make a whole file of what a killed run left."""
    from simreel.cli.look.reel import is_reel

    if is_reel(file):
        _recover_reel(file)
    else:
        _recover_recording(file)


def _recover_reel(file: str) -> None:
    from simreel.cli.look.reel import tell_damage, tell_gaps
    from simreel.reel.recovery import recover

    report = recover(file)
    target = _as_written(report.target, file)
    was_whole = "" if report.damaged is not None else "whole, left as it is: "
    put(f"{target}: {was_whole}{report.kept} frames kept, {report.lost} lost")
    for line in [*tell_gaps(report.gaps), *tell_damage(report.damage)]:
        put(line)
    _tell_neighbours(file, report.damaged, report.old)


def _recover_recording(file: str) -> None:
    from simreel.recorders.recovery import recover

    report = recover(file)
    put(f"{_as_written(report.target, file)}: {report.kept} samples kept, {report.lost} lost")
    _tell_neighbours(file, report.damaged, report.old)
    for spool in report.others:
        put(f"{_as_written(spool, file)}: another run of this file, left alone; recover it by this name")


def _tell_neighbours(file: str, damaged: Path | None, old: Path | None) -> None:
    if damaged is not None:
        put(f"{_as_written(damaged, file)}: what was repaired, as it was")
    if old is not None:
        put(f"{_as_written(old, file)}: the file that had this name before")


def _as_written(path: Path, file: str) -> str:
    """The path in the folder as the user wrote it, unless that is a link to somewhere else."""
    written = os.path.join(os.path.dirname(file), path.name)
    return written if os.path.realpath(written) == os.path.realpath(path) else str(path)
