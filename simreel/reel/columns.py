"""One field of all frames, read from the file as far as it is asked for."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from simreel.errors import FieldError, SimreelWarning

if TYPE_CHECKING:
    from simreel.reel.frames import Frames
    from simreel.reel.layout import Field

__all__ = ["Column"]


class Column:
    """A field of a reel; `reel.field(name)`.

    `column[a:b:c]` is a new (n, width) array, where frames of a gap are NaN, or 0 of integers, with one warning.
    `column[i]` is a (width,) array, or GapError. Of a ragged field the first is a list of (items, width) arrays, empty
    ones for a gap, the second such an array. `numpy.asarray(column)` is all of it.
    """

    def __init__(self, frames: Frames, number: int) -> None:
        self._source = frames
        self._number = number
        self.field: Field = frames.layout.fields[number]
        """Its name, dtype, width, unit and kind."""

    def __repr__(self) -> str:
        return f"<{self.field.name!r} of {self._source.path.name}: {len(self)} x {self.field.width} {self.field.dtype}>"

    def __len__(self) -> int:
        return len(self._source)

    @property
    def shape(self) -> tuple[int, int]:
        """Frames and width."""
        return len(self), self.field.width

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the values."""
        return self.field.dtype

    def __iter__(self) -> Iterator[np.ndarray[Any, Any]]:
        return (self[frame] for frame in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("the values of a reel are decoded: an array of them is always a copy")
        if self.field.ragged:
            raise FieldError(f"field {self.field.name!r}", "a ragged field", "its frames make no array; take [:]")
        return np.asarray(self[:], dtype)

    def __getitem__(self, key: int | slice) -> Any:
        """Values of a frame, or of frames.

        Raises:
            FrameIndexError: there is no such frame.
            FieldError: the key is neither an integer nor a slice.
            GapError: the frame is lost.
            DamagedFileError: a chunk cannot be decoded.
        """
        if isinstance(key, slice):
            values, lost = self.read(self._source.numbers(key))
            if lost:
                filler = "no items" if self.field.ragged else _filler(self.field)
                text = f"{self._source.path}: {lost} frames of field {self.field.name!r} are lost and read as {filler}"
                warnings.warn(text, SimreelWarning, stacklevel=2)
            return values
        frame = self._source.frame(key)
        return self._source.values(frame, [self._number])[self._number]

    def read(self, frames: range) -> tuple[Any, int]:
        """As a slice, and how many of the frames are lost; without a warning."""
        if len(frames) and frames.step < 0:
            values, lost = self.read(frames[::-1])
            return values[::-1], lost
        field, at, lost = self.field, 0, 0
        out: Any = _Lists(field, len(frames)) if field.ragged else np.empty((len(frames), field.width), field.dtype)
        for chunk, start, stop, rows, ahead in self._source.stretches(frames):
            columns = self._source.columns(chunk, [self._number], ahead)
            if columns is not None:
                out[at:start] = _filler(field)
                out[start:stop] = columns[self._number][rows]
                lost += start - at
                at = stop
        out[at:] = _filler(field)
        lost += len(frames) - at
        return (out.rows if field.ragged else out), lost


class _Lists:
    """Rows of any number of items, set like those of an array."""

    def __init__(self, field: Field, count: int) -> None:
        self.rows = [np.empty((0, field.width), field.dtype) for _ in range(count)]

    def __setitem__(self, key: slice, values: Any) -> None:
        # A lost frame has none.
        if isinstance(values, list):
            self.rows[key] = values


def _filler(field: Field) -> Any:
    return np.nan if field.dtype.kind == "f" else field.dtype.type(0).item()
