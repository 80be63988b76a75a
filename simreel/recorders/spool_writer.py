"""Writes spools."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from simreel.errors import TargetError
from simreel.recorders.spool import MAGIC, MAX_HEAD, Header
from simreel.recorders.target import hold

__all__ = ["SpoolWriter"]

# A record up to this size [bytes] is joined and goes out with one write; to copy a larger one costs more than writes.
_MAX_JOINED = 2**16


class SpoolWriter:
    """Appends records; one that a kill cuts short is left out by the reader."""

    def __init__(self, path: Path) -> None:
        """Makes the file, which must not exist.

        Raises:
            TargetError: it cannot be made.
        """
        self.path = path
        self.rows = 0
        self.size = 0
        try:
            self._file = open(path, "x+b", buffering=0)  # noqa: SIM115 - closed by close
        except OSError as error:
            raise TargetError(path, f"cannot be made ({error.strerror})") from error
        hold(self._file)
        try:
            self._write([MAGIC])
        except OSError as error:
            self.close()
            with suppress(OSError):
                path.unlink()
            raise TargetError(path, f"cannot be written ({error.strerror})") from error

    def write_head(self, head: dict[str, Any]) -> None:
        """Writes what a reader needs to know of the rows."""
        raw = json.dumps(head).encode()
        if len(raw) > MAX_HEAD:
            raise ValueError(f"the names of the columns take {len(raw)} bytes, {MAX_HEAD} are allowed")
        self._write_record(b"HEAD", (0, 0, 0, 0), [raw])

    def write_rows(self, first: int, stride: int, episode: int, columns: Sequence[np.ndarray[Any, Any]]) -> None:
        """Writes (rows, *shape) arrays, one for each column of the head.

        Raises:
            OSError: the disk is full; what was written before is whole.
        """
        rows = len(columns[0])
        bodies = [np.ascontiguousarray(column).reshape(-1).view(np.uint8).data for column in columns]
        self._write_record(b"ROWS", (rows, first, stride, episode), bodies)
        self.rows += rows

    def fileno(self) -> int:
        """The descriptor of the file, which has its rows even if somebody has removed its name."""
        return self._file.fileno()

    def close(self) -> None:
        """Closes the file; until then it counts as being written."""
        self._file.close()

    def _write_record(self, tag: bytes, numbers: tuple[int, int, int, int], bodies: Sequence[Any]) -> None:
        crc = 0
        for body in bodies:
            crc = zlib.crc32(body, crc)
        header = Header(tag, *numbers, sum(map(len, bodies)), crc)
        self._write([header.pack(self.size), *bodies])

    def _write(self, parts: Sequence[Any]) -> None:
        size = sum(map(len, parts))
        try:
            for part in parts if size > _MAX_JOINED else [b"".join(parts)]:
                written = self._file.write(part) or 0
                while written < len(part):
                    # Says why the write was short; usually that the disk is full.
                    written += self._file.write(part[written:]) or 0
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._file.fileno(), self.size)
            raise
        self.size += size
