"""Makes whole videos of what a killed run left."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simreel.errors import DamagedFileError, MissingFileError, TargetError
from simreel.recorders.codecs import CONTAINERS
from simreel.recorders.encoder import finish
from simreel.recorders.remux import metadata, provisional, read_comment, survey
from simreel.recorders.target import free_name, is_being_written, lock

if TYPE_CHECKING:
    from simreel.recorders.recovery import RecoverReport

__all__ = ["is_video", "recover_video"]

_EMPTY = "holds no whole frame; the run was killed before its first fragment"
_SPOOL = re.compile(r"(.+\.gif)\.\d+\.spool(\.\d+)?", re.IGNORECASE)


def is_video(path: Path) -> bool:
    """Whether a name is that of a video, or of the spool of one."""
    return path.suffix.lower() in CONTAINERS or _SPOOL.fullmatch(path.name) is not None


def recover_video(given: Path) -> RecoverReport:
    """Makes a whole video of one that grew until a kill, with all frames up to the first that is missing.

    Args:
        given: the target, or the spool of a GIF. Of the files of several worlds or episodes the newest with a
            frame is taken that a kill has left.

    Raises:
        MissingFileError: there is neither the file nor a spool of it.
        TargetError: a running process still writes it.
        DamagedFileError: it holds no frame, or is no recording.
        OSError: the disk is full.
    """
    from simreel.recorders.recovery import RecoverReport

    path, others = _newest(given)
    match = _SPOOL.fullmatch(path.name)
    target = path.with_name(match[1]) if match else path
    with open(path, "rb") as file:
        # Nobody else recovers it in the meantime.
        if not lock(file.fileno()):
            raise TargetError(path, "a running process still writes it; stop that first")
        with _readable(path):
            found = survey(file)
        backup = target.with_name(f"{target.name}.old")
        old = backup if backup.exists() else None
        if _is_whole(found.comment):
            frames = found.comment.get("frames")
            kept = frames if isinstance(frames, int) else found.packets
            return RecoverReport(target, kept, 0, None, old, tuple(others))
        if not found.comment or (target.suffix.lower() == ".gif" and not match):
            raise DamagedFileError(path, 0, "nothing to recover: it is no recording that a kill has left")
        if not found.whole:
            raise DamagedFileError(path, 0, _EMPTY)
        with provisional(target) as made:
            tags = {**found.comment, "frames": found.whole, "complete": False, "recovered": True}
            fps = Fraction(found.comment["fps"])
            with _readable(path):
                kept = finish(file, made, target.suffix, fps, metadata(found.title, tags), found.whole)
            damaged = _move(path, target.with_name(f"{target.name}.damaged"))
            if os.path.lexists(target):
                old = _move(target, backup)
            os.rename(made, target)
    _remove_unfinished(target)
    return RecoverReport(target, kept, found.packets - kept, damaged, old, tuple(others))


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    import av

    try:
        yield
    except (av.FFmpegError, OSError, IndexError, ValueError, OverflowError) as error:
        # The disk, unless it is the place before the start that a file with a wrong size asks for, or FFmpeg's own.
        if isinstance(error, OSError) and error.errno not in {errno.EINVAL, errno.EIO}:
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise DamagedFileError(path, 0, f"{_EMPTY}, or it is no video ({reason})") from error


def _newest(given: Path) -> tuple[Path, list[Path]]:
    """The file to recover, and others of the run that a kill has left too."""
    if _SPOOL.fullmatch(given.name):
        if not given.is_file():
            raise MissingFileError(given, "to be recovered")
        return given, []
    end = re.escape(given.suffix)
    if given.suffix.lower() == ".gif":
        end += r"\.\d+\.spool(\.\d+)?"
    pattern = re.compile(re.escape(given.stem) + r"(_w\d+)?(_\d{4,})?" + end)
    found = []
    if given.parent.is_dir():
        found = [path for path in given.parent.iterdir() if pattern.fullmatch(path.name) and path.is_file()]
    if given in found or (given.is_file() and not found):
        return given, []
    if not found:
        raise MissingFileError(given, "to be recovered")
    found.sort(key=lambda path: path.stat().st_mtime_ns)
    left = [path for path in found if not _is_complete(path)] or found
    # Those of the target itself go before those of its worlds and episodes.
    left.sort(key=lambda path: path.name.startswith(f"{given.name}."))
    # One without a frame must not hide those of an earlier run.
    newest = next(filter(_holds_something, reversed(left)), left[-1])
    return newest, [path for path in left if path != newest]


def _holds_something(path: Path) -> bool:
    """Whether there is a frame to recover, or will be."""
    if is_being_written(path):
        return True
    with suppress(DamagedFileError), open(path, "rb") as file, _readable(path):
        return survey(file).whole > 0
    return False


def _is_whole(comment: Mapping[str, Any]) -> bool:
    return bool(comment.get("complete") or comment.get("recovered"))


def _is_complete(path: Path) -> bool:
    try:
        with open(path, "rb") as file, _readable(path):
            return _is_whole(read_comment(file))
    except DamagedFileError:
        return False


def _move(source: Path, target: Path) -> Path:
    target = free_name(target)
    os.rename(source, target)
    return target


def _remove_unfinished(target: Path) -> None:
    """Removes the final file that a run was making when it was killed."""
    pattern = re.compile(re.escape(target.name) + r"\.\d+\.tmp(\.\d+)?")
    for path in target.parent.iterdir():
        with suppress(OSError):
            if pattern.fullmatch(path.name) and not is_being_written(path):
                path.unlink()
