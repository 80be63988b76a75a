"""The interpreter's end, and the fork of a process, while reels are written."""

from __future__ import annotations

import atexit
import logging
import os
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simreel.reel.worker import Worker

__all__ = ["register"]

logger = logging.getLogger("simreel")

# A running worker is held by its thread.
_running: weakref.WeakSet[Worker] = weakref.WeakSet()


def register(worker: Worker) -> None:
    """Has a worker's file closed at exit, and left alone in a forked child."""
    _running.add(worker)


def _end_all() -> None:
    workers = list(_running)
    for worker in workers:
        worker.end()
    for worker in workers:
        # One Ctrl-C more must not cost the end of a file.
        while not worker.ended.is_set():
            try:
                worker.join()
            except KeyboardInterrupt:
                logger.warning("still writing %s; wait for the end, or kill the process to lose it", worker.path)
        if (error := worker.take_error()) is not None:
            logger.error("when the program ended: %s", error, exc_info=error)


def _abandon_all() -> None:
    for worker in list(_running):
        worker.abandon()
    _running.clear()


atexit.register(_end_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_all)
