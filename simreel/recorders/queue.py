"""The samples between the stepping thread and the worker, in blocks.

    deque:   [ Block | Block | Mark | Block ]      head: the worker claims rows of it
                                      ^ open: the stepping thread appends to it

One thread appends, one claims. Appending to the open block takes no lock: a block only grows, and the worker copies the
rows that it claims. All else (a new block, a full queue, a mark) takes the lock. Marks of other threads leave the open
block open: they wait for its first rows, beside the deque.
"""

from __future__ import annotations

import logging
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simreel.errors import RecorderOverflowError, SimreelWarning

if TYPE_CHECKING:
    from simreel.options.recorders import RecorderOptions

__all__ = ["Batch", "Mark", "SampleQueue"]

logger = logging.getLogger("simreel")

# Large enough that a block's overhead vanishes, small enough that the worker holds the interpreter for microseconds.
_BLOCK_ROWS = 8192
_BLOCK_BYTES = 2**20
# Samples with text differ in size; few of them in a block keep its size near that of its first row.
_TEXT_BLOCK_ROWS = 16
# A bytes object and its place in a list take this much on top of its content.
_ROW_OVERHEAD = 48
# Blocks that a queue full of bytes has at least: it gets room for the next sample block by block.
_MIN_BLOCKS = 8


class Block:
    """Samples of consecutive due steps: row i is that of step `first + i * stride`."""

    __slots__ = ("claimed", "counted", "end", "first", "nbytes", "parts")

    def __init__(self, first: int, end: int) -> None:
        self.first = first
        self.end = end
        self.parts: list[bytes] = []
        self.nbytes = self.counted = 0  # Known when the block is closed.
        self.claimed = 0


@dataclass(frozen=True)
class Batch:
    """Rows that the worker claimed: row i is the sample of step `first + i * stride`."""

    first: int
    parts: list[bytes]


@dataclass(eq=False)
class Mark:
    """Something to do between two samples: `action` runs on the worker when all samples before it are written."""

    action: Callable[[], None] | None = None
    is_last: bool = False
    posted: bool = field(default=False, init=False)
    done: bool = field(default=False, init=False)


