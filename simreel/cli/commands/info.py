"""`simreel info`: what a file holds and whether it ended well."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from simreel.cli.console import put

__all__ = ["info"]


def info(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="A .reel, .npz, .csv or video, or the .spool of a run that was cut off."),
    ],
) -> None:
    """Tell what a file holds and whether it ended well."""
    from simreel.cli.look import describe

    for line in describe(os.path.expanduser(file)):
        put(line)
