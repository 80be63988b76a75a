"""The notes of a trajectory by type, each read when it is asked for."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simreel.reel.extras import Sides
    from simreel.reel.side import Side

__all__ = ["Notes"]


class Notes:
    """Which notes there are, and of which frames.

    Args:
        sides: the notes of a reel. Each is read once to know its type; what it holds is not kept.
    """

    def __init__(self, sides: Sides) -> None:
        self._sides = sides
        self._places: dict[str, list[tuple[int, int]]] = {}
        for place, side in enumerate(sides):
            kind = side.value.get("type") if isinstance(side.value, dict) else None
            if isinstance(kind, str):
                self._places.setdefault(kind, []).append((side.frame, place))
        for places in self._places.values():
            places.sort()

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
