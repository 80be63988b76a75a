"""Writes CSV files that can be followed while they grow."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from simreel.errors import OptionsError, SampleError, SimreelWarning, TargetError
from simreel.options.recorders import CSVFile
from simreel.recorders.file import FileRecorder
from simreel.recorders.growing import GrowingFile
from simreel.recorders.registry import register_recording
from simreel.recorders.rows import format_rows, quote

if TYPE_CHECKING:
    from pathlib import Path

    from simreel.recorders.schema import Column, Schema

__all__ = ["CSVFileWriter"]

# An image has a million.
_NAMES_SHOWN = 20


@register_recording(CSVFile)
class CSVFileWriter(FileRecorder[CSVFile]):
    """Appends whole rows, each block with one write, so that a kill cuts no more than the last row."""

    def accept(self, schema: Schema) -> None:
        """Fixes the header line; a name that is there already gets a prefix, with a warning.

        Raises:
            SampleError: a value is complex, or with worlds neither a scalar nor one value for each world.
            OptionsError: the given header has another length than the values.
        """
        names: list[str] = []
        for column in schema.columns:
            if not column.is_text and column.dtype.kind == "c":
                raise SampleError(column.key, f"dtype {column.dtype}", "CSVFile records real numbers, bool and str")
            names += self._names(column)
        header = self._options.header
        if header is not None:
            if len(header) != len(names):
                raise OptionsError(
                    "CSVFile", [f"header has {len(header)} names, the data {len(names)} values: {_some(names)}"]
                )
            names = list(header)
        self._header = ",".join(map(quote, self._unique(names))).encode() + b"\n"

    def _unique(self, names: Sequence[str]) -> list[str]:
        own = self._own_names()
        taken = {"timestamp", *own}
        unique = []
        for name in names:
            kept = name
            while kept in taken:
                kept = f"data/{kept}"
            if kept != name:
                warnings.warn(
                    f"{self.label}: there is another column {name!r}; this one is called {kept!r}",
                    SimreelWarning,
                    stacklevel=2,
                )
            taken.add(kept)
            unique.append(kept)
        return ["timestamp", *unique, *own]

    def _own_names(self) -> list[str]:
        if self.timing.n_envs:
            return ["episode", "world_time", "world"]
        return [] if self._options.save_on_reset else ["episode"]

    def _names(self, column: Column) -> list[str]:
        stem, shape, n_envs = "data" if column.key is None else column.key, column.shape, self.timing.n_envs
        if n_envs and shape:
            if shape[0] != n_envs:
                raise SampleError(column.key, f"shape {shape}", f"a row for each of the {n_envs} worlds is needed")
            shape = shape[1:]
        return ["_".join([stem, *map(str, index)]) for index in np.ndindex(shape)]

    @property
    def run_in_thread(self) -> bool:
        """Rows that must be with the system when the step returns are written in it."""
        return not self._options.save_every_write

    def open_file(self, path: Path) -> None:
        """Makes the file; one that is there waits beside it until a clean end."""
        self._file = GrowingFile(path, overwrite=self._options.overwrite)

    def process_block(
        self, steps: np.ndarray[Any, Any], times: np.ndarray[Any, Any], columns: dict[str, np.ndarray[Any, Any]]
    ) -> None:
        """Appends the rows of a block."""
        self.ensure_open()
        values, suffix = list(columns.values()), b"\n"
        n_envs = self.timing.n_envs
        if n_envs:
            values = [*(_by_world(column, n_envs) for column in values), *self._world_columns(steps)]
            times = np.repeat(times, n_envs)
        elif not self._options.save_on_reset:
            suffix = b",%d\n" % self.episode
        # With the first rows: a file that has no row has no byte.
        header = b"" if self._file.size else self._header
        lines = self._rows_processed = 0
        for text, rows in format_rows(times, values, suffix):
            self._append(header + text)
            lines += rows
            self._rows_processed = lines // (n_envs or 1)
            header = b""

    def _world_columns(self, steps: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
        """What stands behind the values of each world: its episode, its time and its number."""
        n = len(steps)
        world_time = (self.worlds.steps(steps) * self.timing.dt).reshape(-1)
        return [np.tile(self.worlds.episode, n), world_time, np.tile(np.arange(self.timing.n_envs), n)]

    def process(self, data: Any, cur_time: float) -> None:
        """Never called: whole blocks are taken."""
        raise AssertionError

    def finish_file(self) -> None:
        """Closes the file, or removes it where it has no row.

        Raises:
            TargetError: somebody has deleted it.
        """
        file = self._file
        if not file.size:
            file.discard()
            return
        try:
            file.sync()
            if file.is_deleted:
                raise TargetError(file.path, "it was deleted while it was recorded; its rows are lost")
        except BaseException:
            file.keep(is_good=False)
            raise
        file.keep(is_good=self.status.error is None)

    def _append(self, text: bytes) -> None:
        try:
            self._file.write(text)
        except OSError:
            self._file.cut_back()
            raise
        self.bytes_written += len(text)


def _by_world(column: np.ndarray[Any, Any], n_envs: int) -> np.ndarray[Any, Any]:
    """Values of n samples, (n, n_envs, ...) or (n,), with one row for each sample and world."""
    if column.ndim == 1:
        return np.repeat(column, n_envs)
    return column.reshape(-1, *column.shape[2:])


def _some(names: Sequence[str]) -> str:
    """The first names."""
    return ", ".join(names[:_NAMES_SHOWN]) + (", ..." if len(names) > _NAMES_SHOWN else "")
