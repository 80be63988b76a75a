"""Which frames follow from the one before, so that a re-run can be held against them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simreel.replay.spans import remaining

if TYPE_CHECKING:
    from simreel.replay.notes import Notes
    from simreel.replay.parameters import Parameters
    from simreel.replay.recording import Recording

__all__ = ["Block", "read_blocks"]

Array = np.ndarray[Any, Any]

# Values of the frames that are looked at together [bytes]: enough to forget the cost of a block.
_BLOCK_BYTES = 2**20


@dataclass(frozen=True)
class Block:
    """Frames that stand together in the file, none of them lost."""

    first: int
    rows: Array
    """(n,) of the layout's row."""
    follows: Array
    """(n, worlds) bool: whether a world of the frame comes from the frame before by one step."""
    known: Array
    """(n, worlds) bool: whether it is known what happened in that step; where it is not, nothing can be compared."""


def read_blocks(recording: Recording, notes: Notes, parameters: Parameters) -> Iterator[Block]:
    """All frames that are not lost, in order."""
    reel = recording.reel
    breaks = set(notes.frames("segment"))
    size = max(1, _BLOCK_BYTES // max(1, reel.layout.row_bytes))
    step = episode = np.empty(0, np.int64)
    end = 0
    for start, stop in remaining(reel.gaps, len(reel)):
        for first in range(start, stop, size):
            rows = reel.rows(first, min(stop, first + size))
            frames = range(first, first + len(rows))
            steps, episodes = rows["step"], rows["episode"]
            known = np.ones(steps.shape, bool)
            for last, then in parameters.uncertain:
                known[max(0, last + 1 - first) : max(0, then + 1 - first)] = False
            if end == 0:
                step, episode = steps[0] - 2, episodes[0]
            elif end != first:
                # Behind a gap. That a world goes on can be told, but not from what.
                step, episode = np.maximum(steps[0] - 1, -1), episodes[0]
                known[0] = False
            before = np.concatenate([[step], steps[:-1]])
            same = episodes == np.concatenate([[episode], episodes[:-1]])
            follows = same & (steps - before == 1) & (steps > 0)
            for frame in breaks.intersection(frames):
                was_set, is_unknown = _broken(notes, frame, follows.shape[1])
                follows[frame - first] &= ~was_set
                known[frame - first] &= ~is_unknown
            yield Block(first, rows, follows, known)
            step, episode, end = steps[-1], episodes[-1], frames.stop


def _broken(notes: Notes, frame: int, worlds: int) -> tuple[Array, Array]:
    """The worlds whose state at a frame somebody set, and those in which time went on by another amount than a step.

    What happened to these nobody has told: their state was written to, or stepped, past the scene.
    """
    was_set, is_unknown = np.zeros(worlds, bool), np.zeros(worlds, bool)
    for note in notes.at("segment", frame):
        listed = note.value.get("worlds")
        here = np.isin(np.arange(worlds), listed) if isinstance(listed, list) else True
        if note.value.get("reason") == "time":
            is_unknown |= here
        else:
            was_set |= here
    return was_set, is_unknown
