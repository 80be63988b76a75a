"""Writes videos: a file, or with chosen worlds one for each of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simreel.errors import OptionsError, SampleError, SimreelError, SimreelWarning
from simreel.options.recorders import VideoFile
from simreel.recorders.codecs import fitting_size, padding, recipe_for
from simreel.recorders.encoder import Encoder, check_rate
from simreel.recorders.file import FileRecorder
from simreel.recorders.frames import FrameLayout, FrameSchema
from simreel.recorders.rates import frame_rate
from simreel.recorders.registry import register_recording
from simreel.recorders.spool import spools_of
from simreel.recorders.target import Target, is_being_written

if TYPE_CHECKING:
    import numpy as np

    from simreel.recorders.manager import RecorderManager
    from simreel.recorders.schema import Schema
    from simreel.recorders.timing import Timing

__all__ = ["VideoFileWriter", "VideoTarget"]

# Every codec takes it: whether one works at all is known before the first frame.
_TRIAL_SIZE = (64, 64)
_TRIAL_RATE = Fraction(25)


class VideoTarget(Target):
    """The path of a video, or with chosen worlds the paths of theirs."""

    def __init__(self, options: VideoFile) -> None:
        super().__init__(options)
        path = options.filename
        self.files: list[Target] = [self]
        """The targets that are written."""
        if options.worlds is not None:
            names = [path.with_name(f"{path.stem}_w{world}{path.suffix}") for world in options.worlds]
            self.files = [Target(options.model_copy(update={"filename": name})) for name in names]

    def existing(self) -> list[Path]:
        """The files that this recording could meet, sorted."""
        if self.files == [self]:
            return super().existing()
        return [path for file in self.files for path in file.existing()]


@register_recording(VideoFile)
class VideoFileWriter(FileRecorder[VideoFile]):
    """Encodes each frame on the recorder's own thread; what is written plays after a kill."""

    target_class = VideoTarget
    target: VideoTarget

    def __init__(self, manager: RecorderManager, options: VideoFile, data_func: Callable[[], Any] | None) -> None:
        """Checks target and codec and writes nothing.

        Raises:
            TargetExistsError: a file exists and `overwrite` is not set.
            TargetError: it cannot be written.
            OptionsError: the codec does not work here.
        """
        super().__init__(manager, options, data_func)
        self._encoders: list[Encoder] = []
        self._closed_bytes = 0
        self._has_frames = self._is_unopened = False
        self._dropped_before = 0
        self._recipe = recipe_for(
            options.filename.suffix,
            codec=options.codec,
            bitrate=options.bitrate,
            crf=options.crf,
            codec_options=options.codec_options,
        )
        fitting_size(self._recipe, _TRIAL_SIZE, _TRIAL_RATE)

    @property
    def timing(self) -> Timing:
        """The grid of the samples; one that is too fast for the file is refused when it is set."""
        return self._timing

    @timing.setter
    def timing(self, timing: Timing) -> None:
        fps = frame_rate(self._options.fps, timing)
        check_rate(self._options.filename.suffix, fps)
        self._timing, self.fps = timing, fps

    fps: Fraction
    """Frames a second of the video. Known from the start on."""

    def build(self) -> None:
        """Makes the files.

        Raises:
            OptionsError: the scene does not have the worlds that are to be recorded.
        """
        n_envs, worlds = self.timing.n_envs, self._options.worlds
        if worlds is not None and max(worlds) >= n_envs:
            found = f"worlds 0 to {n_envs - 1}" if n_envs else "no worlds; leave it out"
            raise OptionsError("VideoFile", [f"worlds = {worlds}: the scene has {found}"])
        left = [path.name for file in self.target.files for path in spools_of(file.path) if _was_left(path)]
        if left:
            warnings.warn(
                f"{self.label}: an earlier run left {', '.join(left)}; `simreel recover` makes a video of it",
                SimreelWarning,
                stacklevel=2,
            )
        super().build()

    def accept(self, schema: Schema) -> Schema:
        """Checks the first frame.

        Raises:
            SampleError: it is no frame, or not those of the worlds.
            OptionsError: the codec cannot encode frames of that size, or the worlds are to be chosen.
        """
        column = schema.columns[0]
        if column.key is not None:
            raise SampleError(column.key, "a dict", "VideoFile records one array, not a dict of them")
        if column.is_text:
            raise SampleError(None, "str", "VideoFile records arrays of pixels")
        kept, shape = self._frame_shape(column.shape)
        layout = FrameLayout.of(shape, column.dtype, scale=self._options.scale)
        size = fitting_size(self._recipe, layout.size, self.fps)
        if layout.channels == 4:
            self._say("the frames have an alpha channel, which a video does not keep; it is dropped")
        if size != layout.size:
            self._say(padding(self._recipe, layout.size, size))
        return FrameSchema(schema, lambda: self.status.received, kept)

    def _frame_shape(self, shape: tuple[int, ...]) -> tuple[tuple[int, ...] | None, tuple[int, ...]]:
        """Which of a leading axis of all worlds are recorded (None: no such axis), and the shape of a frame."""
        n_envs, worlds = self.timing.n_envs, self._options.worlds
        if worlds is None:
            if n_envs and len(shape) == 4 and shape[0] == n_envs:
                what = f"the data has frames of {n_envs} worlds; choose those to record, such as worlds=[0]"
                raise OptionsError("VideoFile", [f"worlds: {what}"])
            return None, shape
        if len(shape) > 1 and shape[0] == n_envs:
            return worlds, shape[1:]
        if len(shape) > 1 and shape[0] == len(worlds):
            return None, shape[1:]
        needed = f"frames of the {n_envs} worlds or of the {len(worlds)} that are recorded are needed, (n, H, W, 3)"
        raise SampleError(None, f"shape {shape}", needed)

    def _say(self, text: str) -> None:
        warnings.warn(f"{self.label}: {text}", SimreelWarning, stacklevel=3)

    def open_file(self, path: Path) -> None:
        """Makes the files of an episode; frames come later."""
        options = self._options
        self._dropped_before = self.status.dropped
        try:
            for file in self.target.files:
                encoder = Encoder(
                    file.episode(self.episode),
                    None,
                    self.fps,
                    recipe=self._recipe,
                    title=options.name,
                    tags={"dt": float(self.timing.dt), "stride": self.timing.stride},
                    scale=options.scale,
                    overwrite=options.overwrite,
                )
                self._encoders.append(encoder)
        except BaseException:
            while self._encoders:
                self._encoders.pop().close()
            raise

    def process_block(
        self, steps: np.ndarray[Any, Any], times: np.ndarray[Any, Any], columns: dict[str, np.ndarray[Any, Any]]
    ) -> None:
        """Encodes the frames of a block."""
        self.ensure_open()
        for i, sample in enumerate(columns["data"]):
            frames = [sample] if self._options.worlds is None else sample
            for encoder, frame in zip(self._encoders, frames, strict=True):
                encoder.add(frame)
            self._has_frames = True
            self._rows_processed = i + 1
        self._count_bytes()

    def process(self, data: Any, cur_time: float) -> None:
        """Never called: whole blocks are taken."""
        raise AssertionError

    def finish_file(self) -> None:
        """Completes the files of the episode; without a frame there is none, and a warning says so.

        Raises:
            TargetError: one of them cannot be completed.
        """
        status, errors = self.status, []
        tags = {"dropped": status.dropped - self._dropped_before}
        encoders, self._encoders = self._encoders, []
        for encoder in encoders:
            try:
                encoder.close(error=status.error, tags=tags)
            except SimreelError as error:
                errors.append(error)
            self._closed_bytes += encoder.size if encoder.frames else 0
        self._count_bytes()
        if errors:
            raise errors[0]
        if not self._has_frames and status.error is None and not self._is_unopened:
            self._say("no frame came; there is no file")

    def _count_bytes(self) -> None:
        self.bytes_written = self._closed_bytes + sum(encoder.size for encoder in self._encoders)

    def _unopen(self) -> None:
        # The scene could not be built: nobody waits for a frame.
        self._is_unopened = True
        super()._unopen()
        self._is_unopened = False


def _was_left(spool: Path) -> bool:
    """Whether nobody writes a spool; not where that cannot be told."""
    try:
        return not is_being_written(spool)
    except OSError:
        return False
