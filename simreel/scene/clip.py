"""The frames of a camera until they have a name: a video that grows in a temporary folder."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import threading
import warnings
import weakref
from concurrent.futures import Future, ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Any

from simreel.errors import OptionsError, SimreelWarning, TargetError, TargetExistsError
from simreel.recorders.codecs import CONTAINERS
from simreel.recorders.encoder import Encoder, check_rate
from simreel.recorders.remux import metadata, provisional, remux, sync

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Clip"]

# Frames that may wait to be encoded, as many as of a VideoFile.
_WAITING = 8


class Clip:
    """Encodes frames on a thread of its own.

    Args:
        fps: frames a second, until the clip is saved with others.
        label: how a warning names it.
    """

    def __init__(self, fps: Fraction, label: str) -> None:
        self.fps = fps
        self._label = label
        self.frames = 0
        self._folder = Path(tempfile.mkdtemp(prefix="simreel-"))
        self.path = self._folder / "camera.mp4"
        self._encoder = Encoder(self.path, None, fps)
        workers: set[int] = set()
        self._executor = ThreadPoolExecutor(1, "simreel camera", lambda: workers.add(threading.get_ident()))
        self._room = BoundedSemaphore(_WAITING)
        self._failed: list[BaseException] = []
        self._forgotten = weakref.finalize(self, _collect, self._executor, self._encoder, label, workers)
        self._forgotten.atexit = False
        _clips.add(self)

    def add(self, frame: np.ndarray[Any, Any]) -> None:
        """Has a frame encoded, (H, W, 3) uint8, which nobody else may change; waits while 8 frames wait.

        Raises:
            SimreelError: a frame before could not be encoded.
        """
        if self._failed:
            raise self._failed[0]
        self._shape = frame.shape
        self._room.acquire()
        self._executor.submit(self._encoder.add, frame).add_done_callback(self._encoded)
        self.frames += 1

    def _encoded(self, done: Future[None]) -> None:
        self._room.release()
        if (error := done.exception()) is not None:
            self._failed.append(error)

    def close(self) -> None:
        """Completes the file in the temporary folder. May be called twice."""
        self._executor.shutdown()
        self._encoder.close(error=str(self._failed[0]) if self._failed else None)

    def save(self, target: Path, fps: Fraction, title: str) -> bool:
        """Makes the final file and removes the temporary folder; whether there is one: without a frame there is none.

        Args:
            target: an .mp4, .mkv, .webm or .gif, which must not exist.
            fps: its frames a second.
            title: the title in it.

        Raises:
            TargetExistsError: the target exists; the clip goes on.
            TargetError: it cannot be written; the clip goes on.
            OptionsError: its suffix or the rate cannot be used; the clip goes on.
            SimreelError: a frame could not be encoded; those before are in the file.
        """
        target = Path(os.path.abspath(target.expanduser()))
        suffix = target.suffix.lower()
        if suffix not in CONTAINERS:
            what = f"a name in {', '.join(CONTAINERS)} is needed"
            raise OptionsError("stop_recording", [f"save_to_filename = {str(target)!r}: {what}"])
        check_rate(suffix, fps)
        if os.path.lexists(target):
            raise TargetExistsError(target, "remove it: a camera does not overwrite")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TargetError(target, f"the folder cannot be made ({error.strerror})") from error
        self.close()
        if self._encoder.frames:
            if suffix in {".mp4", ".mkv"}:
                tags = metadata(title, {"fps": str(fps), "frames": self._encoder.frames, "complete": not self._failed})
                with provisional(target) as made, open(self.path, "rb") as source:
                    remux(source, made, CONTAINERS[suffix], fps, tags, was=self.fps)
                    sync(made)
                    os.link(made, target)
            else:
                self._encode_again(target, fps, title)
        self.discard()
        if self._failed:
            raise self._failed[0]
        return self._encoder.frames > 0

    def _encode_again(self, target: Path, fps: Fraction, title: str) -> None:
        """For containers that do not take the packets of an .mp4."""
        import av

        encoder = Encoder(target, None, fps, title=title)
        with av.open(str(self.path)) as container:
            for frame in container.decode(video=0):
                # Without the pixel that an .mp4 needs at an odd side.
                encoder.add(frame.to_ndarray(format="rgb24")[: self._shape[0], : self._shape[1]])
        encoder.close()

    def keep(self) -> None:
        """Leaves the file where it is and says so."""
        # Not by calling the finalizer: at exit finalizers are switched off by then.
        self._forgotten.detach()
        _keep(self._executor, self._encoder, self._label)

    def discard(self) -> None:
        """Removes the temporary folder."""
        self._forgotten.detach()
        self._executor.shutdown()
        self._encoder.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _collect(executor: ThreadPoolExecutor, encoder: Encoder, label: str, workers: set[int]) -> None:
    """Ends a clip that the garbage collector has found, on whatever thread that was."""
    if threading.get_ident() in workers:
        # In the middle of a frame, and a thread cannot wait for itself.
        _left.append((executor, encoder, label))
    else:
        _keep(executor, encoder, label)


def _keep(executor: ThreadPoolExecutor, encoder: Encoder, label: str) -> None:
    """Completes a clip that nobody saved, and says where it is."""
    executor.shutdown()
    if encoder.close():
        warnings.warn(
            f"{label}: its frames were not saved by stop_recording(); they are kept in {encoder.path}",
            SimreelWarning,
            stacklevel=2,
        )


_clips: weakref.WeakSet[Clip] = weakref.WeakSet()
_left: list[tuple[ThreadPoolExecutor, Encoder, str]] = []


def _end_all() -> None:
    while _left:
        _keep(*_left.pop())
    for clip in list(_clips):
        # Where an exception ends the program its frames may be wanted.
        if hasattr(sys, "last_value"):
            clip.keep()
        else:
            clip.discard()


atexit.register(_end_all)
