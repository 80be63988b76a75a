"""Keeps frames to the times at which they are due."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

__all__ = ["paced"]

# Woken so often [s] while a frame is not due, a viewer that was closed ends the wait.
_PATIENCE = 0.1


def paced(
    frames: int,
    interval: float,
    *,
    loop: bool = False,
    is_open: Callable[[], bool] = lambda: True,
    now: Callable[[], float] = time.perf_counter,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[int]:
    """Frames 0 to `frames - 1`, each when it is due.

    Deadlines are counted from the start, so that no error adds up. Frames that are past when their turn comes are left
    out; the last one never is.

    Args:
        frames: how many there are, at least 1.
        interval: from one to the next [s].
        loop: whether to begin again after the last.
        is_open: ends it when false.
        now: the time [s].
        sleep: waits for so long [s].
    """
    start, frame = now(), 0
    while is_open():
        wait = start + frame * interval - now()
        if wait > 0:
            sleep(min(wait, _PATIENCE))
            continue
        yield frame % frames
        if frame % frames == frames - 1 and not loop:
            return
        due = int((now() - start) / interval)
        # Within one round: the last frame of each is shown.
        frame = max(frame + 1, min(due, frame + frames - 1 - frame % frames))