class SampleQueue:
    """A bounded queue with one thread at each end."""

    def __init__(self, label: str, options: RecorderOptions, stride: int) -> None:
        self.label = label
        self.stride = stride
        self.open = Block(0, 0)
        self.asleep = False
        self.has_text = False
        self.written = 0
        self.dropped = 0
        self._options = options
        self._closed_rows = 0
        self._last_step = -1
        self._entries: deque[Block | Mark] = deque()
        # Marks of other threads, each with the block and the number of its rows that it waits for.
        self._inserted: deque[tuple[Mark, Block, int]] = deque()
        self._requested: Mark | None = None
        self._waiting_bytes = 0
        self._is_closed = self._is_over = False
        self._warned = False
        # Re-entrant: a garbage collection inside a locked stretch may run a finalizer that posts a mark here.
        self._lock = threading.RLock()
        self._progress = threading.Condition(self._lock)
        # Wakes the worker. A release is kept until somebody acquires, so none is missed on the way to sleep.
        self._bell = threading.Lock()
        self._bell.acquire()

    @property
    def received(self) -> int:
        """Samples taken."""
        return self._closed_rows + len(self.open.parts)

    @property
    def queued(self) -> int:
        """Samples that are neither written nor dropped."""
        return self.received - self.written - self.dropped

    def counts(self) -> tuple[int, int, int]:
        """Received, written and dropped samples at one moment."""
        with self._lock:
            return self.received, self.written, self.dropped

    # The stepping thread's end.

    def append(self, step: int, raw: bytes) -> None:
        """Takes a sample where the open block cannot: it is full, the step does not follow, or was taken already.

        Raises:
            RecorderOverflowError: the queue stayed full and the options say "raise".
        """
        with self._lock:
            if step <= self._last() or self._is_closed:
                return
            self._close_open()
            row_bytes = len(raw) + _ROW_OVERHEAD
            capacity = self._wait_for_room(row_bytes)
            if self._is_closed:  # While it waited: the data function of another recorder, or a finalizer.
                return
            block = Block(step, step + capacity * self.stride)
            block.parts.append(raw)
            # Ctrl-C is raised after a call, not after a store: with these lines it finds all done or nothing.
            if capacity > 1:
                self.open = block
            else:
                # A camera frame, or the last of a full queue: never open, so that the worker need not linger and frees
                # it when it is written.
                self._last_step = step
                self._closed_rows += 1
                self._waiting_bytes += row_bytes
                block.nbytes, block.counted = row_bytes, 1
            self._entries.append(block)
            # The caller wakes a sleeping worker.
            if capacity == 1 and not self.asleep:
                self._ring()

    def took(self, step: int) -> bool:
        """Whether this episode's sample of that step was taken."""
        return step <= self._last()

    def wake(self) -> None:
        """Tells the sleeping worker that there is something to do."""
        self.asleep = False
        self._ring()

    def post(self, mark: Mark, *, new_episode: bool = False) -> Mark:
        """Puts a mark behind all samples taken so far; with `new_episode` the steps start from 0 again.

        On another thread than the stepping one only where this is the last: it closes the open block.
        """
        with self._lock:
            self._close_open()
            if new_episode:
                self._last_step = -1
            self._is_closed = self._is_closed or mark.is_last
            # As in append: both or none.
            mark.posted = True
            if self._is_over:
                mark.done = True
            else:
                self._entries.append(mark)
            self.wake()
        return mark

    def insert(self, mark: Mark) -> Mark:
        """Has a mark reached when all samples taken so far are gone, on any thread; the worker is to be woken then."""
        with self._lock:
            mark.posted = True
            if self._is_over:
                mark.done = True
            elif self.open.parts:
                self._inserted.append((mark, self.open, len(self.open.parts)))
            else:
                self._entries.append(mark)
        return mark

    def request(self, mark: Mark) -> Mark:
        """As `post`, for a finalizer that runs on the worker, maybe within a locked stretch: touches no entry."""
        mark.posted = True
        self._requested = mark
        self.wake()
        return mark

    def abandon(self) -> None:
        """Takes nothing more. For a forked child: the locks may be held by threads that it does not have."""
        self._lock = threading.RLock()
        self._progress = threading.Condition(self._lock)
        self._is_closed = True
        self.open = Block(0, 0)

    def wait(self, mark: Mark, timeout: float | None = None) -> bool:
        """Whether the mark was reached before the timeout [s]."""
        with self._lock:
            return self._progress.wait_for(lambda: mark.done, timeout)

    def _last(self) -> int:
        block = self.open
        return block.first + (len(block.parts) - 1) * self.stride if block.parts else self._last_step

    def _close_open(self) -> None:
        block = self.open
        rows = len(block.parts)
        if rows:
            last, following = self._last(), Block(0, 0)
            nbytes = sum(map(len, block.parts)) + _ROW_OVERHEAD * rows
            # No calls from here: Ctrl-C finds all done or nothing.
            self._last_step = last
            self._closed_rows += rows
            self._waiting_bytes += nbytes
            block.nbytes = nbytes
            block.counted = rows
            self.open = following
            self._pop_finished()
            # A worker that has claimed all of it looks again by itself, and a ring costs a call of the system.
            if block.claimed < rows:
                self._ring()

    def _wait_for_room(self, row_bytes: int) -> int:
        deadline = time.monotonic() + self._options.buffer_full_wait_time
        while (room := self._room(row_bytes)) < 1:
            left = deadline - time.monotonic()
            if left > 0:
                self._progress.wait(left)
            elif self._options.when_full == "raise":
                self._closed_rows += 1
                self.dropped += 1
                raise RecorderOverflowError(self.label, self.queued, self._options.buffer_full_wait_time)
            elif self._options.when_full == "drop_oldest":
                if not self._drop_oldest():
                    # All that waits is being written: the newest waits beside it.
                    return 1
            else:
                self._warn_blocked()
                self._progress.wait()
        rows = _TEXT_BLOCK_ROWS if self.has_text else _BLOCK_ROWS
        block_bytes = min(_BLOCK_BYTES, self._options.buffer_bytes // _MIN_BLOCKS)
        return max(1, min(rows, block_bytes // row_bytes, room))

    def _room(self, row_bytes: int) -> int:
        queued = self.queued
        # A sample larger than the bound passes alone.
        room = max((self._options.buffer_bytes - self._waiting_bytes) // row_bytes, int(queued == 0))
        return min(room, self._options.buffer_size - queued) if self._options.buffer_size else room

    def _drop_oldest(self) -> bool:
        for entry in self._entries:
            if isinstance(entry, Block) and entry.claimed < len(entry.parts):
                entry.claimed += 1
                self.dropped += 1
                self._pop_finished()
                return True
        return False

    def _warn_blocked(self) -> None:
        if self._warned:
            return
        self._warned = True
        text = (
            f"{self.label}: the queue is full and the step waits; samples come faster than they are written. "
            "Lower hz, or set when_full='drop_oldest'"
        )
        try:
            warnings.warn(text, SimreelWarning, stacklevel=2)
        except SimreelWarning:
            # Warnings are errors here; but nothing is lost, and an error would end the recorder.
            logger.warning(text)

    def _ring(self) -> None:
        # Rung already where that fails, and not heard yet.
        with suppress(RuntimeError):
            self._bell.release()

    # The worker's end.

    def wait_for_work(self, linger: float) -> None:
        """Returns when a block is full, a mark waits, or the first sample after idling is `linger` [s] old."""
        while not self._has_work():
            self.asleep = True
            # A sample that came before `asleep` was set has not woken anybody.
            if self._has_work():
                break
            self._bell.acquire()
        self.asleep = False
        deadline = time.monotonic() + linger
        while not self._is_urgent() and (left := deadline - time.monotonic()) > 0:
            self._bell.acquire(timeout=left)

    def _has_work(self) -> bool:
        with self._lock:
            return self._head() is not None

    def _is_urgent(self) -> bool:
        with self._lock:
            return bool(self._inserted) or self._head() is not self.open

    def claim(self) -> Batch | Mark | None:
        """The next rows or mark in order; None where nothing waits."""
        with self._lock:
            head = self._head()
            if head is None or isinstance(head, Mark):
                return head
            start, stop = head.claimed, len(head.parts)
            if self._options.when_full == "drop_oldest" and self._options.buffer_size:
                # What is being written cannot be dropped: leave room for the newest.
                stop = min(stop, start + max(1, self._options.buffer_size // 2))
            head.claimed = stop
            return Batch(head.first + start * self.stride, head.parts[start:stop])

    def finish(self, batch: Batch, written: int) -> None:
        """Counts a claimed batch: `written` of its rows were written, the others dropped."""
        with self._lock:
            self.written += written
            self.dropped += len(batch.parts) - written
            self._pop_finished()
            self._progress.notify_all()

    def reach(self, mark: Mark) -> None:
        """Removes a claimed mark and wakes whoever waits for it."""
        with self._lock:
            if mark is self._requested:
                self._requested = None
            elif self._inserted and mark is self._inserted[0][0]:
                self._inserted.popleft()
            else:
                self._entries.popleft()
            mark.done = True
            if mark.is_last:
                self._end()
            # It may hold an error, whose traceback holds the scene.
            mark.action = None
            self._progress.notify_all()

    def _end(self) -> None:
        """Lets go of those who posted behind the last mark, or while it was reached: all they wait for is closed."""
        self._is_over = True
        for other in [entry for entry in self._entries if isinstance(entry, Mark)] + [m for m, _, _ in self._inserted]:
            other.done = True
        self._inserted.clear()

    def _head(self) -> Block | Mark | None:
        """The first entry that is a mark or has rows to claim. The open block is the last of all."""
        if self._inserted:
            mark, block, rows = self._inserted[0]
            if block.claimed >= rows:
                return mark
        self._pop_finished()
        if not self._entries:
            return self._requested
        head = self._entries[0]
        return head if isinstance(head, Mark) or head.claimed < len(head.parts) else self._requested

    def _pop_finished(self) -> None:
        while self._entries:
            head = self._entries[0]
            if isinstance(head, Mark) or head is self.open or head.claimed < len(head.parts):
                return
            self._entries.popleft()
            self._waiting_bytes -= head.nbytes
            # A row came while another thread closed the block.
            self._closed_rows += len(head.parts) - head.counted
