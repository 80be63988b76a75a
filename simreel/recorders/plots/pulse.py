"""Whether the window process goes on, for whoever waits for it: a page of shared memory."""

from __future__ import annotations

import ctypes
import mmap
import time
from collections.abc import Iterator
from contextlib import contextmanager

from simreel.recorders.plots.channel import shared_memory

__all__ = ["Pulse"]


class Pulse(ctypes.Structure):
    """Written by the window process."""

    _fields_ = (("turns", ctypes.c_int64), ("longest_us", ctypes.c_int64), ("is_first", ctypes.c_int64))

    turns: int
    """How often a plot had its turn, or none had anything to do."""
    longest_us: int
    """What one took at most [us], those not counted that were the first of a plot."""
    is_first: int
    """Whether this is the first turn of a plot."""

    @classmethod
    def create(cls) -> tuple[int, Pulse]:
        """One, and the descriptor of its memory, for `open`."""
        memory = shared_memory(mmap.PAGESIZE)
        return memory, cls.open(memory)

    @classmethod
    def open(cls, memory: int) -> Pulse:
        """One that is shared."""
        return cls.from_buffer(mmap.mmap(memory, mmap.PAGESIZE))

    @contextmanager
    def turn(self, *, is_first: bool) -> Iterator[None]:
        """Counts a turn, within the block."""
        self.is_first = is_first
        start = time.monotonic()
        yield
        if not is_first:
            self.longest_us = max(self.longest_us, int(1e6 * (time.monotonic() - start)))
        self.is_first = False
        self.turns += 1
