"""What `simreel info` tells of each kind of file, read as a stream: no file is loaded whole."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from simreel.errors import DamagedFileError, MissingFileError, SimreelError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["describe"]

_SPOOL = b"simreel spool "
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_VIDEOS = (".mp4", ".mkv", ".webm", ".gif")


def describe(file: str) -> list[str]:
    """Lines that tell what a file holds.

    Raises:
        MissingFileError: it is not there.
        DamagedFileError: it is cut, altered, or not what its name says.
        SimreelError: it is none that simreel reads.
    """
    if not os.path.lexists(file):
        raise MissingFileError(file, f"the file to look into{_spool_hint(file)}")
    if os.path.isdir(file):
        raise SimreelError(f"{file}: is a folder; give the name of a file")
    if not os.path.isfile(file):
        raise SimreelError(f"{file}: is no regular file")
    return _reader_of(file)(file)


def _reader_of(file: str) -> Callable[[str], list[str]]:
    from simreel.cli.look.csv import describe_csv
    from simreel.cli.look.npz import describe_npz
    from simreel.cli.look.reel import describe_reel, is_reel
    from simreel.cli.look.spool import describe_spool
    from simreel.cli.look.video import describe_video, is_video

    with open(file, "rb") as opened:
        start = opened.read(len(_SPOOL))
    name = os.path.basename(file).lower()
    # The content goes first: a spool may have any name once it was recovered, and that of a GIF is a video.
    if is_video(start):
        return describe_video
    if is_reel(file):
        return describe_reel
    if start == _SPOOL or ".spool" in name:
        return describe_spool
    if start.startswith(_ZIP) or name.endswith(".npz"):
        return describe_npz
    if name.endswith(_VIDEOS):
        return describe_video
    # Also run.csv.old and run.csv.damaged.
    if ".csv" in name:
        return describe_csv
    if not start:
        raise DamagedFileError(file, 0, "the file is empty")
    raise SimreelError(f"{file}: not a file of simreel; .reel, .npz, .csv, {', '.join(_VIDEOS)} and .spool are known")


def _spool_hint(file: str) -> str:
    from pathlib import Path

    from simreel.recorders.spool import spools_of

    left = [path.name for path in spools_of(Path(file))]
    return f"; simreel recover makes it of {', '.join(left)}" if left else ""
