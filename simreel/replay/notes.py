"""The notes of a trajectory by type, each read when it is asked for."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simreel.reel import Reel
    from simreel.reel.extras import Sides
    from simreel.reel.side import Side

__all__ = ["Notes"]


class Notes:
    """Which notes there are, and of which frames.

    When it is first asked, each note is read once to know its type; what they hold is not kept.

    Args:
        reel: that has them.
    """

    def __init__(self, reel: Reel) -> None:
        self._reel = reel

    @cached_property
    def _sides(self) -> Sides:
        return self._reel.notes

    @cached_property
    def _places(self) -> dict[str, list[tuple[int, int]]]:
        found: dict[str, list[tuple[int, int]]] = {}
        for place, side in enumerate(self._sides):
            kind = side.value.get("type") if isinstance(side.value, dict) else None
            if isinstance(kind, str):
                found.setdefault(kind, []).append((side.frame, place))
        for places in found.values():
            places.sort()
        return found

    def frames(self, kind: str) -> list[int]:
        """The frames that have notes of a type, in order."""
        return [frame for frame, _ in self._places.get(kind, ())]

    def until(self, kind: str, frame: int) -> Iterator[Side]:
        """The notes of a type about frames up to this one, the latest first."""
        places = self._places.get(kind, [])
        for _, place in reversed(places[: bisect_right(places, (frame, len(self._sides)))]):
            yield self._sides[place]

    def at(self, kind: str, frame: int) -> Iterator[Side]:
        """The notes of a type about a frame."""
        for note in self.until(kind, frame):
            if note.frame < frame:
                return
            yield note
