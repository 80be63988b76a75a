"""What a video holds: frames, rate, codec, and whether it ended well."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simreel.cli.console import printable
from simreel.errors import DamagedFileError

if TYPE_CHECKING:
    from simreel.recorders.remux import Survey

__all__ = ["describe_video", "is_video"]

# What a GIF ends with.
_TRAILER = b";"


def is_video(start: bytes) -> bool:
    """Whether a file that starts so, with 12 bytes or more, is an .mp4, .mkv, .webm or .gif."""
    return start[4:8] == b"ftyp" or start.startswith((b"\x1a\x45\xdf\xa3", b"GIF8"))


def describe_video(file: str) -> list[str]:
    """Lines that tell what a video holds.

    Raises:
        DamagedFileError: it is none, or its start is lost.
    """
    import av

    from simreel.recorders.base import format_bytes
    from simreel.recorders.remux import survey
    from simreel.recorders.target import is_being_written

    head, is_running = f"{file}: video", is_being_written(Path(file))
    size = format_bytes(os.path.getsize(file))
    try:
        with open(file, "rb") as opened:
            found = survey(opened)
            is_gif = found.codec == "gif"
            opened.seek(-1, os.SEEK_END)
            is_cut = is_gif and opened.read() != _TRAILER
    except (av.FFmpegError, OSError, IndexError, ValueError, OverflowError) as error:
        if is_running:
            return [f"{head}, {size}", "a running process writes it, and has not written a whole frame yet"]
        reason = getattr(error, "strerror", None) or str(error)
        raise DamagedFileError(file, 0, f"it is no video, or not even its start is left ({reason})") from None
    # FFmpeg hands out what stands behind the last frame of a GIF, such as our comment, as one more packet.
    frames = found.promised if is_gif else found.packets
    by = f" by simreel {printable(str(found.comment['simreel']))}" if found.comment else ", not by simreel"
    return [
        f"{head}{by}, {size}",
        *(["a running process writes it"] if is_running else _ending(file, found, frames, is_cut=is_cut)),
        f"{frames} frames of {found.size[0]} x {found.size[1]}{_times(found, frames)}",
        f"codec: {found.codec}",
        *_more({"title": found.title, **found.comment}),
    ]


def _ending(file: str, found: Survey, frames: int, *, is_cut: bool) -> Iterator[str]:
    """How the recording ended, by the comment of the writer and what is left."""
    comment = found.comment
    promised = comment.get("frames") if comment else found.promised
    if promised is None:
        yield f"its run was cut off: simreel recover {file}"
    elif is_cut:
        yield "the file is cut"
    elif isinstance(promised, int) and frames < promised:
        yield f"the file is cut: {frames} of {promised} frames are left"
    elif comment:
        error = comment.get("error")
        if comment.get("complete"):
            ending = "complete"
        elif comment.get("recovered"):
            ending = "recovered from a run that was cut off"
        else:
            ending = f"not complete: {printable(str(error))}" if error else "not complete"
        dropped = comment.get("dropped")
        yield ending if dropped is None else f"{ending}, {dropped} frames dropped"


def _times(found: Survey, frames: int) -> str:
    if not found.rate:
        return ""
    exact = "" if found.rate.denominator == 1 else f" ({found.rate})"
    return f", {float(found.rate):.6g}{exact} a second, {float(frames / found.rate):.6g} s"


def _more(told: dict[str, Any]) -> Iterator[str]:
    title, dt, stride = (told.get(key) for key in ("title", "dt", "stride"))
    if title:
        yield f"title: {printable(str(title))}"
    if isinstance(dt, float) and isinstance(stride, int):
        yield f"a frame each {'step' if stride == 1 else f'{stride} steps'} of {dt:g} s"
