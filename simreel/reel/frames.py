"""The frames of a reel by number: which chunk has them, and what is lost."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, SupportsIndex

from simreel.errors import DamagedFileError, FieldError, FrameIndexError, GapError
from simreel.reel.chunk_table import ChunkTable, merge_spans
from simreel.reel.record import version_text

if TYPE_CHECKING:
    from simreel.reel.layout import Layout
    from simreel.reel.store import ChunkStore

__all__ = ["Frames", "Stretch"]


class Stretch(NamedTuple):
    """Frames of a range that stand in one chunk."""

    chunk: int
    start: int
    """The place in the range of the first of them."""
    stop: int
    """The place after the last."""
    rows: slice
    """Where they are in the chunk."""
    ahead: int
    """So many chunks after it, one after another, hold frames of the range too."""


class Frames:
    """Finds frames in chunks.

    Args:
        path: of the file.
        version: of its format.
        layout: of a frame.
        table: which chunk holds which frames.
        store: their contents.
    """

    def __init__(
        self, path: Path, version: tuple[int, int], layout: Layout, table: ChunkTable, store: ChunkStore
    ) -> None:
        self.path = path
        self.layout = layout
        self.table = table
        self.store = store
        self._version = version

    def __len__(self) -> int:
        return self.table.frames

    @cached_property
    def gaps(self) -> list[tuple[int, int]]:
        """The spans of lost frames; checks every chunk."""
        bad = [self.table.span(chunk) for chunk in range(len(self.table)) if not self.store.check(chunk)]
        return merge_spans([*bad, *self.table.missing()])

    def frame(self, index: SupportsIndex) -> int:
        """The number of a frame, from the end where it is negative.

        Raises:
            FrameIndexError: there is no such frame.
            FieldError: it is no integer.
        """
        number = self._number(index)
        frame = number + len(self) if number < 0 else number
        if not 0 <= frame < len(self):
            raise FrameIndexError(self.path, number, len(self), version_text(self._version))
        return frame

    def numbers(self, frames: slice) -> range:
        """The numbers of the frames of a slice.

        Raises:
            FieldError: it has something else than integers, or the step 0.
        """
        bounds = [None if each is None else self._number(each) for each in (frames.start, frames.stop, frames.step)]
        if bounds[2] == 0:
            raise FieldError("frames", "a slice with the step 0", "any other step is allowed")
        return range(len(self))[slice(*bounds)]

    @staticmethod
    def _number(given: Any) -> int:
        try:
            return operator.index(given)
        except TypeError:
            needed = "an integer or a slice is needed; take all with [:], numpy does the rest"
            raise FieldError("frames", f"{given!r:.100}", needed) from None

    def values(self, frame: int, fields: Sequence[int]) -> dict[int, Any]:
        """Copies of fields of a frame, by the place of the field.

        Raises:
            GapError: the frame is lost.
            DamagedFileError: its chunk cannot be decoded.
        """
        chunk = self.table.find(frame)
        columns = None if chunk is None else self.columns(chunk, fields)
        if chunk is None or columns is None:
            lost = self.table.missing() if chunk is None else [self.table.span(chunk)]
            raise GapError(self.path, frame, next(gap for gap in lost if gap[0] <= frame < gap[1]))
        row = frame - self.table.firsts[chunk]
        return {field: column[row].copy() for field, column in columns.items()}

    def columns(self, chunk: int, fields: Sequence[int], ahead: int = 0) -> dict[int, Any] | None:
        """Fields of a chunk as `ChunkStore.columns` gives them; None where the chunk is damaged.

        Raises:
            DamagedFileError: it is as it was written but cannot be decoded.
        """
        try:
            return self.store.columns(chunk, fields, ahead)
        except DamagedFileError:
            if chunk in self.store.damage:
                return None
            raise

    def stretches(self, frames: range) -> Iterator[Stretch]:
        """What chunks hold of a range of frames with a positive step, in order."""
        first, step = frames.start, frames.step
        chunks = self.table.between(first, frames.stop)
        for chunk in chunks:
            begin, end = self.table.span(chunk)
            start = max(0, -((first - begin) // step))
            stop = min(len(frames), -((first - end) // step))
            if start < stop:
                row = first + start * step - begin
                rows = slice(row, row + (stop - start - 1) * step + 1, step)
                yield Stretch(chunk, start, stop, rows, chunks[-1] - chunk if step <= end - begin else 0)
