"""Which arrays are frames, and frames as the encoder takes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simreel.errors import SampleError
from simreel.recorders.schema import Column, Pack, Schema

if TYPE_CHECKING:
    import av

__all__ = ["FrameLayout", "FrameSchema", "Painter"]

Array = np.ndarray[Any, Any]

_ALLOWED = "VideoFile records uint8 frames (H, W), (H, W, 1), (H, W, 3) or (H, W, 4)"
_FORMATS = {1: "gray", 3: "rgb24", 4: "rgba"}


@dataclass(frozen=True)
class FrameLayout:
    """What a frame looks like."""

    height: int
    """[px]"""

    width: int
    """[px]"""

    channels: int
    """1 grey, 3 RGB, 4 RGB and alpha, which is not used."""

    dtype: np.dtype[Any]
    """uint8, or a float from 0 to 1."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height [px]."""
        return self.width, self.height

    @classmethod
    def of(cls, shape: tuple[int, ...], dtype: np.dtype[Any], *, scale: bool) -> FrameLayout:
        """The layout of arrays with that shape and dtype.

        Args:
            shape: (H, W) or (H, W, channels).
            dtype: uint8, or a float where `scale`.
            scale: whether floats are taken.

        Raises:
            SampleError: they are no frames.
        """
        channels = shape[2] if len(shape) == 3 else 1
        found = f"a frame of shape {shape} {dtype}"
        if len(shape) not in {2, 3} or channels not in _FORMATS or 0 in shape:
            swapped = len(shape) == 3 and shape[0] in _FORMATS and 0 not in shape
            raise SampleError(None, found, _ALLOWED + ("; move the channels to the end" if swapped else ""))
        if dtype.kind == "f":
            if not scale:
                raise SampleError(None, found, f"{_ALLOWED}; for floats from 0 to 1 give scale=True")
        elif dtype != np.uint8:
            raise SampleError(None, found, f"{_ALLOWED}; convert it to uint8, or to floats from 0 to 1 with scale=True")
        return cls(shape[0], shape[1], channels, dtype)


class FrameSchema(Schema):
    """One array without a key; each sample has the shape and dtype of the first, to the letter.

    Args:
        first: the schema of the first sample.
        count: the number of the sample that is being taken.
        worlds: which of the leading axis are kept; None where they all are, or where it is no axis of worlds.
    """

    def __init__(self, first: Schema, count: Callable[[], int], worlds: Sequence[int] | None = None) -> None:
        column = first.columns[0]
        self._given = column
        self._count = count
        self._worlds = None if worlds is None else list(worlds)
        self._pack_given = first.packer()
        kept = column.shape if worlds is None else (len(worlds), *column.shape[1:])
        super().__init__([Column(None, column.dtype, kept)])

    def single_array(self) -> tuple[np.dtype[Any] | None, tuple[int, ...]]:
        """As of any schema; None where not all of an array is kept."""
        return super().single_array() if self._worlds is None else (None, ())

    def packer(self) -> Pack:
        """A function from what the data function returns to the bytes of a sample; it raises SampleError."""
        given, worlds = self._given, self._worlds
        dtype, shape = given.dtype, given.shape

        def pack(data: Any) -> bytes:
            if not (data.__class__ is np.ndarray and data.dtype is dtype and data.shape == shape):
                self._check(data)
                if worlds is None:
                    return self._pack_given(data)
                data = np.ndarray(shape, dtype, self._pack_given(data))
            if worlds is None:
                return bytes(data.tobytes())
            # Joined from views: one copy of what is kept, none of the rest.
            return b"".join([np.ascontiguousarray(data[world]).data for world in worlds])

        return pack

    def _check(self, data: Any) -> None:
        columns = Schema.of(data).columns
        column, given = columns[0], self._given
        allowed = f"{given.shape} {given.dtype} needed, as the first frame was"
        if column.key is not None:
            raise SampleError(column.key, "a dict", allowed)
        if (column.dtype, column.shape) != (given.dtype, given.shape):
            found = "str" if column.is_text else f"shape {column.shape} {column.dtype}"
            raise SampleError(None, f"frame {self._count()} of {found}", allowed)


class Painter:
    """Makes what the codec takes of frames: scaled, padded, in its colours.

    Args:
        layout: of the frames.
        size: width and height that the codec takes [px]; at most a pixel more than those of the frames.
        pixel_format: of the codec.
    """

    def __init__(self, layout: FrameLayout, size: tuple[int, int], pixel_format: str) -> None:
        import av.video.reformatter

        self._layout = layout
        self._format = pixel_format
        self._reformatter = av.video.reformatter.VideoReformatter()
        is_yuv = pixel_format.startswith(("yuv", "nv12"))
        # Those of `add_stream`, by swscale's numbers: ITU-R 601, and full range for yuvj.
        full = pixel_format.startswith("yuvj")
        self._colours = {"dst_colorspace": 5, "dst_color_range": 2 if full else 1} if is_yuv else {}
        shape = (layout.height, layout.width) + (() if layout.channels == 1 else (layout.channels,))
        self._shape = shape
        self._is_float = layout.dtype.kind == "f"
        self._floats = np.empty(shape, np.float32) if self._is_float else None
        # Frames that are used as they are need no buffer: the colours are converted from them into a new one.
        is_padded = size != layout.size
        self._buffer = np.empty((size[1], size[0], *shape[2:]), np.uint8) if is_padded or self._is_float else None

    def paint(self, frame: Array, number: int) -> av.VideoFrame:
        """A frame for the codec; nothing refers to `frame` any more.

        Raises:
            SampleError: a float is NaN or not from 0 to 1.
        """
        import av

        pixels = frame.reshape(self._shape)
        if self._buffer is not None:
            self._fill(self._buffer, pixels, number)
            pixels = self._buffer
        elif not pixels.flags.c_contiguous:
            pixels = np.ascontiguousarray(pixels)
        source = av.VideoFrame.from_numpy_buffer(pixels, format=_FORMATS[self._layout.channels])
        # On one thread: the codec's have the others.
        return self._reformatter.reformat(source, format=self._format, threads=1, **self._colours)

    def _fill(self, buffer: Array, pixels: Array, number: int) -> None:
        height, width = self._shape[:2]
        inside = buffer[:height, :width]
        if self._floats is None:
            inside[...] = pixels
        else:
            low, high = pixels.min(), pixels.max()
            if not (low >= 0 and high <= 1):  # also where one is NaN
                found = f"frame {number} with values from {low} to {high}"
                raise SampleError(None, found, "with scale=True values from 0 to 1 needed")
            np.multiply(pixels, 255, out=self._floats, casting="same_kind")
            self._floats += 0.5
            np.copyto(inside, self._floats, casting="unsafe")
        # The last row and column again: the picture's own colours are not mixed with others at its edge.
        buffer[height:, :width] = buffer[height - 1 : height, :width]
        buffer[:, width:] = buffer[:, width - 1 : width]
