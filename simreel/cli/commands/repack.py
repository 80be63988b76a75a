"""`simreel repack`: makes a reel smaller, or gives it other chunks."""

from __future__ import annotations

from typing import Annotated

import typer

from simreel.cli.console import put
from simreel.cli.parsers import whole

__all__ = ["repack"]


def repack(
    src: Annotated[str, typer.Argument(metavar="SRC", help="The .reel to read.")],
    out: Annotated[str, typer.Option("-o", "--out", metavar="DST", help="The .reel to make.")],
    codec: Annotated[
        str, typer.Option(metavar="NAME", help="archive: small, slow to write; phys1: quick; diff1: knows no physics.")
    ] = "archive",
    chunk_size: Annotated[
        int | None,
        typer.Option(parser=whole, metavar="N", help="The most frames in a chunk. As before where it is not given."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace DST where it exists.")] = False,
) -> None:
    """Encode a reel anew; its frames stay the same to the bit."""
    from simreel.errors import FieldError
    from simreel.recorders.base import format_bytes
    from simreel.reel.repacking import repack

    try:
        report = repack(src, out, codec, chunk_size, overwrite=overwrite)
    except FieldError as error:
        # The one value of the command that a reel may refuse.
        raise typer.BadParameter(f"--chunk-size {chunk_size}: {error.allowed}") from None
    put(f"{out}: {report.frames} frames, {format_bytes(report.after)}; {src} has {format_bytes(report.before)}")
