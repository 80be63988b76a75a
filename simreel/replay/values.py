"""A field of all frames in the shape that it has in the scene."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from simreel.reel.columns import Column
    from simreel.reel.layout import Field

__all__ = ["Values"]


class Values:
    """What `traj.field(name)` and `traj.channel(name)` give; nothing is read until it is indexed.

    `values[a:b]` is a new (n, ...) array; frames that are lost are NaN, or 0 of integers, with one warning.
    `values[i]` is the array of a frame, or GapError. Of a ragged field the first is a list of (items, width) arrays.

    Args:
        column: of the reel.
        shape: of the values of a frame; a ragged field has none.
    """

    def __init__(self, column: Column, shape: tuple[int, ...]) -> None:
        self._column = column
        self._field: Field = column.field
        self._frame_shape = shape

    def __repr__(self) -> str:
        return f"<{self._field.name!r}: {len(self)} frames of {self.dtype} {self._frame_shape}>"

    def __len__(self) -> int:
        return len(self._column)

    @property
    def shape(self) -> tuple[int, ...]:
        """Frames, and the shape of the values of one."""
        return (len(self), *self._frame_shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the values."""
        return self._field.dtype

    @property
    def unit(self) -> str:
        """Of the values; empty where it is not known."""
        return self._field.unit

    def __getitem__(self, key: int | slice) -> Any:
        """Values of a frame, or of frames.

        Raises:
            FrameIndexError: there is no such frame.
            GapError: the frame is lost.
            DamagedFileError: a chunk cannot be decoded.
        """
        values = self._column[key]
        if self._field.ragged:
            return values
        return values.reshape((*values.shape[:-1], *self._frame_shape))

    def __iter__(self) -> Iterator[Any]:
        return (self[frame] for frame in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("the values of a trajectory are decoded: an array of them is always a copy")
        return np.asarray(self[:], dtype)
