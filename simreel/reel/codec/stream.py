"""The bytes of a stream: one zstd frame.

Its content is, with each plane as [column][frame] without the constant columns:

    | predictor of each column | frame 0 | plane 0 (lowest bytes) | plane 1 | ...
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import zstandard

from simreel.reel.codec.base import CodecError
from simreel.reel.codec.ordered import ONE, REST, SIGN

if TYPE_CHECKING:
    from simreel.reel.codec.ordered import Integers

__all__ = ["Content", "pack", "unpack"]

# A plane of at least so many bytes has a Huffman table of its own, which takes up to 130.
_OWN_BLOCK = 1024


@dataclass(frozen=True)
class Content:
    """What a stream says of `width` columns in `n` frames."""

    predictors: np.ndarray[Any, np.dtype[np.uint8]]
    """(width,)."""

    first: Integers
    """(width,) bits of the values of frame 0, not yet ordered."""

    residual: Integers
    """(k, n - 1) of the columns whose predictor is not 0."""


def pack(content: Content, compressor: zstandard.ZstdCompressor) -> bytes:
    """The stream."""
    head = content.predictors.tobytes() + content.first.tobytes()
    if not content.residual.size:
        return compressor.compress(head)
    planes = _planes(content.residual)
    if planes[0].size < _OWN_BLOCK:
        return compressor.compress(head + planes.tobytes())
    writer = compressor.compressobj(size=len(head) + planes.nbytes)
    # The high planes are all zero as a rule, and need no table.
    is_used: np.ndarray[Any, np.dtype[np.bool_]] = np.any(planes, axis=(1, 2))
    used = len(planes) - int(is_used[::-1].argmax()) if is_used.any() else 0
    parts = [writer.compress(head)]
    for plane in [*planes[:used], planes[used:]]:
        parts += [writer.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK), writer.compress(plane.data)]
    return b"".join([*parts, writer.flush()])


def unpack(name: str, streams: Sequence[memoryview], shape: tuple[int, int], dtype: np.dtype[Any]) -> Content:
    """What streams say of (n, width) values, as integers of `dtype`; each of them of an equal share of the columns.

    Raises:
        CodecError: one does not hold that.
    """
    n, width = shape[0], shape[1] // len(streams)
    size = dtype.itemsize
    predictors, first, planes = [], [], []
    for stream in streams:
        body = _decompressed(name, stream, width * (1 + size), (n - 1) * size, width)
        predictors.append(np.frombuffer(body, np.uint8, width))
        first.append(np.frombuffer(body, dtype, width, offset=width))
        rest = np.frombuffer(body, np.uint8, offset=width * (1 + size))
        varying = int(np.count_nonzero(predictors[-1]))
        if rest.size != varying * (n - 1) * size:
            raise CodecError(name, f"{rest.size} bytes of residuals for {varying} columns that vary in {n} frames")
        planes.append(rest.reshape(size, varying, n - 1))
    return Content(_joined(predictors), _joined(first), _residual(_joined(planes, 1), dtype))


def _joined(parts: list[np.ndarray[Any, Any]], axis: int = 0) -> np.ndarray[Any, Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis)


def _decompressed(name: str, stream: memoryview, head: int, column: int, width: int) -> bytes:
    try:
        size = zstandard.get_frame_parameters(stream).content_size
        # Checked before anything of that size is allocated. A size that is not stated reads as a huge one.
        residuals = size - head
        if not 0 <= residuals <= width * column or (residuals and residuals % column):
            raise CodecError(name, f"a zstd frame of {size} bytes of content, which no number of columns gives")
        body = _decompressor().decompress(stream, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise CodecError(name, f"not a whole zstd frame ({error})") from error
    if len(body) != size:
        raise CodecError(name, f"{len(body)} bytes in a zstd frame that states {size}")
    return body


def _decompressor() -> zstandard.ZstdDecompressor:
    """One for each thread: to make it takes longer than to use it, and threads cannot share it."""
    if not hasattr(_of_thread, "decompressor"):
        _of_thread.decompressor = zstandard.ZstdDecompressor()
    found: zstandard.ZstdDecompressor = _of_thread.decompressor
    return found


_of_thread = threading.local()


def _planes(residual: Integers) -> np.ndarray[Any, np.dtype[np.uint8]]:
    zigzag: Integers = residual >> SIGN[residual.itemsize]
    residual = residual + residual
    zigzag ^= residual
    octets = zigzag.view(np.uint8).reshape(*residual.shape, residual.itemsize)
    return np.ascontiguousarray(octets.transpose(2, 0, 1))


def _residual(planes: np.ndarray[Any, np.dtype[np.uint8]], dtype: np.dtype[Any]) -> Integers:
    zigzag: Integers = np.empty(planes.shape[1:], dtype)
    zigzag.view(np.uint8).reshape(*zigzag.shape, dtype.itemsize)[:] = planes.transpose(1, 2, 0)
    sign = zigzag & ONE[dtype.itemsize]
    np.negative(sign, out=sign)
    zigzag >>= ONE[dtype.itemsize]
    # The highest bit is no sign here.
    zigzag &= REST[dtype.itemsize]
    zigzag ^= sign
    return zigzag
