"""Where episodes begin and which frames follow from the one before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from simreel.replay.spans import remaining

if TYPE_CHECKING:
    from simreel.replay.notes import Notes
    from simreel.replay.recording import Recording

__all__ = ["find_episodes"]

# So many frames are looked at together: memory is bounded.
_BLOCK = 65536


def find_episodes(recording: Recording, notes: Notes) -> list[tuple[int, int]]:
    """First frame of each episode, and the first after it.

    With worlds these are the episodes that resets of all worlds made. They show in the file as a change of all episode
    numbers at once; so do single resets of all worlds between two steps, but those leave notes.
    """
    total, gaps = len(recording.reel), recording.reel.gaps
    if not total:
        return []
    behind = {stop: start for start, stop in gaps}
    everyone = set(range(max(1, recording.n_envs)))
    bounds = {0}
    bounds |= {frame for frame in _changes(recording) if _worlds(notes, behind.get(frame, frame), frame) != everyone}
    # Where episodes ended among lost frames only the notes about them tell.
    ends = [frame + 1 for frame in notes.frames("episode")]
    for start, stop in gaps:
        inside = {end for end in ends if start <= end <= stop and end < total}
        if inside:
            bounds = (bounds - {stop}) | inside
    ordered = sorted(bounds)
    return list(zip(ordered, [*ordered[1:], total], strict=True))


def _worlds(notes: Notes, first: int, last: int) -> set[int]:
    """The worlds that were reset alone before one of some frames."""
    found: set[int] = set()
    for note in notes.until("world_end", last):
        if note.frame < first:
            break
        worlds = note.value.get("worlds")
        found.update(worlds if isinstance(worlds, list) else ())
    return found


def _changes(recording: Recording) -> list[int]:
    """The frames at which the episode of every world differs from that of the frame before."""
    column = recording.reel.field("episode")
    before: np.ndarray[Any, Any] | None = None
    found: list[int] = []
    for start, stop in remaining(recording.reel.gaps, len(recording.reel)):
        for first in range(start, stop, _BLOCK):
            episodes = column[first : min(stop, first + _BLOCK)]
            if before is not None and (episodes[0] != before).all():
                found.append(first)
            changed = (episodes[1:] != episodes[:-1]).all(axis=1)
            found += (np.flatnonzero(changed) + first + 1).tolist()
            before = episodes[-1]
    return found
