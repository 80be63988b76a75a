"""Where a file recorder writes: checks before anything is on disk, and a name for each episode."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from simreel.errors import SimreelError, TargetError, TargetExistsError
from simreel.reel.locks import free_name, hold, is_being_written, lock

if TYPE_CHECKING:
    from simreel.options.recorders import FileOptions

__all__ = ["Target", "episodes_of", "free_name", "hold", "is_being_written", "lock"]


class Target:
    """The absolute path of a recording, fixed when the recording is started."""

    def __init__(self, options: FileOptions) -> None:
        try:
            self.path = Path(os.path.abspath(options.filename.expanduser()))
        except RuntimeError:
            raise TargetError(options.filename, "there is no such user, or he has no home folder") from None
        self.overwrite = options.overwrite
        self._per_episode = options.save_on_reset

    def __eq__(self, other: object) -> bool:
        """Whether both write the same file."""
        return isinstance(other, Target) and os.path.realpath(self.path) == os.path.realpath(other.path)

    __hash__ = None  # type: ignore[assignment]

    def check(self) -> None:
        """Tells what would keep the file from being written, and writes nothing.

        Raises:
            TargetExistsError: a file of that name, or an episode of it, exists and `overwrite` is not set.
            TargetError: the folder cannot be made or written, or the name is that of a folder or a device.
        """
        try:
            self._check()
        except SimreelError:
            raise
        except OSError as error:
            raise TargetError(self.path, f"cannot be looked up ({error.strerror})") from error

    def _check(self) -> None:
        if self.path.is_dir():
            raise TargetError(self.path, "is a folder; give the name of a file")
        if self.path.exists() and not self.path.is_file():
            # It would be replaced by a file, or taken for one that can be read back.
            raise TargetError(self.path, "is a device or a pipe; give the name of a file")
        folder = next(parent for parent in self.path.parents if parent.exists())
        if not folder.is_dir():
            raise TargetError(self.path, f"{folder} is not a folder")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise TargetError(self.path, f"the folder {folder} is not writable")
        if self.overwrite:
            return
        existing = self.existing()
        if existing:
            raise TargetExistsError(existing[0])

    def make_folder(self) -> None:
        """Makes the folders of the path.

        Raises:
            TargetError: that failed.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TargetError(self.path, f"the folder cannot be made ({error.strerror})") from error

    def episode(self, index: int) -> Path:
        """The file of an episode: the path itself unless each episode has its own."""
        if not self._per_episode:
            return self.path
        return self.path.with_name(f"{self.path.stem}_{index:04d}{self.path.suffix}")

    def existing(self) -> list[Path]:
        """The files that this recording could meet, sorted."""
        if not self._per_episode:
            return [self.path] if os.path.lexists(self.path) else []
        return episodes_of(self.path)


def episodes_of(path: Path) -> list[Path]:
    """The files `name_0000.ext`, `name_0001.ext`, ... beside a path, sorted."""
    if not path.parent.is_dir():
        return []
    pattern = re.compile(re.escape(path.stem) + r"_\d{4,}" + re.escape(path.suffix))
    return sorted(other for other in path.parent.iterdir() if pattern.fullmatch(other.name))
