"""What a CSV file holds: its columns, rows and times, and whether its last row is whole."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import numpy as np

from simreel.cli.console import printable
from simreel.cli.look.times import Times
from simreel.errors import DamagedFileError

__all__ = ["describe_csv"]

# Longer than any row of numbers that somebody reads as text; a file without line ends is not taken into memory.
_MAX_LINE = 16 * 2**20
_ROWS = 4096


def describe_csv(file: str) -> list[str]:
    """Lines that tell what a CSV file holds.

    Raises:
        DamagedFileError: it is no CSV file, or a row in it has another length than the header.
    """
    from simreel.recorders.base import format_bytes

    # Bytes that are no text come through as surrogates, and _check_header tells of them.
    with open(file, encoding="utf-8", errors="surrogateescape", newline="") as opened:
        lines = _Lines(file, opened)
        limit = csv.field_size_limit(_MAX_LINE)
        try:
            rows = csv.reader(lines, strict=True)
            header = next(rows, [])
            _check_header(file, header)
            if not lines.is_whole:
                raise DamagedFileError(file, os.path.getsize(file), "the file is cut within its first line")
            times, cut = _read(file, lines, rows, header)
        except csv.Error as error:
            raise DamagedFileError(file, lines.offset, f"line {lines.number}: {error}") from None
        finally:
            csv.field_size_limit(limit)
    return [
        f"{file}: CSV, {format_bytes(os.path.getsize(file))}",
        times.text(),
        _ending(file, cut),
        f"{len(header)} columns: {', '.join(map(printable, header))}",
    ]


def _ending(file: str, cut: bool) -> str:
    from simreel.recorders.target import is_being_written

    if is_being_written(Path(file)):
        return "a running process writes it"
    return f"the last row is cut: simreel recover {file}" if cut else "the last row is whole"


class _Lines:
    """The lines of a file, counted, none longer than a bound."""

    def __init__(self, file: str, opened: TextIO) -> None:
        self._file = file
        self._opened = opened
        self.number = 0
        self.offset = 0
        """Bytes before the line that was read last."""
        self._next = 0
        self.is_whole = True
        """Whether that line has an end."""

    def __iter__(self) -> Iterator[str]:
        while line := self._opened.readline(_MAX_LINE):
            self.number += 1
            self.offset = self._next
            self._next += len(line.encode("utf-8", "surrogateescape"))
            self.is_whole = line.endswith("\n")
            if len(line) == _MAX_LINE:
                raise DamagedFileError(self._file, self.offset, f"a line of more than {_MAX_LINE} characters")
            yield line


def _check_header(file: str, header: list[str]) -> None:
    if not header:
        raise DamagedFileError(file, 0, "the file is empty")
    text = "".join(header)
    if "\0" in text or any("\udc80" <= letter <= "\udcff" for letter in text):
        raise DamagedFileError(file, 0, "the first line is no text, so this is no CSV file")


def _read(file: str, lines: _Lines, rows: Iterator[list[str]], header: list[str]) -> tuple[Times, bool]:
    """The times of the whole rows, and whether a cut one follows."""
    times = Times()
    is_recording = header[0] == "timestamp"
    has_episode = is_recording and header[-1] == "episode"
    stamps: list[str] = []
    episodes: list[str] = []

    def flush() -> None:
        try:
            if is_recording:
                times.add_times(np.array(stamps, dtype=np.float64))
            else:
                times.rows += len(stamps)
            if has_episode:
                times.add_episodes(np.array(episodes, dtype=np.int64))
        except ValueError:
            raise DamagedFileError(
                file, lines.offset, f"before line {lines.number}: a timestamp or episode is no number"
            ) from None
        stamps.clear()
        episodes.clear()

    cut = False
    try:
        for row in rows:
            # Only the last line of a file can be without an end.
            if not lines.is_whole:
                cut = True
                break
            if len(row) != len(header):
                found = f"line {lines.number} has {len(row)} values, the header names {len(header)}"
                raise DamagedFileError(file, lines.offset, found)
            stamps.append(row[0])
            episodes.append(row[-1])
            if len(stamps) == _ROWS:
                flush()
    except csv.Error:
        # A cut inside of quotes.
        if lines.is_whole and _has_more(rows):
            raise
        cut = True
    flush()
    return times, cut


def _has_more(rows: Iterator[list[str]]) -> bool:
    try:
        return next(rows, None) is not None
    except csv.Error:
        return True
