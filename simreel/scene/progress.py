"""How far a run is, as data, at most twice a second."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simreel.recorders.status import RecorderStatus

__all__ = ["Progress", "Ticker"]


@dataclass(frozen=True)
class Progress:
    """What `scene.on_progress` hands to its callback."""

    step: int
    """Steps since the last reset of all worlds."""

    time: float
    """Simulated time [s]."""

    statuses: tuple[tuple[str, RecorderStatus], ...]
    """The counts of each recorder, with its name."""


class Ticker:
    """Calls a function at a tick, but not before `interval` [s] of wall time has passed since the last call."""

    def __init__(self, call: Callable[[], None], interval: float = 0.5) -> None:
        self._call = call
        self._interval = interval
        self._due = time.monotonic() + interval

    def tick(self) -> None:
        """Calls the function if its time has come."""
        now = time.monotonic()
        if now >= self._due:
            self._due = now + self._interval
            self._call()
