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
from contextlib import suppress
from fractions import Fraction
from itertools import islice
from pathlib import Path
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Any

from simreel.errors import OptionsError, SimreelError, SimreelWarning, TargetError, TargetExistsError
from simreel.options.recorders import VideoFile
from simreel.recorders.codecs import CONTAINERS, fitting_size, padding, recipe_for
from simreel.recorders.encoder import Encoder, check_rate
from simreel.recorders.remux import metadata, provisional, remux, survey, sync
from simreel.recorders.target import Target

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Clip"]

# Frames that may wait to be encoded, as many as of a VideoFile.
_WAITING = 8
# Any codec takes it: what is tried is the rate.
_TRIAL_SIZE = (64, 64)


class Clip:
    """Encodes frames on a thread of its own.

    Args:
        fps: frames a second, until the clip is saved with others.
        label: how a warning names it.

    Raises:
        TargetError: there is no temporary folder.
    """

    def __init__(self, fps: Fraction, label: str) -> None:
        self.fps = fps
        self._label = label
        self.frames = 0
        try:
            self._folder = Path(tempfile.mkdtemp(prefix="simreel-"))
        except OSError as error:
            raise TargetError("the temporary folder of a camera", f"cannot be made ({error.strerror})") from error
        self.path = self._folder / "camera.mp4"
        self._encoder = Encoder(self.path, None, fps)
        workers: set[int] = set()
        self._executor = ThreadPoolExecutor(1, "simreel camera", lambda: workers.add(threading.get_ident()))
        self._room = BoundedSemaphore(_WAITING)
        self._failed: list[BaseException] = []
        self._is_ended = False
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

    @property
    def is_ended(self) -> bool:
        """Whether it takes no more frames: a save has ended it, also one that then failed."""
        return self._is_ended

    @property
    def is_discarded(self) -> bool:
        """Whether there is nothing left to save."""
        return not self._forgotten.alive

    def save(self, filename: str | os.PathLike[str], fps: Fraction, title: str) -> bool:
        """Makes the final file and removes the temporary folder; whether there is one: without a frame there is none.

        Args:
            filename: an .mp4, .mkv, .webm or .gif, which must not exist.
            fps: its frames a second.
            title: the title in it.

        Raises:
            TargetExistsError: the file exists; the clip goes on.
            TargetError: it cannot be made; the clip goes on. Where the disk fills up later, the clip has ended, and can
                be saved elsewhere.
            OptionsError: its suffix or the rate cannot be used; the clip goes on.
            SimreelError: a frame could not be encoded; those before are in the file.
        """
        import av

        target = _checked(filename, fps)
        frames = 0
        try:
            # Made before the clip is ended: where it cannot be, the clip goes on.
            with provisional(target) as made:
                frames = self._end()
                if frames:
                    self._fill(made, target.suffix.lower(), fps, title, frames)
                    sync(made)
                    _name(made, target)
        except TargetExistsError:
            raise
        except (OSError, OverflowError, av.FFmpegError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            onward = "its frames are kept: call stop_recording() again" if self._is_ended else "the recording goes on"
            raise TargetError(target, f"cannot be written ({reason}); {onward}") from error
        self.discard()
        if self._failed:
            what = f"the first {frames} frames are in {target}" if frames else f"no whole frame is left for {target}"
            self._failed[0].add_note(what)
            raise self._failed[0]
        return frames > 0

    def _end(self) -> int:
        """Completes the file in the temporary folder; the frames in it. May be called again."""
        import av

        self._is_ended = True
        self._executor.shutdown()
        try:
            self._encoder.close(error=str(self._failed[0]) if self._failed else None)
        except (SimreelError, OSError, IndexError, av.FFmpegError) as error:
            # Told when what there is has been saved.
            self._failed.append(error)
        if not self._failed:
            return self._encoder.frames
        frames = 0
        with suppress(OSError, av.FFmpegError, IndexError), open(self.path, "rb") as file:
            frames = survey(file).whole
        if frames == self.frames:
            # Nothing is lost: the disk was too full to write them a second time.
            self._failed.clear()
        return frames

    def _fill(self, made: Path, suffix: str, fps: Fraction, title: str, frames: int) -> None:
        """Writes the final file to one that is there and empty."""
        if suffix not in {".mp4", ".mkv"}:
            self._encode_again(made, suffix, fps, title, frames)
            return
        tags = metadata(title, {"fps": str(fps), "frames": frames, "complete": not self._failed})
        with open(self.path, "rb") as source:
            remux(source, made, CONTAINERS[suffix], fps, tags, frames, was=self.fps)

    def _encode_again(self, made: Path, suffix: str, fps: Fraction, title: str, frames: int) -> None:
        """For containers that do not take the packets of an .mp4."""
        import av

        error = str(self._failed[0]) if self._failed else None
        # In a folder of its own, which takes what a failure leaves with it.
        with tempfile.TemporaryDirectory(dir=self._folder) as folder:
            encoder = Encoder(Path(folder) / f"camera{suffix}", None, fps, title=title)
            try:
                with av.open(str(self.path)) as container:
                    for frame in islice(container.decode(video=0), frames):
                        # Without the pixel that an .mp4 needs at an odd side.
                        encoder.add(frame.to_ndarray(format="rgb24")[: self._shape[0], : self._shape[1]])
            finally:
                encoder.close(error=error)
            shutil.copyfile(encoder.path, made)

    def padding(self, suffix: str) -> str | None:
        """What was done to its frames in a file of that suffix, where their size is not the one of the file."""
        height, width = self._shape[:2]
        recipe = recipe_for(suffix)
        size = fitting_size(recipe, (width, height), self.fps)
        return padding(recipe, (width, height), size) if size != (width, height) else None

    def keep(self) -> None:
        """Leaves the file where it is and says so."""
        # Not by calling the finalizer: at exit finalizers are switched off by then.
        self._forgotten.detach()
        _keep(self._executor, self._encoder, self._label)

    def discard(self) -> None:
        """Removes the temporary folder."""
        self._forgotten.detach()
        self._executor.shutdown()
        # Whatever fails, it goes.
        with suppress(Exception):
            self._encoder.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _checked(filename: str | os.PathLike[str], fps: Fraction) -> Path:
    """The absolute path of a file that can be made; its folders are made.

    Raises:
        TargetExistsError: it exists.
        TargetError: it cannot be made.
        OptionsError: its suffix or the rate cannot be used.
    """
    try:
        # As of any video, but that one which exists is told with another advice.
        target = Target(VideoFile(filename=filename, overwrite=True))
    except OptionsError as error:
        problems = [problem.replace("filename", "save_to_filename", 1) for problem in error.problems]
        raise OptionsError("stop_recording", problems) from None
    suffix = target.path.suffix
    check_rate(suffix, fps, "stop_recording", "give fps=50 or less")
    try:
        fitting_size(recipe_for(suffix), _TRIAL_SIZE, fps)
    except OptionsError:
        raise OptionsError("stop_recording", [f"fps = {float(fps):g}: no {suffix} can have it"]) from None
    if os.path.lexists(target.path):
        raise TargetExistsError(target.path, "remove it: a camera does not overwrite")
    target.check()
    target.make_folder()
    return target.path


def _name(made: Path, target: Path) -> None:
    """Gives a file its name, unless another has it by now."""
    try:
        os.link(made, target)
    except FileExistsError:
        raise TargetExistsError(target, "remove it: a camera does not overwrite") from None
    except OSError:
        # Not every file system has hard links, such as FAT.
        if os.path.lexists(target):
            raise TargetExistsError(target, "remove it: a camera does not overwrite") from None
        os.rename(made, target)


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
    is_there = True
    # Where it cannot be completed, what is there plays.
    with suppress(Exception):
        is_there = encoder.close()
    if not is_there:
        shutil.rmtree(encoder.path.parent, ignore_errors=True)
        return
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
