"""The interpreter's end, and the fork of a process, while reels are written."""

from __future__ import annotations

import atexit
import logging
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simreel.reel.worker import Worker

__all__ = ["forget", "register"]

logger = logging.getLogger("simreel")

_running: set[Worker] = set()


def register(worker: Worker) -> None:
    """Has a worker's file closed at exit, and left alone in a forked child."""
    # One that failed stays: nobody may have been told.
    _running.difference_update([old for old in _running if old.ended.is_set() and old.error is None])
    _running.add(worker)


def forget(worker: Worker) -> None:
    """Its file is closed, and whoever had to know of an error does."""
    _running.discard(worker)


def _end_all() -> None:
    for worker in list(_running):
        worker.end()
    for worker in list(_running):
        # One Ctrl-C more must not cost the end of a file.
        while not worker.ended.is_set():
            try:
                worker.join()
            except KeyboardInterrupt:
                logger.warning("still writing %s; wait for the end, or kill the process to lose it", worker.path)
        if (error := worker.take_error()) is not None:
            logger.error("when the program ended: %s", error, exc_info=error)


def _abandon_all() -> None:
    for worker in _running:
        worker.abandon()
    _running.clear()


atexit.register(_end_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_all)
