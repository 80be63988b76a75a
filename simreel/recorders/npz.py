"""Writes NumPy archives: rows stream to a spool beside the target, which becomes the archive at the end."""

from __future__ import annotations

import json
import os
import threading
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from simreel._version import __version__
from simreel.errors import DamagedFileError, RecorderError, SampleError, SimreelWarning, TargetExistsError
from simreel.options.recorders import NPZFile
from simreel.recorders.file import FileRecorder
from simreel.recorders.registry import register_recording
from simreel.recorders.spool import Rows, SpoolReader, spools_of
from simreel.recorders.spool_writer import SpoolWriter
from simreel.recorders.target import free_name, is_being_written, lock

if TYPE_CHECKING:
    from simreel.recorders.schema import Schema

__all__ = ["NPZFileWriter", "archive"]

# The date that numpy.savez gives its members: equal runs make equal files.
_DATE = (1980, 1, 1, 0, 0, 0)
# Below this size [bytes] an archive is made in memory, and not waited for until it is on the disk: a loss of power in
# the next seconds would cost a moment's run, but the wait costs the end of each short episode.
_SMALL = 2**16
# Small archives are made one at a time: threads that want the interpreter all at once take twice as long together.
_TURN = threading.Lock()
# Below what a zip archive can hold, with room for our prefix.
_MAX_NAME = 60_000
# The comment of a zip archive holds 65535 bytes, and a character takes up to 12 of them as JSON.
_MAX_ERROR = 4000


@register_recording(NPZFile)
class NPZFileWriter(FileRecorder[NPZFile]):
    """Streams rows to `name.npz.<pid>.spool` and makes `name.npz` of it at the end."""

    def accept(self, schema: Schema) -> None:
        """Refuses text, and gives keys that an archive cannot hold as they are a prefix, with a warning.

        Raises:
            SampleError: a value is a str, or a key cannot name a member of an archive.
        """
        own = self._own_names()
        self._names: dict[str, str] = {}
        taken = set(own)
        for column in schema.columns:
            key = "data" if column.key is None else column.key
            if column.is_text:
                raise SampleError(column.key, "str", "NPZFile records numbers only; CSVFile records text")
            if "\0" in key or len(key.encode()) > _MAX_NAME:
                raise SampleError(column.key, "the key", "a key without NUL and of at most 60000 bytes is needed")
            name = key
            # NumPy takes ".npy" off the names of members, so that "a" and "a.npy" would be one.
            while name in taken or name.removesuffix(".npy") in taken or f"{name}.npy" in taken:
                name = f"data/{name}"
            if name != key:
                warnings.warn(
                    f"{self.label}: the key {key!r} meets another name of the archive and is kept as {name!r}",
                    SimreelWarning,
                    stacklevel=2,
                )
            taken.add(name)
            self._names[key] = name

    def build(self) -> None:
        """Opens the spool, and names those that earlier runs left."""
        left = [path.name for path in spools_of(self.target.path) if _was_left(path)]
        if left:
            warnings.warn(
                f"{self.label}: an earlier run left {', '.join(left)}; `simreel recover {self.target.path}` "
                "makes an archive of it",
                SimreelWarning,
                stacklevel=2,
            )
        super().build()

    def open_file(self, path: Path) -> None:
        """Opens the spool."""
        self._path = path
        self._spool = SpoolWriter(free_name(path.with_name(f"{path.name}.{os.getpid()}.spool")))
        self._dropped_before = self.status.dropped

    def process_block(
        self, steps: np.ndarray[Any, Any], times: np.ndarray[Any, Any], columns: dict[str, np.ndarray[Any, Any]]
    ) -> None:
        """Appends a block to the spool."""
        self.ensure_open()
        spool = self._spool
        before = spool.size
        arrays = {self._names[key]: column for key, column in columns.items()} | self._world_columns(steps)
        if not spool.rows:
            spool.write_head(self._head(arrays))
        spool.write_rows(int(steps[0]), self.timing.stride, self.episode, list(arrays.values()))
        self.bytes_written += spool.size - before

    def process(self, data: Any, cur_time: float) -> None:
        """Never called: whole blocks are taken."""
        raise AssertionError

    def finish_file(self) -> None:
        """Makes the archive of the spool; on an error the spool stays, for `simreel recover`."""
        spool = self._spool
        try:
            if spool.rows:
                self._archive(spool)
        finally:
            # Not before: an open spool is one that `recover` leaves alone.
            spool.close()
        spool.path.unlink(missing_ok=True)

    def _archive(self, spool: SpoolWriter) -> None:
        try:
            # Somebody may have removed it in the meantime.
            self.target.make_folder()
            turn = _TURN if spool.size < _SMALL else nullcontext()
            with turn, SpoolReader(spool.path, os.dup(spool.fileno())) as reader:
                lost = spool.rows - reader.rows
                comment = self._comment(reader.rows, lost)
                # What a failed run has must not replace a good file.
                keep_old = not comment["complete"]
                archive(reader, self._path, overwrite=self._options.overwrite, comment=comment, keep_old=keep_old)
        except TargetExistsError as error:
            error.add_note(f"the rows are kept in {spool.path}: rename the file and run `simreel recover`")
            raise
        except OSError as error:
            is_kept = spool.path.exists()
            kept = f"the rows are kept in {spool.path}: run `simreel recover {self._path}`" if is_kept else "rows lost"
            raise RecorderError(self.label, f"making the archive ({kept})", error) from error
        if lost:
            damaged = DamagedFileError(spool.path, 0, f"{lost} rows cannot be read back")
            raise RecorderError(self.label, "making the archive", damaged) from damaged

    def _world_columns(self, steps: np.ndarray[Any, Any]) -> dict[str, np.ndarray[Any, Any]]:
        if not self.timing.n_envs:
            return {}
        episode = np.broadcast_to(self.worlds.episode, (len(steps), self.timing.n_envs))
        return {"world_time": self.worlds.steps(steps) * self.timing.dt, "episode": episode}

    def _head(self, arrays: dict[str, np.ndarray[Any, Any]]) -> dict[str, Any]:
        return {
            "writer": f"simreel {__version__}",
            "dt": float(self.timing.dt),
            # With worlds the episodes of each are a column of their own.
            "has_episode": not (self._options.save_on_reset or self.timing.n_envs),
            "compression": self._options.compression,
            "columns": [
                {"name": name, "dtype": array.dtype.str, "shape": array.shape[1:]} for name, array in arrays.items()
            ],
        }

    def _comment(self, rows: int, lost: int) -> dict[str, Any]:
        status = self.status
        comment = {
            "complete": status.error is None and not lost,
            "rows": rows,
            "dropped": status.dropped - self._dropped_before,
            "error": status.error and status.error[:_MAX_ERROR],
        }
        return comment | {"lost": lost} if lost else comment

    def _own_names(self) -> list[str]:
        if self.timing.n_envs:
            return ["timestamp", "step", "episode", "world_time"]
        return ["timestamp", "step"] if self._options.save_on_reset else ["timestamp", "step", "episode"]


