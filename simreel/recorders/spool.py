"""The spool: what a recording is until it ends, in records that survive a kill.

    magic 16 bytes | record | record | ...
    record:  tag 4s | rows u32 | first i64 | stride i64 | episode i64 | size u64 | body crc32 u32 | header crc32 u32
             | body

All numbers are little endian. A `HEAD` record has JSON as its body and comes first. The body of a `ROWS` record is its
columns one after another, each (rows, *shape) in C order. Each record is one write, so a kill loses at most the last.
"""

from __future__ import annotations

import json
import mmap
import os
import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simreel.errors import DamagedFileError, TargetError
from simreel.recorders.target import lock

__all__ = ["Rows", "SpoolColumn", "SpoolReader", "SpoolWriter", "spools_of"]

_MAGIC = b"simreel spool 1\n"
_HEADER = struct.Struct("<4sIqqqQI")
_CRC = struct.Struct("<I")
_HEADER_SIZE = _HEADER.size + _CRC.size
# A header is read into memory whole; more than this is no header of ours.
_MAX_HEAD = 16 * 2**20


@dataclass(frozen=True)
class SpoolColumn:
    """A column as it lies in each `ROWS` record."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def row_bytes(self) -> int:
        """Bytes of one row."""
        return int(np.dtype(self.dtype).itemsize * np.prod(self.shape, dtype=np.int64))


@dataclass(frozen=True)
class Rows:
    """A `ROWS` record: row i is that of step `first + i * stride`."""

    rows: int
    first: int
    stride: int
    episode: int
    offset: int
    """Where its body starts."""


class SpoolWriter:
    """Appends records, each with one write."""

    def __init__(self, path: Path) -> None:
        """Makes the file, which must not exist.

        Raises:
            TargetError: it cannot be made.
        """
        self.path = path
        self.rows = 0
        try:
            self._file = open(path, "xb", buffering=0)  # noqa: SIM115 - closed by close
        except OSError as error:
            raise TargetError(path, f"cannot be made ({error.strerror})") from error
        lock(self._file.fileno())
        self.size = len(_MAGIC)
        self._write([_MAGIC])

    def write_head(self, head: dict[str, Any]) -> None:
        """Writes what a reader needs to know of the rows."""
        self._write_record(b"HEAD", (0, 0, 0, 0), [json.dumps(head).encode()])

    def write_rows(self, first: int, stride: int, episode: int, columns: Sequence[np.ndarray[Any, Any]]) -> None:
        """Writes (rows, *shape) arrays, one for each column of the head.

        Raises:
            OSError: the disk is full; what was written before is whole.
        """
        rows = len(columns[0])
        bodies = [np.ascontiguousarray(column).reshape(-1).view(np.uint8).data for column in columns]
        self._write_record(b"ROWS", (rows, first, stride, episode), bodies)
        self.rows += rows

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def _write_record(self, tag: bytes, numbers: tuple[int, int, int, int], bodies: Sequence[Any]) -> None:
        crc = 0
        for body in bodies:
            crc = zlib.crc32(body, crc)
        header = _HEADER.pack(tag, *numbers, sum(map(len, bodies)), crc)
        start = self.size
        size = self._write([header, _CRC.pack(zlib.crc32(header)), *bodies])
        self.size = start + size

    def _write(self, parts: Sequence[Any]) -> int:
        data = b"".join(parts)
        written = self._file.write(data) or 0
        try:
            while written < len(data):
                # Says why the write was short; usually that the disk is full.
                written += self._file.write(data[written:]) or 0
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._file.fileno(), self.size)
            raise
        return len(data)


class SpoolReader:
    """Reads a spool, a torn or damaged one too: records whose checksums fail are left out and counted."""

    def __init__(self, path: Path) -> None:
        """Reads the head and the headers of all records.

        Raises:
            DamagedFileError: the file is no spool, or its head is lost.
        """
        self.path = path
        self.lost_rows = 0
        self.lost_bytes = 0
        self._file = open(path, "rb")  # noqa: SIM115 - closed by close
        try:
            self.size = os.fstat(self._file.fileno()).st_size
            if self._file.read(len(_MAGIC)) != _MAGIC:
                raise DamagedFileError(path, 0, "not a simreel spool")
            self.head: dict[str, Any] = {}
            self.columns: tuple[SpoolColumn, ...] = ()
            self.records = list(self._scan())
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> SpoolReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def rows(self) -> int:
        """Rows that are whole."""
        return sum(record.rows for record in self.records)

    def column(self, index: int) -> Iterator[memoryview]:
        """The bytes of a column, record by record."""
        skipped = sum(column.row_bytes for column in self.columns[:index])
        row_bytes = self.columns[index].row_bytes
        fd = self._file.fileno()
        for record in self.records:
            yield memoryview(os.pread(fd, record.rows * row_bytes, record.offset + record.rows * skipped))

    def _scan(self) -> Iterator[Rows]:
        # Nothing of a file this short can be mapped or read.
        if self.size <= len(_MAGIC):
            return
        with mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            at = len(_MAGIC)
            while at < self.size:
                header = self._header(data, at)
                if header is None:
                    following = self._next_header(data, at + 1)
                    self.lost_bytes += following - at
                    at = following
                    continue
                tag, rows, first, stride, episode, size, crc = header
                body = at + _HEADER_SIZE
                at = body + size
                if zlib.crc32(memoryview(data)[body:at]) != crc:
                    self.lost_rows += rows
                elif tag == b"HEAD":
                    self._read_head(data[body:at], body)
                elif self.columns and size == rows * sum(column.row_bytes for column in self.columns):
                    yield Rows(rows, first, stride, episode, body)
                else:
                    self.lost_rows += rows

    def _header(self, data: mmap.mmap, at: int) -> tuple[bytes, int, int, int, int, int, int] | None:
        raw = data[at : at + _HEADER_SIZE]
        if len(raw) < _HEADER_SIZE or _CRC.unpack_from(raw, _HEADER.size)[0] != zlib.crc32(raw[: _HEADER.size]):
            return None
        header = _HEADER.unpack_from(raw)
        if header[0] == b"HEAD" and header[5] > _MAX_HEAD:
            return None
        # A body that was cut short by a kill.
        return None if at + _HEADER_SIZE + header[5] > self.size else header

    def _next_header(self, data: mmap.mmap, at: int) -> int:
        while at < self.size:
            found = [place for tag in (b"ROWS", b"HEAD") if (place := data.find(tag, at)) >= 0]
            if not found:
                return self.size
            at = min(found)
            if self._header(data, at) is not None:
                return at
            at += 1
        return self.size

    def _read_head(self, raw: bytes, at: int) -> None:
        try:
            head = json.loads(raw)
            columns = tuple(SpoolColumn(c["name"], c["dtype"], tuple(c["shape"])) for c in head["columns"])
            for column in columns:
                np.dtype(column.dtype)
        except (ValueError, TypeError, KeyError) as error:
            raise DamagedFileError(self.path, at, f"the head cannot be read ({error})") from error
        self.head, self.columns = head, columns


def spools_of(target: Path) -> list[Path]:
    """The spools beside a target, its episodes' included, oldest first."""
    pattern = re.compile(re.escape(target.stem) + r"(_\d{4,})?" + re.escape(target.suffix) + r"\.\d+\.spool(\.\d+)?")
    if not target.parent.is_dir():
        return []
    found = [path for path in target.parent.iterdir() if pattern.fullmatch(path.name)]
    return sorted(found, key=lambda path: path.stat().st_mtime_ns)
