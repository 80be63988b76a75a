"""Spans of frames: the first, and the first after them."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["remaining"]


def remaining(gaps: Iterable[tuple[int, int]], total: int) -> list[tuple[int, int]]:
    """What of frames 0 to `total - 1` stands in no gap."""
    found, at = [], 0
    for start, stop in [*gaps, (total, total)]:
        if at < start:
            found.append((at, start))
        at = stop
    return found
