"""Time span, rate and episodes of a recording, from its columns as they stream by."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["Times"]

Array = np.ndarray[Any, np.dtype[Any]]

# Enough to tell the rate, however long the recording.
_RATE_ROWS = 4096


class Times:
    """Collects (n,) times [s] and (n,) or (n, n_envs) episode numbers, in pieces."""

    def __init__(self) -> None:
        self.rows = 0
        self._first = np.inf
        self._last = -np.inf
        self._step: float | None = None
        self._episodes: set[tuple[int, int]] = set()
        self._worlds = 0

    def add_times(self, times: Array) -> None:
        """Takes the next times."""
        self.rows += len(times)
        finite = times[np.isfinite(times)]
        if len(finite):
            self._first = min(self._first, float(finite.min()))
            self._last = max(self._last, float(finite.max()))
        if self._step is None and len(times) > 1:
            steps = np.diff(times[:_RATE_ROWS])
            # At the start of an episode the time falls back to 0.
            steps = steps[(steps > 0) & np.isfinite(steps)]
            self._step = float(np.median(steps)) if len(steps) else None

    def add_episodes(self, episodes: Array) -> None:
        """Takes the next episode numbers."""
        columns = episodes.reshape(len(episodes), -1).T
        self._worlds = len(columns) if episodes.ndim > 1 else 0
        for world, column in enumerate(columns):
            self._episodes |= {(world, int(number)) for number in np.unique(column)}

    def text(self) -> str:
        """One line, such as `201 rows, 0 to 2 s at 100 Hz, 1 episode`."""
        parts = [_count(self.rows, "row")]
        if self._first <= self._last:
            rate = f" at {1 / self._step:.6g} Hz" if self._step else ""
            parts.append(f"{self._first:.6g} to {self._last:.6g} s{rate}")
        if self._episodes:
            worlds = f" in {self._worlds} worlds" if self._worlds else ""
            parts.append(_count(len(self._episodes), "episode") + worlds)
        return ", ".join(parts)


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
