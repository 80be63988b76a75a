"""The interpreter's end, and the fork of a process, with recorders running."""

from __future__ import annotations

import atexit
import logging
import os
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

# First: what is registered last runs first at exit, and a reel must be open until its recorder has stopped.
import simreel.reel.exiting  # noqa: F401
from simreel.errors import RecorderErrorGroup, SimreelError

if TYPE_CHECKING:
    from simreel.recorders.base import Recorder
    from simreel.recorders.manager import RecorderManager

__all__ = ["register", "wait_at_exit"]

logger = logging.getLogger("simreel")

_managers: weakref.WeakSet[RecorderManager] = weakref.WeakSet()
_closing: list[Recorder[Any]] = []


def register(manager: RecorderManager) -> None:
    """Has a manager stopped at exit, and detached in a forked child."""
    _managers.add(manager)


def wait_at_exit(recorders: Iterable[Recorder[Any]]) -> None:
    """Has the exit wait for recorders that are closing."""
    _closing.extend(recorders)


def _stop_all() -> None:
    """Closes what the user left open: at a normal end, `sys.exit`, an exception or Ctrl-C."""
    errors: list[SimreelError] = []
    for manager in list(_managers):
        _insist(manager.stop, errors)
    for recorder in _closing:
        _insist(recorder._wait_closed, errors)
    # Raised, a group would be shown here without what is in it.
    for error in errors:
        for each in error.exceptions if isinstance(error, RecorderErrorGroup) else (error,):
            logger.error("when the program ended: %s", each, exc_info=each)


def _insist(close: Callable[[], None], errors: list[SimreelError]) -> None:
    """Calls it until it ends: one Ctrl-C more must not cost the end of a file."""
    while True:
        try:
            close()
        except SimreelError as error:
            errors.append(error)
        except KeyboardInterrupt:
            logger.warning("still writing what was recorded; wait for the end, or kill the process to lose it")
            continue
        return


def _detach_all() -> None:
    for manager in list(_managers):
        manager.detach()
    _closing.clear()


atexit.register(_stop_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_detach_all)
