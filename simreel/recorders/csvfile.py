"""Writes CSV files that can be followed while they grow."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simreel.errors import OptionsError, SampleError, TargetError
from simreel.options.recorders import CSVFile
from simreel.recorders.file import FileRecorder
from simreel.recorders.registry import register_recording
from simreel.recorders.rows import format_rows, quote
from simreel.recorders.target import free_name, lock

if TYPE_CHECKING:
    from simreel.recorders.schema import Column, Schema

__all__ = ["CSVFileWriter"]


@register_recording(CSVFile)
class CSVFileWriter(FileRecorder[CSVFile]):
    """Appends whole rows, each block with one write, so that a kill cuts no more than the last row."""

    def accept(self, schema: Schema) -> None:
        """Fixes the header line.

        Raises:
            SampleError: a value is complex.
            OptionsError: the given header has another length than the values.
        """
        names: list[str] = []
        for column in schema.columns:
            if not column.is_text and column.dtype.kind == "c":
                raise SampleError(column.key, f"dtype {column.dtype}", "CSVFile records real numbers, bool and str")
            names += _names(column)
        header = self._options.header
        if header is not None:
            if len(header) != len(names):
                raise OptionsError(
                    "CSVFile", [f"header has {len(header)} names, the data {len(names)} values: {', '.join(names)}"]
                )
            names = list(header)
        names = ["timestamp", *("data/timestamp" if name == "timestamp" else name for name in names)]
        if not self._options.save_on_reset:
            names.append("episode")
        self._header = ",".join(map(quote, names)).encode() + b"\n"

    @property
    def run_in_thread(self) -> bool:
        """Rows that must be with the system when the step returns are written in it."""
        return not self._options.save_every_write

    def open_file(self, path: Path) -> None:
        """Makes the file; one that is there waits beside it until a clean end."""
        self._path = path
        self._old: Path | None = None
        if os.path.lexists(path):
            self._old = free_name(path.with_name(f"{path.name}.old"))
            os.rename(path, self._old)
        try:
            self._file = open(path, "xb", buffering=0)  # noqa: SIM115 - closed by finish_file
        except OSError as error:
            self._put_back()
            raise TargetError(path, f"cannot be made ({error.strerror})") from error
        lock(self._file.fileno())
        self._size = 0

    def process_block(
        self, steps: np.ndarray[Any, Any], times: np.ndarray[Any, Any], columns: dict[str, np.ndarray[Any, Any]]
    ) -> None:
        """Appends the rows of a block."""
        self.ensure_open()
        suffix = b"\n" if self._options.save_on_reset else b",%d\n" % self.episode
        if not self._size:
            self._append(self._header)
        self._rows_processed = 0
        for text, rows in format_rows(times, list(columns.values()), suffix):
            self._append(text)
            self._rows_processed += rows

    def process(self, data: Any, cur_time: float) -> None:
        """Never called: whole blocks are taken."""
        raise AssertionError

    def finish_file(self) -> None:
        """Closes the file, or removes it where it has no row."""
        if self._size:
            os.fsync(self._file.fileno())
            self._file.close()
            if self._old is not None:
                self._old.unlink(missing_ok=True)
        else:
            self._file.close()
            self._path.unlink(missing_ok=True)
            self._put_back()

    def _put_back(self) -> None:
        if self._old is not None:
            os.rename(self._old, self._path)

    def _append(self, text: bytes) -> None:
        written = self._file.write(text) or 0
        try:
            while written < len(text):
                # Says why the write was short; usually that the disk is full.
                written += self._file.write(text[written:]) or 0
        except OSError:
            # No half row stays.
            with suppress(OSError):
                os.ftruncate(self._file.fileno(), self._size)
            raise
        self._size += len(text)
        self.bytes_written += len(text)


def _names(column: Column) -> Sequence[str]:
    stem = "data" if column.key is None else column.key
    return ["_".join([stem, *map(str, index)]) for index in np.ndindex(column.shape)]