def archive(
    spool: SpoolReader, target: Path, *, overwrite: bool, comment: dict[str, Any], keep_old: bool = False
) -> Path | None:
    """Makes the archive of a spool beside the target, then gives it its name at once.

    The comment of the zip file holds the counts as JSON.

    Args:
        spool: what it is made of.
        target: its name.
        overwrite: whether it may replace a file of that name.
        comment: the counts.
        keep_old: whether a file that it replaces is kept as `target.old`.

    Returns:
        What was kept.

    Raises:
        TargetExistsError: the target came to be in the meantime and `overwrite` is not set.
        OSError: the disk is full.
    """
    provisional = free_name(target.with_name(f"{target.name}.{os.getpid()}.tmp"))
    compression = zipfile.ZIP_DEFLATED if spool.head["compression"] == "deflate" else zipfile.ZIP_STORED
    try:
        with open(provisional, "xb") as file:
            lock(file.fileno())
            content = BytesIO() if spool.size < _SMALL else file
            with zipfile.ZipFile(content, "w", compression, allowZip64=True) as members:
                for name, dtype, shape, pieces in _arrays(spool):
                    info = zipfile.ZipInfo(f"{name}.npy", _DATE)
                    info.compress_type = compression
                    with members.open(info, "w", force_zip64=True) as member:
                        _write_npy(member, dtype, shape, pieces)
                members.comment = json.dumps({"simreel": __version__, "dt": spool.head["dt"], **comment}).encode()
            if isinstance(content, BytesIO):
                file.write(content.getbuffer())
            else:
                file.flush()
                os.fsync(file.fileno())
        if not overwrite:
            _rename_new(provisional, target)
            return None
        old = None
        if keep_old and os.path.lexists(target):
            old = free_name(target.with_name(f"{target.name}.old"))
            os.rename(target, old)
        os.replace(provisional, target)
    except BaseException:
        with suppress(OSError):
            provisional.unlink()
        raise
    return old


_Array = tuple[str, np.dtype[Any], tuple[int, ...], Iterator[Any]]


def _arrays(spool: SpoolReader) -> Iterator[_Array]:
    n, dt = spool.rows, spool.head["dt"]
    yield "timestamp", np.dtype(np.float64), (n,), (_steps(r) * dt for r in spool.records)
    yield "step", np.dtype(np.int64), (n,), (_steps(r) for r in spool.records)
    if spool.head["has_episode"]:
        yield "episode", np.dtype(np.int32), (n,), (np.full(r.rows, r.episode, np.int32) for r in spool.records)
    for i, column in enumerate(spool.columns):
        yield column.name, np.dtype(column.dtype), (n, *column.shape), spool.column(i)


def _steps(record: Rows) -> np.ndarray[Any, np.dtype[np.int64]]:
    return record.first + np.arange(record.rows, dtype=np.int64) * record.stride


def _write_npy(member: IO[bytes], dtype: np.dtype[Any], shape: tuple[int, ...], pieces: Iterator[Any]) -> None:
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(member, header)
    for piece in pieces:
        member.write(piece)


def _rename_new(source: Path, target: Path) -> None:
    """Renames, but never over a file."""
    try:
        os.link(source, target)
    except FileExistsError:
        raise TargetExistsError(target) from None
    except OSError:
        # A file system without hard links.
        if os.path.lexists(target):
            raise TargetExistsError(target) from None
        os.replace(source, target)
    else:
        os.unlink(source)


def _was_left(spool: Path) -> bool:
    """Whether nobody writes a spool; not where that cannot be told, as of one that has just become an archive."""
    try:
        return not is_being_written(spool)
    except OSError:
        return False
