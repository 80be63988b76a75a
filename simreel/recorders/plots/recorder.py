"""The recorder of every live plot: hands its samples to the window process."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

from simreel.errors import MissingExtraError, PlotError, SampleError, SimreelError, SimreelWarning
from simreel.options.recorders import FileOptions, PlotOptions
from simreel.recorders.base import Recorder
from simreel.recorders.codecs import fitting_size, padding, recipe_for
from simreel.recorders.encoder import check_rate
from simreel.recorders.plots.channel import Channel, row_type
from simreel.recorders.plots.link import Link
from simreel.recorders.plots.sampler import PlotSampler
from simreel.recorders.plots.window import Window, has_display
from simreel.recorders.queue import Mark
from simreel.recorders.rates import frame_rate
from simreel.recorders.registry import register_recording
from simreel.recorders.sampler import Sampler
from simreel.recorders.target import Target

if TYPE_CHECKING:
    import numpy as np

    from simreel.recorders.manager import RecorderManager
    from simreel.recorders.schema import Schema
    from simreel.recorders.status import RecorderStatus
    from simreel.recorders.timing import Timing
    from simreel.recorders.worlds import WorldIds

__all__ = ["PlotRecorder"]

logger = logging.getLogger("simreel")

PlotT = TypeVar("PlotT", bound=PlotOptions)

# Times what one drawing needs: room for what comes while the window draws.
_RING_DRAWINGS = 4
_MIN_RING_ROWS = 8
_RING_BYTES = 32 * 2**20
# Beside the queue, what a stop waits for: samples that are not drawn yet.
_SAVING_RING_ROWS = 32


@register_recording(PlotOptions)
class PlotRecorder(Recorder[PlotT]):
    """Shows, and saves, what its plotter draws.

    The window opens with the first sample and closes with the recorder. Its end by the user, a signal or a hang ends
    neither the simulation nor this recorder, which counts what is not shown any more as dropped.
    """

    fps: Fraction
    """Frames a second of the video. Known from the start on."""

    def __init__(self, manager: RecorderManager, options: PlotT, data_func: Callable[[], Any] | None) -> None:
        """Checks what is installed, and the target.

        Raises:
            MissingExtraError: matplotlib, pyqtgraph or PySide6 is missing.
            PlotError: the options name no plotter that another process can import.
            TargetExistsError: the video exists and `overwrite` is not set.
            TargetError: it cannot be written.
        """
        super().__init__(manager, options, data_func)
        name = type(options).__name__
        self._is_shown = options.show_window is not False and has_display()
        packages = ["matplotlib"] if options.surface == "matplotlib" else ["pyqtgraph", "PySide6"]
        if self._is_shown:
            packages.append("PySide6")
        for package in packages:
            if find_spec(package) is None:
                raise MissingExtraError(package, "gui", name)
        module, _, plotter = options.plotter.partition(":")
        if not plotter or module == "__main__":
            what = (
                f"plotter = {options.plotter!r}: 'module:Class' of a module that another process can import is needed"
            )
            raise PlotError(name, what)
        self.target: Target | None = None
        """The video, where one is saved."""
        if options.save_to_filename is not None:
            self.target = Target(FileOptions(filename=options.save_to_filename, overwrite=options.overwrite))
            self.target.check()
        self.link: Link | None = None
        """The way to the window. Known from the first sample on."""
        self._window: Window | None = None
        self._episode = 0

    @property
    def label(self) -> str:
        """As of any recorder, with the video or the title that tells one plot from another."""
        filename = self._options.save_to_filename
        return " ".join(
            filter(None, [type(self._options).__name__, filename.name if filename else self._options.title])
        )

    @property
    def timing(self) -> Timing:
        """The grid of the samples; one that is too fast for the video is refused when it is set."""
        return self._timing

    @timing.setter
    def timing(self, timing: Timing) -> None:
        self.fps = frame_rate(None, timing)
        if self.target is not None:
            check_rate(self.target.path.suffix, self.fps, type(self._options).__name__, "give a lower hz")
        self._timing = timing

    @property
    def status(self) -> RecorderStatus:
        """The counts as they are now; a sample that a window did not show counts as dropped."""
        status, link = super().status, self.link
        if link is None:
            return status
        if self.target is None:
            sent = link.sent
            status = replace(status, received=sent, written=sent)
        lost = min(status.written, link.lost)
        return replace(status, written=status.written - lost, dropped=status.dropped + lost)

    def get_image_array(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """What the plot shows of the samples taken so far, (H, W, 3) uint8.

        Raises:
            PlotError: there is no sample yet, it was stopped, or its window process is gone.
            SimreelError: the plotter failed.
        """
        queue, worker = self._queue, self._worker
        pictures: list[np.ndarray[Any, Any] | SimreelError] = []

        def fetch() -> None:
            try:
                if self.link is None:
                    raise PlotError(self.label, "there is no picture before the first sample")
                pictures.append(self.link.picture())
            except SimreelError as error:
                pictures.append(error)

        if queue is not None and worker is not None and self.is_alive:
            # After all samples before it, on the thread that talks to the window.
            mark = queue.insert(Mark(fetch))
            worker.wake()
            queue.wait(mark)
        if not pictures:  # It may have ended meanwhile.
            raise PlotError(self.label, "a picture can be had between build and stop only")
        picture = pictures.pop()
        if isinstance(picture, SimreelError):
            try:
                raise picture
            finally:
                # Its traceback refers to this frame, and to the shared memory.
                del picture
        return picture

    def check(self, schema: Schema) -> None:
        """Checks the first sample, beyond that it has numbers; for an author to override."""

    # On the stepping thread.

    def build(self) -> None:
        """Starts the window process, unless it runs."""
        if self.target is not None:
            # Time has passed since the options were checked.
            self.target.check()
            self.target.make_folder()
            self._tell_padding(self.target.path.suffix)
        self._window = Window.of(self._manager())

    def _tell_padding(self, suffix: str) -> None:
        """Says where the pictures get a pixel more in the video."""
        size = self._options.window_size
        # Even ones need no codec to be tried.
        if any(side % 2 for side in size):
            recipe = recipe_for(suffix)
            fitting = fitting_size(recipe, size, self.fps)
            if fitting != size:
                text = f"{self.label}: {padding(recipe, size, fitting)}"
                warnings.warn(text, SimreelWarning, stacklevel=3)

    def accept(self, schema: Schema) -> None:
        """Checks what is to be drawn and opens the way to the window.

        Raises:
            SampleError: the plot cannot show it.
            OptionsError: the options do not fit it.
        """
        for column in schema.columns:
            if column.is_text or column.dtype.kind not in "biuf":
                found = "str" if column.is_text else f"{column.dtype}"
                raise SampleError(column.key, found, f"{type(self._options).__name__} shows real numbers")
        self.check(schema)
        options, window = self._options, self._window
        assert window is not None
        history = getattr(options, "history_length", 1)
        rows = _SAVING_RING_ROWS if self.target else max(_MIN_RING_ROWS, _RING_DRAWINGS * history)
        row_bytes = row_type([("", column.dtype.str, column.shape) for column in schema.columns]).itemsize
        channel, far = Channel.create(
            self._describe(schema), schema.columns, max(2, min(rows, _RING_BYTES // row_bytes))
        )
        self.link = Link(self.label, window, channel, far)

    def _describe(self, schema: Schema) -> dict[str, Any]:
        options = self._options
        if options.show_window is not False and not self._is_shown:
            logger.info("%s: no window: there is no display (DISPLAY and WAYLAND_DISPLAY are empty)", self.label)
        return {
            "plotter": options.plotter,
            "surface": options.surface,
            "options": options.model_dump(mode="json"),
            "name": options.title or type(options).__name__,
            "has_keys": schema.columns[0].key is not None,
            "is_shown": self._is_shown,
            "video": None if self.target is None else str(self.target.path),
            "fps": str(self.fps),
            "tags": {"dt": float(self.timing.dt), "stride": self.timing.stride},
        }

    def _sampler(self, data: Any, reads_state: Callable[[Callable[[], Any]], bool]) -> Sampler:
        return PlotSampler(self, data, reads_state) if self.target is None else Sampler(self, data, reads_state)

    # On the worker: the samples of a plot that saves, resets and the end.

    _linger = 1 / 60  # Half of what passes between two drawings.

    def process_block(
        self, steps: np.ndarray[Any, Any], times: np.ndarray[Any, Any], columns: dict[str, np.ndarray[Any, Any]]
    ) -> None:
        """Sends samples to the window process."""
        assert self.link is not None
        self.link.send(steps, self._episode, list(columns.values()))
        self.bytes_written = self.link.file_bytes

    def process(self, data: Any, cur_time: float) -> None:
        """Never called: whole blocks are taken."""
        raise AssertionError

    def reset(self, envs_idx: WorldIds | None = None) -> None:
        """Has the plot start anew after a reset of all worlds."""
        if envs_idx is None:
            self._episode += 1

    def cleanup(self) -> None:
        """Has the video completed, and closes the window."""
        link, window = self.link, self._window
        self._window = None
        try:
            if link is not None:
                link.close()
                self.bytes_written = link.file_bytes
        finally:
            if window is not None:
                window.release()

    def _detach(self) -> None:
        super()._detach()
        if self._window is not None:
            self._window.forget()
