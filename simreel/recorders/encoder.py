"""Frames into one video file that plays after a kill and starts at once when it is closed.

    add -> Painter -> codec -> growing file, in fragments      close -> the final file, from the packets of that

The growing file has the final name, and one that had it waits beside it. A GIF grows as a video without loss in
`name.gif.<pid>.spool`, since its colours are chosen when all frames are known.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simreel.errors import OptionsError, SampleError, SimreelError, TargetError, TargetExistsError
from simreel.recorders.codecs import CONTAINERS, Recipe, recipe_for
from simreel.recorders.frames import FrameLayout
from simreel.recorders.growing import GrowingFile
from simreel.recorders.remux import metadata, provisional, remux, survey, sync
from simreel.recorders.target import free_name

if TYPE_CHECKING:
    import numpy as np

    from simreel.recorders.muxer import Muxer

__all__ = ["Encoder", "check_rate", "finish"]

# Below 2/100 s a frame, players show a gif at a tenth of its speed; a delay is a number of 16 bits.
_MAX_GIF_FPS = 50
_MIN_GIF_FPS = Fraction(100, 65535)


def check_rate(suffix: str, fps: Fraction, call: str = "VideoFile", remedy: str = "give a lower hz or fps") -> None:
    """Refuses rates that a file of that suffix cannot have.

    Args:
        suffix: of the file.
        fps: frames a second.
        call: what was given them.
        remedy: how its user has others.

    Raises:
        OptionsError: it is a GIF of more than 50 frames a second.
    """
    if suffix.lower() != ".gif":
        return
    if fps > _MAX_GIF_FPS:
        what = f"at most {_MAX_GIF_FPS} frames a second, not {float(fps):.6g}; {remedy}, or record .mp4"
        raise OptionsError(call, [f"fps: a .gif shows {what}"])
    if fps < _MIN_GIF_FPS:
        raise OptionsError(call, [f"fps: a .gif shows a frame for at most 655 s, not {float(1 / fps):.6g} s"])


class Encoder:
    """One video file, from its first frame to its end.

    Args:
        path: the file; its suffix picks the container. It is made at once.
        size: width and height of the frames [px]; None: of the first one.
        fps: frames a second. Frame i is shown at i / fps.
        recipe: codec and what it is told; None for the defaults of the suffix.
        title: the title in the file; the stem of its name where it is empty.
        tags: what the comment in the file says besides.
        scale: whether frames of floats from 0 to 1 are taken.
        overwrite: whether a file of that name may be replaced.

    Raises:
        OptionsError: the suffix or the rate cannot be used.
        TargetExistsError: a file of that name is there and `overwrite` is not set.
        TargetError: no file can be made.
    """

    def __init__(
        self,
        path: Path | str,
        size: tuple[int, int] | None,
        fps: Fraction | float,
        *,
        recipe: Recipe | None = None,
        title: str = "",
        tags: Mapping[str, Any] | None = None,
        scale: bool = False,
        overwrite: bool = False,
    ) -> None:
        self.path = Path(os.path.abspath(path))
        suffix = self.path.suffix.lower()
        if suffix not in CONTAINERS:
            raise OptionsError("VideoFile", [f"filename = {str(path)!r}: a name in {', '.join(CONTAINERS)} is needed"])
        self._fps = Fraction(fps)
        check_rate(suffix, self._fps)
        self._recipe = recipe or recipe_for(suffix)
        self._size = size
        self._scale = scale
        self._overwrite = overwrite
        self._title = title or self.path.stem
        self._tags = {"fps": str(self._fps), **(tags or {})}
        self._shape: tuple[int, ...] = ()
        self._dtype: np.dtype[Any] | None = None
        self._muxer: Muxer | None = None
        self._is_closed = False
        self._final_size: int | None = None
        self._is_gif = suffix == ".gif"
        if not self._is_gif:
            self._file = GrowingFile(self.path, overwrite=overwrite)
        elif os.path.lexists(self.path) and not overwrite:
            raise TargetExistsError(self.path)
        else:
            spool = free_name(self.path.with_name(f"{self.path.name}.{os.getpid()}.spool"))
            self._file = GrowingFile(spool, overwrite=False)

    @property
    def frames(self) -> int:
        """Frames that were encoded."""
        return 0 if self._muxer is None else self._muxer.frames

    @property
    def size(self) -> int:
        """Bytes written."""
        return self._file.size if self._final_size is None else self._final_size

    def add(self, frame: np.ndarray[Any, Any]) -> None:
        """Encodes a frame; all of them have the shape and dtype of the first. Nothing refers to it afterwards.

        Args:
            frame: (H, W), (H, W, 1), (H, W, 3) or (H, W, 4) uint8, or floats from 0 to 1 with `scale`.

        Raises:
            SampleError: it is no such frame.
            OptionsError: the codec cannot encode frames of that size.
            TargetError: the codec or the disk failed.
        """
        if self._muxer is None:
            self._muxer = self._start(frame)
        if frame.shape != self._shape or frame.dtype != self._dtype:
            found = f"frame {self.frames} of shape {frame.shape} {frame.dtype}"
            raise SampleError(None, found, f"{self._shape} {self._dtype} needed, as the first frame was")
        self._muxer.add(frame)

    def _start(self, frame: np.ndarray[Any, Any]) -> Muxer:
        from simreel.recorders.muxer import Muxer

        layout = FrameLayout.of(frame.shape, frame.dtype, scale=self._scale)
        if self._size is not None and tuple(self._size) != layout.size:
            width, height = self._size
            raise SampleError(None, f"frame 0 of {layout.width} x {layout.height}", f"{width} x {height} needed")
        self._shape, self._dtype = frame.shape, frame.dtype
        tags = metadata(self._title, {**self._tags, "complete": False})
        return Muxer(self._file, self.path, layout, self._fps, self._recipe, tags)

    def close(self, *, error: str | None = None, tags: Mapping[str, Any] | None = None) -> bool:
        """Completes the file; whether there is one: without a frame there is none. May be called again.

        Args:
            error: what ended the recording before its time. A file that was there before is kept then.
            tags: what the comment in the file says besides.

        Raises:
            TargetError: the disk is full, or the file is gone. What there is stays and plays.
        """
        if self._is_closed:
            return self.frames > 0
        self._is_closed = True
        muxer = self._muxer
        if muxer is None or not muxer.frames:
            if muxer is not None:
                muxer.let_go()
            self._file.discard()
            return False
        is_good = error is None and not muxer.failed
        try:
            # After an error there may be less in the file than the codec has taken.
            limit = None
            if muxer.failed:
                muxer.let_go()
                limit = survey(self._file).whole
            else:
                muxer.finish()
            if self._file.is_deleted:
                raise TargetError(self.path, "it was deleted while it was recorded; its frames are lost")
            ending = {"frames": limit or muxer.frames, "complete": is_good, "error": error}
            comment = {**self._tags, **ending, **(tags or {})}
            self._complete(metadata(self._title, comment), limit, is_good=is_good)
        except BaseException:
            muxer.let_go()
            self._file.keep(is_good=False)
            raise
        if self._is_gif:
            self._file.discard()
        else:
            self._file.keep(is_good=is_good)
        return True

    def _complete(self, tags: Mapping[str, str], limit: int | None, *, is_good: bool) -> None:
        """Puts the final file in the place of the growing one."""
        import av

        if not self._is_gif and not self._file.is_there:
            # Somebody has given it another name. It is complete as it is, and its own name may be another's now.
            return
        try:
            with provisional(self.path) as made:
                finish(self._file, made, self.path.suffix, self._fps, tags, limit)
                self._final_size = made.stat().st_size
                if self._is_gif and os.path.lexists(self.path):
                    if not self._overwrite:
                        raise TargetExistsError(self.path)
                    if not is_good:
                        os.rename(self.path, free_name(self.path.with_name(f"{self.path.name}.old")))
                os.replace(made, self.path)
        except SimreelError as error:
            error.add_note(f"the frames are kept in {self._file.path}")
            raise
        except (OSError, av.FFmpegError) as error:
            self._final_size = None
            reason = getattr(error, "strerror", None) or str(error)
            kept = "the video is whole and plays"
            if self._is_gif:
                kept = f"the frames are kept in {self._file.path}: run `simreel recover {self.path}`"
            raise TargetError(self.path, f"its final form cannot be written ({reason}); {kept}") from error


def finish(source: Any, target: Path, suffix: str, fps: Fraction, tags: Mapping[str, str], limit: int | None) -> int:
    """Makes the final file of one that grew; the frames in it.

    Args:
        source: what grew, to be read.
        target: the final file, which is there and empty.
        suffix: of its name.
        fps: frames a second.
        tags: its metadata.
        limit: how many frames are taken; None for all.

    Raises:
        av.FFmpegError: the disk is full, or `source` cannot be read.
        OSError: the disk is full.
    """
    from simreel.recorders.gif import make_gif

    if suffix.lower() == ".gif":
        frames = make_gif(source, target, fps, tags, limit)
    else:
        frames = remux(source, target, CONTAINERS[suffix.lower()], fps, tags, limit)
    sync(target)
    return frames
