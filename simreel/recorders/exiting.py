"""The interpreter's end, and the fork of a process, with recorders running."""

from __future__ import annotations

import atexit
import os
import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from simreel.errors import RecorderErrorGroup, SimreelError

if TYPE_CHECKING:
    from simreel.recorders.base import Recorder
    from simreel.recorders.manager import RecorderManager

__all__ = ["register", "wait_at_exit"]

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
    errors = []
    for manager in list(_managers):
        try:
            manager.stop()
        except SimreelError as error:
            errors.append(error)
    for recorder in _closing:
        recorder._wait_closed()
    if errors:
        raise errors[0] if len(errors) == 1 else RecorderErrorGroup("recorders ended", errors)


def _detach_all() -> None:
    for manager in list(_managers):
        manager.detach()
    _closing.clear()


atexit.register(_stop_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_detach_all)
