"""The spool: what a recording is until it ends, in records that survive a kill.

    magic 16 bytes | record | record | ...
    record:  tag 4s | rows u32 | first i64 | stride i64 | episode i64 | size u64 | body crc32 u32 | header crc32 u32
             | body

All numbers are little endian. A `HEAD` record has JSON as its body and comes first. The body of a `ROWS` record is its
columns one after another, each (rows, *shape) in C order. Each record is one write, so a kill loses at most the last.
The crc of a header starts from its place in the file: what looks like a record inside recorded data is none.
"""

from __future__ import annotations

import json
import math
import os
import re
import struct
import zlib
from array import array
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from simreel.errors import DamagedFileError

__all__ = ["MAGIC", "MAX_HEAD", "Header", "Rows", "SpoolColumn", "SpoolReader", "spools_of"]

MAGIC = b"simreel spool 1\n"
_HEADER = struct.Struct("<4sIqqqQI")
_CRC = struct.Struct("<I")
_HEADER_SIZE = _HEADER.size + _CRC.size
# A head is read into memory whole; more than this is no head of ours.
MAX_HEAD = 16 * 2**20
# A block has far fewer; more would be a number that asks for memory without bytes in the file.
_MAX_ROWS = 2**20
# Bytes read at once.
_PIECE = 2**20
# What a recorder records, as NumPy writes it.
_DTYPE = re.compile(r"[<>|=]?[biufc]\d+")


