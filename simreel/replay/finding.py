"""Finds a frame by its time."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import TYPE_CHECKING

from simreel.errors import FieldError, GapError

if TYPE_CHECKING:
    from simreel.replay.recording import Recording

__all__ = ["frame_at_time"]


def frame_at_time(recording: Recording, t: float, episode: tuple[int, int]) -> int:
    """The frame of an episode that is nearest to a time; with worlds by the world that has run longest.

    Args:
        recording: the trajectory.
        t: time since the episode began [s].
        episode: its first frame, and the first after it.

    Raises:
        FieldError: the time is more than a frame before the episode or after it.
        FrameIndexError: the trajectory has no frame.
    """
    reel, stride = recording.reel, recording.stride
    first, stop = episode
    column = reel.field("step")

    def step(frame: int) -> int:
        try:
            return int(column[frame].max())
        except GapError as error:
            # As if no recorder had paused: the frames of a gap are numbered.
            return step(error.gap[0] - 1) + (frame - error.gap[0] + 1) * stride if error.gap[0] > first else frame

    begin, end = step(first), step(max(first, stop - 1))
    try:
        wanted = math.nan if isinstance(t, str) else float(t) / reel.dt
    except (TypeError, ValueError, OverflowError):
        wanted = math.nan
    if not begin - stride <= wanted <= end + stride:
        span = f"frames {first} to {stop - 1} are from {begin * reel.dt:g} to {end * reel.dt:g} s"
        raise FieldError("seek_time", f"t = {t!r} s", span)
    after = min(bisect_left(range(first, stop), wanted, key=step) + first, stop - 1)
    before = max(after - 1, first)
    return before if wanted - step(before) <= step(after) - wanted else after
