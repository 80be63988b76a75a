"""Makes a GIF of a video without loss: the colours of all its frames are known before the first one is written.

A GIF has 256 colours; they are chosen over the whole run by median cut on a histogram of 64 x 64 x 64 boxes, improved
by some rounds of k-means, so that memory has a bound whatever the length.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["frame_time", "make_gif"]

_BITS = 6
_BOXES = 1 << 3 * _BITS
# One of the 256 stands for "as in the frame before".
_COLOURS = 255
_CLEAR = 255
_ROUNDS = 2
# Pixels of a frame that are counted at most; more of them change no palette.
_COUNTED = 100_000
# Dots are mixed over so many times the mean distance of the pixels from their colours: evenly spread over the width of
# a colour, they are its square root of 12th part away from it.
_DITHER = 3.0
# Boxes whose distances to all colours are held at once.
_PIECE = 1024
_CENTISECOND = Fraction(1, 100)

Array = np.ndarray[Any, Any]


def frame_time(index: int, fps: Fraction) -> int:
    """When a frame is shown, rounded to the nearest [1/100 s]."""
    return round(index / fps / _CENTISECOND)


def make_gif(source: Any, target: Path, fps: Fraction, tags: Mapping[str, str], limit: int | None = None) -> int:
    """Writes a GIF that repeats for ever; the number of its frames.

    Args:
        source: the video, read twice from its start.
        target: the new file; what is there is replaced.
        fps: frames a second.
        tags: its title, and a comment of JSON that gets the title too.
        limit: how many frames are taken; None for all.

    Raises:
        av.FFmpegError: the disk is full.
    """
    import av

    palette = _Palette(source, limit)
    shifts: Array | None = None
    count = 0
    with av.open(str(target), "w", format="gif", container_options={"loop": "0"}) as made:
        stream: Any = None
        for count, frame in enumerate(_frames(source, limit), 1):
            if stream is None:
                stream = made.add_stream("gif", rate=fps)
                stream.time_base = stream.codec_context.time_base = _CENTISECOND
                stream.width, stream.height, stream.pix_fmt = frame.shape[1], frame.shape[0], "pal8"
                shifts = _shifts(frame.shape[0], frame.shape[1], palette.spread)
            if shifts is not None:
                frame = np.clip(frame + shifts, 0, 255)
            picture = av.VideoFrame.from_ndarray((palette.numbers(frame), palette.argb), format="pal8")  # type: ignore[arg-type]
            start = frame_time(count - 1, fps)
            picture.pts, picture.time_base = start, _CENTISECOND
            picture.duration = frame_time(count, fps) - start
            made.mux(stream.encode(picture))
        if stream is not None:
            made.mux(stream.encode(None))
    _add_comment(target, json.dumps({**json.loads(tags["comment"]), "title": tags["title"]}))
    return count


def _frames(source: Any, limit: int | None) -> Iterator[Array]:
    """(H, W, 3) uint8, each; up to where the file was cut."""
    import av

    source.seek(0)
    with av.open(source, "r") as container:
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        try:
            for index, frame in enumerate(container.decode(stream)):
                if index == limit:
                    return
                yield frame.to_ndarray(format="rgb24")
        except av.FFmpegError:
            return


def _boxes(pixels: Array) -> Array:
    """The number of the box that each pixel is in: (...) int32 for (..., 3) uint8."""
    red, green, blue = (pixels[..., i].astype(np.int32) >> 8 - _BITS for i in range(3))
    return red << 2 * _BITS | green << _BITS | blue


def _shifts(height: int, width: int, spread: float) -> Array | None:
    """What is added to the pixels, (H, W, 3) int16, so that mixed dots of two colours look like one between them.

    The same for each frame: what stands still does not flicker. None where all colours are there.
    """
    amplitude = _DITHER * spread
    if amplitude < 1:
        return None
    # Bayer's pattern: each threshold once in 8 x 8, neighbours far apart. Shifted for each channel.
    pattern = np.zeros((1, 1))
    for _ in range(3):
        pattern = np.block([[4 * pattern, 4 * pattern + 2], [4 * pattern + 3, 4 * pattern + 1]])
    tile = np.stack([np.roll(pattern, 3 * i, (0, 1)) for i in range(3)], -1)
    tile = np.rint(((tile + 0.5) / 64 - 0.5) * amplitude).astype(np.int16)
    return np.tile(tile, (-(-height // 8), -(-width // 8), 1))[:height, :width]


class _Palette:
    """The colours of a video, and which of them stands for a pixel."""

    def __init__(self, source: Any, limit: int | None) -> None:
        counts = np.zeros(_BOXES, np.int64)
        sums = np.zeros((3, _BOXES))
        for frame in _frames(source, limit):
            step = -(-frame.shape[0] * frame.shape[1] // _COUNTED)
            pixels = frame.reshape(-1, 3)[::step]
            boxes = _boxes(pixels)
            counts += np.bincount(boxes, minlength=_BOXES)
            for i in range(3):
                sums[i] += np.bincount(boxes, pixels[:, i], _BOXES)
        # A box that was met is its mean, so that few colours are kept exactly; another its centre.
        every = np.arange(_BOXES)
        self._means = np.stack([(every >> shift * _BITS) % (1 << _BITS) for shift in (2, 1, 0)], -1).astype(np.float32)
        self._means = (self._means + 0.5) * (1 << 8 - _BITS) - 0.5
        met = np.flatnonzero(counts)
        self._means[met] = (sums[:, met] / counts[met]).T
        means = self._means[met]
        self._colours = _colours(means, counts[met]) if len(met) else np.zeros((1, 3), np.float32)
        self._number = np.zeros(_BOXES, np.uint8)
        self._is_known = np.zeros(_BOXES, np.bool_)
        self.argb = np.zeros((256, 4), np.uint8)
        """(256, 4) uint8."""
        self.argb[:_CLEAR, 0] = 255
        self.argb[: len(self._colours), 1:] = np.rint(self._colours)
        apart = means - self._colours[_nearest(means, self._colours)]
        self.spread = float(np.sqrt(np.average((apart**2).mean(1), weights=counts[met]))) if len(met) else 0.0
        """How far pixels are from their colours in the mean, along a channel."""

    def numbers(self, frame: Array) -> Array:
        """The number of the colour of each pixel, (H, W) uint8 for (H, W, 3)."""
        boxes = _boxes(frame)
        new = np.unique(boxes[~self._is_known[boxes]])
        if len(new):
            self._number[new] = _nearest(self._means[new], self._colours)
            self._is_known[new] = True
        return self._number[boxes]


def _colours(means: Array, counts: Array) -> Array:
    """At most _COLOURS of them, (k, 3) float32, for the boxes that were met."""
    if len(means) <= _COLOURS:
        return means
    groups = [np.arange(len(means))]
    spreads = [_spread(means, counts)]
    while len(groups) < _COLOURS:
        widest = int(np.argmax(spreads))
        if spreads[widest] <= 0:
            break
        for half in _halves(groups.pop(widest), means, counts):
            groups.append(half)
            spreads.append(_spread(means[half], counts[half]))
        spreads.pop(widest)
    colours = np.stack([np.average(means[group], 0, counts[group]) for group in groups]).astype(np.float32)
    for _ in range(_ROUNDS):
        owner = _nearest(means, colours)
        weight = np.bincount(owner, counts, len(colours))
        used = weight > 0
        for i in range(3):
            total = np.bincount(owner, counts * means[:, i], len(colours))
            colours[used, i] = total[used] / weight[used]
    return colours


def _spread(means: Array, counts: Array) -> float:
    """What a group costs as one colour: its squared distances from their mean, along its widest axis."""
    centre = np.average(means, 0, counts)
    return float(np.max(counts @ (means - centre) ** 2)) if len(means) > 1 else 0.0


def _halves(group: Array, means: Array, counts: Array) -> tuple[Array, Array]:
    """A group cut at its mean along its widest axis."""
    points, weights = means[group], counts[group]
    centre = np.average(points, 0, weights)
    axis = int(np.argmax(weights @ (points - centre) ** 2))
    left = points[:, axis] <= centre[axis]
    return group[left], group[~left]


def _nearest(points: Array, colours: Array) -> Array:
    """The number of the nearest colour for each point, (n,) uint8."""
    found = np.empty(len(points), np.uint8)
    # |p - c|^2 without |p|^2, which is the same for all colours. Not by matrix product: BLAS would start threads that
    # wait for each other where the cores are busy.
    lengths = (colours**2).sum(1, dtype=np.float32)
    distances, part = np.empty((2, _PIECE, len(colours)), np.float32)
    for start in range(0, len(points), _PIECE):
        piece = points[start : start + _PIECE] * np.float32(-2)
        n = len(piece)
        distances[:n] = lengths
        for i in range(3):
            np.multiply(piece[:, i, None], colours[:, i], out=part[:n])
            distances[:n] += part[:n]
        found[start : start + n] = distances[:n].argmin(1)
    return found


def _add_comment(path: Path, text: str) -> None:
    """Puts a comment before the end of a GIF, which no muxer of FFmpeg does."""
    data = text.encode()
    blocks = b"".join(bytes([len(data[i : i + 255])]) + data[i : i + 255] for i in range(0, len(data), 255))
    with open(path, "r+b") as file:
        file.seek(-1, 2)
        if file.read(1) == b";":
            file.seek(-1, 2)
            file.write(b"\x21\xfe" + blocks + b"\0;")
