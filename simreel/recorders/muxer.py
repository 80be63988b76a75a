"""Frames through a codec into a growing file, in fragments that a kill leaves whole."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from simreel.errors import TargetError
from simreel.recorders.codecs import Recipe, add_stream, encode, fitting_size, growing_options
from simreel.recorders.frames import FrameLayout, Painter

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

    from simreel.recorders.growing import GrowingFile

__all__ = ["Muxer"]

# A fragment is handed over with one write, which a kill does not cut, where it is smaller than this.
_BUFFER_SIZE = 2**20


class Muxer:
    """The codec and the container of a growing file.

    Args:
        file: what is written to; it stays open.
        path: the file as the user knows it, for messages.
        layout: of the frames.
        fps: frames a second. Frame i is shown at i / fps.
        recipe: codec and container.
        tags: the metadata.

    Raises:
        OptionsError: the codec cannot encode such frames.
        TargetError: the disk is full.
    """

    def __init__(
        self, file: GrowingFile, path: Path, layout: FrameLayout, fps: Fraction, recipe: Recipe, tags: Mapping[str, str]
    ) -> None:
        import av

        self.frames = 0
        """Frames that the codec has taken."""
        self.failed = False
        """Whether the codec or the disk has failed; nothing more can be added then."""
        self._path = path
        self._codec = recipe.codec
        self._tick = 1 / fps
        size = fitting_size(recipe, layout.size, fps)
        self._painter = Painter(layout, size, recipe.pixel_format)
        self._sink = _Sink(file)
        with self._told():
            self._container: Any = av.open(
                self._sink,
                "w",
                format=recipe.container,
                container_options=growing_options(recipe, fps),
                buffer_size=_BUFFER_SIZE,
            )
            self._container.metadata.update(tags)
            self._stream: Any = add_stream(self._container, recipe, size, fps)
        _running.add(self)

    def add(self, frame: np.ndarray[Any, Any]) -> None:
        """Encodes a frame.

        Raises:
            SampleError: a float is not from 0 to 1.
            TargetError: the codec or the disk failed.
        """
        picture = self._painter.paint(frame, self.frames)
        picture.pts, picture.time_base, picture.duration = self.frames, self._tick, 1
        with self._told():
            self._container.mux(encode(self._stream, picture))
        self.frames += 1

    def finish(self) -> None:
        """Encodes what the codec has held back and ends the container.

        Raises:
            TargetError: the codec or the disk failed.
        """
        with self._told():
            self._container.mux(encode(self._stream, None))
            self._container.close()
        self.let_go()

    def let_go(self) -> None:
        """Frees codec and container; writes nothing."""
        self._sink.closed = True
        self._container = self._stream = None
        _running.discard(self)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Errors as ours, with what to do."""
        import av

        try:
            yield
        except (OSError, av.FFmpegError, ValueError) as error:
            self.failed = True
            reason = getattr(error, "strerror", None) or str(error)
            what = f"frame {self.frames} cannot be"
            if isinstance(error, OSError) and (self._sink.error is not None or not isinstance(error, av.FFmpegError)):
                text = f"{what} written ({reason}); those before are kept. Free space, or record to another disk"
            else:
                text = f"{what} encoded by {self._codec} ({reason}); those before are kept. Try another codec"
            raise TargetError(self._path, text) from error


class _Sink:
    """The file for the muxer, which is kept from writing to it once this is closed."""

    def __init__(self, file: GrowingFile) -> None:
        self._file = file
        self._closed = False
        self.error: OSError | None = None
        self.seek, self.tell = file.seek, file.tell

    @property
    def closed(self) -> bool:
        """Asked by PyAV before it ends a container that nobody has closed."""
        return self._closed or self._file.closed

    @closed.setter
    def closed(self, closed: bool) -> None:
        self._closed = closed

    def write(self, data: bytes) -> int:
        """Writes all of it."""
        try:
            return self._file.write(data)
        except OSError as error:
            self.error = error
            raise


_running: WeakSet[Muxer] = WeakSet()


def _leak() -> None:
    """Never frees the codecs of a forked child: that would wait for threads that only the parent has."""
    import ctypes

    for muxer in list(_running):
        for each in (muxer._container, muxer._stream, getattr(muxer._stream, "codec_context", None)):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(each))
        muxer._sink.closed = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leak)
