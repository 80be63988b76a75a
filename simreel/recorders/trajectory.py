"""Writes trajectories: the handle, and what runs beside the stepping thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simreel.errors import OptionsError
from simreel.options.trajectory import TrajectoryFile
from simreel.recorders.file import FileRecorder
from simreel.recorders.registry import register_recording
from simreel.recorders.source import StateSource
from simreel.recorders.status import RecorderStatus
from simreel.recorders.trajectory_sampler import TrajectorySampler
from simreel.reel import ReelWriter

if TYPE_CHECKING:
    from simreel.recorders.manager import RecorderManager
    from simreel.recorders.worlds import WorldIds
    from simreel.reel import Layout

__all__ = ["TrajectoryFileWriter"]


@register_recording(TrajectoryFile)
class TrajectoryFileWriter(FileRecorder[TrajectoryFile]):
    """Opens and closes reels; its sampler writes the rows, on the stepping thread.

    Args:
        manager: drives it.
        options: of the recording.
        data_func: the scene, as a `StateSource`.

    Raises:
        OptionsError: `data_func` is something else.
        TargetExistsError: the file exists and `overwrite` is not set.
        TargetError: it cannot be written.
    """

    def __init__(self, manager: RecorderManager, options: TrajectoryFile, data_func: Any) -> None:
        if not isinstance(data_func, StateSource):
            raise OptionsError(
                "TrajectoryFile",
                ["it records the scene itself: give no data_func; scene.add_channel() records other data with it"],
            )
        super().__init__(manager, options, None)
        self._make: Callable[[ReelWriter, Path], None]
        self._reels: tuple[ReelWriter | None, int, int, int] = (None, 0, 0, 0)
        """The open one; frames, written frames and bytes of those that are closed."""

    def build(self) -> None:
        """Checks the target; the file is opened at the first frame, whose channels tell its layout.

        Raises:
            OptionsError: contacts of worlds are asked for.
        """
        if self._options.contacts and self.timing.n_envs:
            raise OptionsError("TrajectoryFile", ["contacts: they are recorded of one world only; leave it out"])
        self.target.check()
        self.target.make_folder()

    def begin(self, layout: Layout, meta: Mapping[str, Any], blobs: Mapping[str, bytes]) -> ReelWriter:
        """Opens the file of the running episode, on the stepping thread.

        Args:
            layout: of its frames.
            meta: its head.
            blobs: its payloads.

        Raises:
            SimreelError: it cannot be made.
        """
        options = self._options
        self._make = lambda reel, path: ReelWriter.__init__(
            reel,
            path,
            layout,
            dt=self.timing.dt,
            chunk_size=options.chunk_size,
            blobs=blobs,
            meta=meta,
            max_size=options.max_size,
            overwrite=options.overwrite,
            fsync=options.fsync,
        )
        self.ensure_open()
        reel = self._reels[0]
        assert reel is not None
        return reel

    def drop(self) -> bool:
        """Removes the reel where it has no frame; whether that is so."""
        reel = self._reels[0]
        if reel is not None and reel.frames:
            return False
        self._is_open = False
        self._reels = (None, *self._reels[1:])
        if reel is not None:
            reel.discard()
        return True

    def next_episode(self) -> None:
        """Ends the file of the running episode, on the stepping thread."""
        self.episode += 1
        self.cleanup()

    def reset(self, envs_idx: WorldIds | None = None) -> None:
        """The sampler ends the episode."""

    def open_file(self, path: Path) -> None:
        """Opens a reel."""
        # Here before it is opened: Ctrl-C right after must not leave a file that nobody knows.
        reel = ReelWriter.__new__(ReelWriter)
        try:
            self._make(reel, path)
            self._reels = (reel, *self._reels[1:])
        except BaseException:
            if not reel.closed:
                reel.discard()
            raise

    def finish_file(self) -> None:
        """Writes what is left and closes the reel, or removes it where it has no frame."""
        reel, frames, written, size = self._reels
        assert reel is not None
        try:
            reel.close()
        finally:
            self._reels = (None, frames + reel.frames, written + reel.written, size + reel.size)
            if not reel.written:
                reel.discard()

    def process(self, data: Any, cur_time: float) -> None:
        """Never called: the sampler writes the rows."""
        raise AssertionError

    @property
    def status(self) -> RecorderStatus:
        """The counts as they are now."""
        reel, frames, written, size = self._reels
        error, is_over = self._error, reel is None
        if reel is not None:
            frames, written, size = frames + reel.frames, written + reel.written, size + reel.size
            if (failure := reel.error) is not None:
                error, is_over = error or f"{type(failure).__name__}: {failure}", True
        waiting = max(0, frames - written)
        return RecorderStatus(
            frames, frames - waiting, waiting if is_over else 0, 0 if is_over else waiting, size, error
        )

    def _sampler(self, data: Any, reads_state: Callable[[Callable[[], Any]], bool]) -> TrajectorySampler:
        return TrajectorySampler(self, data, reads_state)

    def _flush(self) -> None:
        if (reel := self._reels[0]) is not None:
            reel.flush()

    def _awaits(self, thread: int) -> bool:
        reel = self._reels[0]
        return super()._awaits(thread) or (reel is not None and thread in reel.threads)

    def _detach(self) -> None:
        super()._detach()
        self._reels = (None, *self._reels[1:])
