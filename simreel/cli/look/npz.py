"""What a NumPy archive holds: the headers of its arrays, and the times of a recording."""

from __future__ import annotations

import ast
import json
import math
import os
import struct
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from simreel.cli.console import printable, table
from simreel.cli.look.times import Times
from simreel.errors import DamagedFileError, SimreelError

__all__ = ["describe_npz"]

# As numpy.load: what is longer could keep the parser busy for ever.
_MAX_HEADER = 10_000
_PIECE = 2**20


@dataclass(frozen=True)
class _Member:
    """An array of the archive: its name in the archive, dtype and shape, and where its data starts."""

    info: zipfile.ZipInfo
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int

    @property
    def name(self) -> str:
        return self.info.filename.removesuffix(".npy")


def describe_npz(file: str) -> list[str]:
    """Lines that tell what a NumPy archive holds.

    Raises:
        DamagedFileError: it is cut, altered, or no NumPy archive.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            _check_end(file, archive)
            members = [_read_header(file, archive, info) for info in archive.infolist()]
            comment = _comment(archive.comment)
            times = _times(file, archive, {member.name: member for member in members})
    except SimreelError:
        raise
    except zipfile.BadZipFile as error:
        raise DamagedFileError(file, os.path.getsize(file), f"the archive is cut or damaged ({error})") from None
    except Exception as error:  # noqa: BLE001 - of a damaged archive zipfile, zlib and ast raise nearly anything
        raise DamagedFileError(file, 0, f"the archive is damaged ({type(error).__name__}: {error})") from None
    return [
        _title(file, comment),
        *_ending(comment),
        *([times.text()] if times else []),
        *table([(printable(m.name), str(m.dtype), str(m.shape)) for m in members], indent="  "),
        *_spools(file),
    ]


def _check_end(file: str, archive: zipfile.ZipFile) -> None:
    """Refuses a file that is cut in its last bytes, the comment: zipfile takes what is left of it."""
    size = os.path.getsize(file)
    with open(file, "rb") as opened:
        opened.seek(size - len(archive.comment) - 2)
        (length,) = struct.unpack("<H", opened.read(2))
    if length != len(archive.comment):
        raise DamagedFileError(file, size, "the archive is cut")


def _title(file: str, comment: dict[str, Any]) -> str:
    from simreel.recorders.base import format_bytes

    by = f" by simreel {printable(str(comment['simreel']))}" if comment else ", not by simreel"
    return f"{file}: NumPy archive{by}, {format_bytes(os.path.getsize(file))}"


def _ending(comment: dict[str, Any]) -> Iterator[str]:
    """How the recording ended, by the comment that the writer left."""
    if not comment:
        return
    error, lost = comment.get("error"), comment.get("lost")
    if comment.get("complete"):
        ending = "complete"
    elif lost is not None:
        ending = f"recovered from a run that was cut off, {lost} samples lost"
    else:
        ending = f"not complete: {printable(str(error))}" if error else "not complete"
    dropped = comment.get("dropped")
    yield ending if dropped is None else f"{ending}, {dropped} samples dropped"


def _comment(raw: bytes) -> dict[str, Any]:
    try:
        comment = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return comment if isinstance(comment, dict) and "simreel" in comment else {}


def _read_header(file: str, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> _Member:
    """As numpy.load reads it, of each version of the format, but it never unpickles."""
    name = printable(info.filename)
    with archive.open(info) as member:
        try:
            version = np.lib.format.read_magic(member)
            size = struct.Struct("<H" if version == (1, 0) else "<I")
            (length,) = size.unpack(member.read(size.size))
            if length > _MAX_HEADER:
                raise ValueError
            text = member.read(length).decode("latin1" if version < (3, 0) else "utf-8")
            header = ast.literal_eval(text.strip())
            dtype = np.lib.format.descr_to_dtype(header["descr"])
            shape = tuple(int(n) for n in header["shape"])
            start = member.tell()
        except (ValueError, TypeError, KeyError, SyntaxError, struct.error, RecursionError, MemoryError):
            raise DamagedFileError(file, info.header_offset, f"{name} is not a NumPy array") from None
    if dtype.hasobject:
        raise DamagedFileError(file, info.header_offset, f"{name} holds pickled Python objects, which are never read")
    if min(shape, default=0) < 0 or info.file_size - start != math.prod(shape) * dtype.itemsize:
        raise DamagedFileError(file, info.header_offset, f"{name} is shorter or longer than its header says")
    return _Member(info, dtype, shape, start)


def _times(file: str, archive: zipfile.ZipFile, members: dict[str, _Member]) -> Times | None:
    """What the columns of a recording tell, or None where they are not there."""
    timestamp, episode = members.get("timestamp"), members.get("episode")
    if timestamp is None or timestamp.dtype.kind != "f" or len(timestamp.shape) != 1:
        return None
    times = Times()
    for piece in _pieces(file, archive, timestamp):
        times.add_times(piece)
    if episode is not None and episode.dtype.kind in "iu" and len(episode.shape) in {1, 2}:
        for piece in _pieces(file, archive, episode):
            times.add_episodes(piece)
    return times


def _pieces(file: str, archive: zipfile.ZipFile, array: _Member) -> Iterator[np.ndarray[Any, np.dtype[Any]]]:
    """The rows of an array, some at a time."""
    row = array.shape[1:]
    row_bytes = math.prod(row) * array.dtype.itemsize
    rows = array.shape[0] if row_bytes else 0
    with archive.open(array.info) as member:
        member.read(array.start)
        while rows:
            n = min(rows, max(1, _PIECE // row_bytes))
            yield np.frombuffer(_exactly(file, member, n * row_bytes), array.dtype).reshape(n, *row)
            rows -= n


def _exactly(file: str, member: IO[bytes], n: int) -> bytes:
    data = member.read(n)
    if len(data) < n:
        raise DamagedFileError(file, 0, "the archive is cut")
    return data


def _spools(file: str) -> Iterator[str]:
    from simreel.recorders.spool import spools_of
    from simreel.recorders.target import is_being_written

    for spool in spools_of(Path(file)):
        what = "still being recorded" if is_being_written(spool) else "of a run that was cut off, see simreel recover"
        yield f"beside it {spool.name}: {what}"
