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
    from simreel.recorders.recovery import recover

    report = recover(file)
    put(f"{_as_written(report.target, file)}: {report.kept} samples kept, {report.lost} lost")
    if report.damaged is not None:
        put(f"{_as_written(report.damaged, file)}: what was repaired, as it was")
    if report.old is not None:
        put(f"{_as_written(report.old, file)}: the file that had this name before")
    for spool in report.others:
        put(f"{_as_written(spool, file)}: another run of this file, left alone; recover it by this name")


def _as_written(path: Path, file: str) -> str:
    """The path in the folder as the user wrote it."""
    return os.path.join(os.path.dirname(file), path.name)