@dataclass(frozen=True)
class SpoolColumn:
    """A column as it lies in each `ROWS` record."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def row_bytes(self) -> int:
        """Bytes of one row."""
        return np.dtype(self.dtype).itemsize * math.prod(self.shape)


class Header(NamedTuple):
    """What stands before the body of a record; row i of a `ROWS` record is that of step `first + i * stride`."""

    tag: bytes
    rows: int
    first: int
    stride: int
    episode: int
    size: int
    crc: int

    def pack(self, at: int) -> bytes:
        """The header as it stands at byte `at` of the file."""
        raw = _HEADER.pack(*self)
        return raw + _CRC.pack(zlib.crc32(raw, at & 0xFFFFFFFF))

    @classmethod
    def unpack(cls, raw: bytes, at: int) -> Header | None:
        """The header that stands at byte `at`, or None where `raw` is none."""
        if len(raw) != _HEADER_SIZE:
            return None
        crc = zlib.crc32(raw[: _HEADER.size], at & 0xFFFFFFFF)
        return cls(*_HEADER.unpack_from(raw)) if _CRC.unpack_from(raw, _HEADER.size) == (crc,) else None

    def rows_at(self, offset: int) -> Rows:
        """Its rows, with the body at that byte."""
        return Rows(self.rows, self.first, self.stride, self.episode, offset)


class Rows(NamedTuple):
    """A `ROWS` record: row i is that of step `first + i * stride`."""

    rows: int
    first: int
    stride: int
    episode: int
    offset: int
    """Where its body starts."""


class SpoolReader:
    """Reads a spool, a torn or damaged one too: records whose checksums fail are left out and counted.

    Memory does not grow with the file: the headers are read anew by each pass.
    """

    def __init__(self, path: Path, fd: int | None = None) -> None:
        """Checks all records once.

        Args:
            path: the spool.
            fd: an open descriptor of it, which is closed with this reader.

        Raises:
            DamagedFileError: the file is no spool, or its head is lost.
        """
        self.path = path
        self.rows = 0
        """Rows that are whole."""
        self.lost_rows = 0
        """Rows that are not; estimated where a header is lost too."""
        self.lost_bytes = 0
        self.head: dict[str, Any] = {}
        self.columns: tuple[SpoolColumn, ...] = ()
        self._row_bytes = 0
        # A small file is read once.
        self._content: bytes | None = None
        self._kept: list[Rows] = []
        # Where a stretch starts that is not read, and where it ends, in turn.
        self._skipped = array("Q")
        self._file = open(path if fd is None else fd, "rb", buffering=0)  # noqa: SIM115 - closed by __exit__
        try:
            self.size = os.fstat(self._file.fileno()).st_size
            if self.size <= _PIECE:
                self._content = os.pread(self._file.fileno(), self.size, 0)
            magic = self._pread(len(MAGIC), 0)
            # A kill may have cut it.
            if not MAGIC.startswith(magic):
                is_spool = magic.startswith(MAGIC.rstrip(b"1\n"))
                found = "a spool that another version of simreel wrote" if is_spool else "not a simreel spool"
                raise DamagedFileError(path, 0, found)
            self._scan()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> SpoolReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def fileno(self) -> int:
        """The descriptor of the file."""
        return self._file.fileno()

    @property
    def records(self) -> Iterator[Rows]:
        """The records that are whole, one by one."""
        return self._read_records() if self._content is None else iter(self._kept)

    def _read_records(self) -> Iterator[Rows]:
        at, skip = len(MAGIC), 0
        while at < self.size:
            if skip < len(self._skipped) and self._skipped[skip] == at:
                at = self._skipped[skip + 1]
                skip += 2
                continue
            header = self._header(at)
            if header is None:
                raise DamagedFileError(self.path, at, "the file was altered while it was read")
            body = at + _HEADER_SIZE
            if header.tag == b"ROWS":
                yield header.rows_at(body)
            at = body + header.size

    def column(self, index: int) -> Iterator[bytes]:
        """The bytes of a column, piece by piece."""
        skipped = sum(column.row_bytes for column in self.columns[:index])
        row_bytes = self.columns[index].row_bytes
        for record in self.records:
            at = record.offset + record.rows * skipped
            stop = at + record.rows * row_bytes
            while at < stop:
                piece = self._exactly(min(_PIECE, stop - at), at)
                yield piece
                at += len(piece)

    def _scan(self) -> None:
        at = len(MAGIC)
        while at < self.size:
            header = self._header(at)
            body = at + _HEADER_SIZE
            if header is None or body + header.size > self.size:
                # A header that was torn or altered, or whose body a kill has cut short.
                following = self._next_header(at + 1)
                self._lose(at, following, self._guess_rows(following - at) if header is None else header.rows)
                at = following
                continue
            end = body + header.size
            if self._crc(body, end) != header.crc:
                self._lose(at, end, header.rows)
            elif header.tag == b"HEAD" and not self.columns and header.size <= MAX_HEAD:
                self._read_head(self._exactly(header.size, body), body)
            elif self._fits(header):
                self.rows += header.rows
                if self._content is not None:
                    self._kept.append(header.rows_at(body))
            else:
                self._lose(at, end, header.rows)
            at = end

    def _lose(self, start: int, stop: int, rows: int) -> None:
        self.lost_rows += rows
        self.lost_bytes += stop - start
        if self._skipped and self._skipped[-1] == start:
            self._skipped[-1] = stop
        else:
            self._skipped.extend((start, stop))

    def _guess_rows(self, size: int) -> int:
        if not self.columns:
            return 0
        return max(1, (size - _HEADER_SIZE) // self._row_bytes) if self._row_bytes else 1

    def _fits(self, header: Header) -> bool:
        return (
            header.tag == b"ROWS"
            and bool(self.columns)
            and header.rows <= _MAX_ROWS
            and header.size == header.rows * self._row_bytes
            and 0 <= header.episode < 2**31
        )

    def _header(self, at: int) -> Header | None:
        return Header.unpack(self._pread(_HEADER_SIZE, at), at)

    def _next_header(self, at: int) -> int:
        """Where the next header is, or the end of the file."""
        while at < self.size:
            piece = self._exactly(min(_PIECE, self.size - at), at)
            for match in re.finditer(b"ROWS|HEAD", piece):
                if self._header(at + match.start()) is not None:
                    return at + match.start()
            # A tag may lie across the end of the piece.
            at += max(1, len(piece) - 3)
        return self.size

    def _read_head(self, raw: bytes, at: int) -> None:
        try:
            head = json.loads(raw)
            columns = tuple(_column(**column) for column in head["columns"])
            if not columns or not 0 < head["dt"] < math.inf or {"has_episode", "compression"} - head.keys():
                raise ValueError("a field is missing or wrong")
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise DamagedFileError(self.path, at, f"the head cannot be read ({error})") from error
        self.head, self.columns = head, columns
        self._row_bytes = sum(column.row_bytes for column in columns)

    def _crc(self, start: int, stop: int) -> int:
        crc = 0
        while start < stop:
            piece = self._exactly(min(_PIECE, stop - start), start)
            crc = zlib.crc32(piece, crc)
            start += len(piece)
        return crc

    def _pread(self, size: int, at: int) -> bytes:
        if self._content is not None:
            return self._content[at : at + size]
        return os.pread(self._file.fileno(), size, at)

    def _exactly(self, size: int, at: int) -> bytes:
        raw = self._pread(size, at)
        if len(raw) < size:
            raise DamagedFileError(self.path, at + len(raw), "the file was cut while it was read")
        return raw


def spools_of(target: Path) -> list[Path]:
    """The spools beside a target, its episodes' included, oldest first."""
    pattern = re.compile(re.escape(target.stem) + r"(_\d{4,})?" + re.escape(target.suffix) + r"\.\d+\.spool(\.\d+)?")
    if not target.parent.is_dir():
        return []
    found = []
    for path in target.parent.iterdir():
        if pattern.fullmatch(path.name):
            # One that is gone has become an archive.
            with suppress(FileNotFoundError):
                found.append((path.stat().st_mtime_ns, path))
    return [path for _, path in sorted(found)]


def _column(name: str, dtype: str, shape: Sequence[int], **_: object) -> SpoolColumn:
    column = SpoolColumn(name, dtype, tuple(shape))
    if not isinstance(name, str) or not _DTYPE.fullmatch(dtype):
        raise ValueError(f"column {name!r} of dtype {dtype!r}")
    if not all(type(length) is int and length >= 0 for length in column.shape):
        raise ValueError(f"column {name!r} of shape {column.shape}")
    np.dtype(dtype)
    return column
