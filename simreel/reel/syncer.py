"""Brings a growing file to the disk now and then, on a thread of its own: the writer does not wait for the disk."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simreel.reel.growing import GrowingFile

__all__ = ["Syncer"]


class Syncer:
    """Syncs a file every so many seconds while it grows, and once more at its end.

    Args:
        file: is open until `finish` has returned.
        interval: between two syncs [s].
    """

    def __init__(self, file: GrowingFile, interval: float) -> None:
        self.error: OSError | None = None
        """What the disk did not take."""
        self._file = file
        self._interval = interval
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="simreel-reel-sync", daemon=True)
        self._thread.start()

    @property
    def thread(self) -> int | None:
        """The identifier of its thread."""
        return self._thread.ident

    def finish(self) -> None:
        """Returns when all of the file is on the disk.

        Raises:
            OSError: the disk did not take it.
        """
        self._ending.set()
        self._thread.join()
        if self.error is not None:
            raise self.error

    def _run(self) -> None:
        synced, is_last = 0, False
        while not is_last:
            is_last = self._ending.wait(self._interval)
            size = self._file.size
            if size > synced:
                try:
                    self._file.sync()
                except OSError as error:
                    self.error = error
                    return
                synced = size
