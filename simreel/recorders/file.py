"""The base of recorders that write files: one, or one for each episode."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from simreel.options.recorders import FileOptions
from simreel.recorders.base import Recorder
from simreel.recorders.target import Target

if TYPE_CHECKING:
    from simreel.recorders.manager import RecorderManager
    from simreel.recorders.worlds import WorldIds

__all__ = ["FileRecorder"]

FileOptionsT = TypeVar("FileOptionsT", bound=FileOptions)


class FileRecorder(Recorder[FileOptionsT]):
    """Opens a file when it is built, finishes it when it ends or, with `save_on_reset`, when an episode does.

    A file that got no row leaves nothing behind.
    """

    target_class: type[Target] = Target
    """What names the files."""

    def __init__(self, manager: RecorderManager, options: FileOptionsT, data_func: Callable[[], Any] | None) -> None:
        """Checks the target and writes nothing.

        Raises:
            TargetExistsError: it exists and `overwrite` is not set.
            TargetError: it cannot be written.
        """
        super().__init__(manager, options, data_func)
        self.target = self.target_class(options)
        self.target.check()
        self.episode = 0
        """Episodes that ended before the samples that come now."""
        self._is_open = False

    @abstractmethod
    def open_file(self, path: Path) -> None:
        """Opens a file under its final name or a provisional one."""

    @abstractmethod
    def finish_file(self) -> None:
        """Completes the open file, or removes it where it has no row."""

    def build(self) -> None:
        """Opens the first file, so that what keeps it from being written is told before the first step."""
        # Time has passed since the options were checked.
        self.target.check()
        self.target.make_folder()
        self.ensure_open()

    def ensure_open(self) -> None:
        """Opens the file of the running episode unless it is open."""
        if not self._is_open:
            self.open_file(self.target.episode(self.episode))
            self._is_open = True

    def reset(self, envs_idx: WorldIds | None = None) -> None:
        """Ends the episode of all worlds, and with `save_on_reset` its file."""
        if envs_idx is None:
            if self._options.save_on_reset:
                self.cleanup()
            self.episode += 1

    def cleanup(self) -> None:
        """Finishes the open file."""
        if self._is_open:
            self._is_open = False
            self.finish_file()
