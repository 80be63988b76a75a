"""The thread that encodes the rows of a reel and writes its records.

It holds no `ReelWriter`: one that nobody holds any more is collected, and its file is closed here.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simreel.errors import MaxSizeError, SimreelError, WriteError
from simreel.reel.latch import Latch
from simreel.reel.ring import Full, Ring, Slot
from simreel.reel.sink import OverSizeError, Sink
from simreel.reel.syncer import Syncer

if TYPE_CHECKING:
    from simreel.reel.chunk_encoder import ChunkEncoder

__all__ = ["End", "Flush", "Record", "Worker"]

logger = logging.getLogger("simreel")

# Rows that were in the open slot at one tick are written at the next: none waits longer than 0.5 s.
_TICK = 0.25


@dataclass
class Record:
    """A record to write when its turn comes."""

    tag: bytes
    body: Sequence[Any]
    first: int
    done: Latch = field(default_factory=Latch)


@dataclass
class Flush:
    """Asks for all rows that are committed to be written."""

    done: Latch = field(default_factory=Latch)


@dataclass
class End:
    """Asks for the end of the file."""

    is_orphan: bool = False
    """Whether nobody is left whom an error could be raised to."""
    is_unwanted: bool = False
    """Whether the file is left as it is: whoever asks removes it."""


class Worker:
    """Takes what the ring's queue holds, in order, until its end.

    Args:
        ring: where the rows come from.
        encoder: makes chunks of them.
        sink: takes the records.
        max_size: what the sink was given; for the text of an error.
        interval: between two syncs of the file [s]; None: after each chunk.
    """

    def __init__(
        self, ring: Ring, encoder: ChunkEncoder, sink: Sink, max_size: int | None, interval: float | None
    ) -> None:
        self.frames = 0
        """Written."""
        self.error: SimreelError | None = None
        """What ended the recording. Set before the ring's limit is 0."""
        self.ended = Latch()
        """Set when the file is closed."""
        self._was_told = False
        self._ring = ring
        self._encoder = encoder
        self._sink = sink
        self._max_size = max_size
        self._interval = interval
        self._syncer: Syncer | None = None
        self._waiting: tuple[int, int] | None = None
        """First frame and taken rows of the open slot at the last tick, if it had more rows."""
        self._thread = threading.Thread(target=self._run, name="simreel-reel", daemon=True)

    def start(self) -> None:
        """Starts the thread. Ctrl-C within may leave it running, or not: then `end` it, and do not `join`."""
        self._thread.start()

    @property
    def path(self) -> Any:
        """The file."""
        return self._sink.file.path

    @property
    def size(self) -> int:
        """Bytes of the file so far."""
        return self._sink.file.size

    @property
    def threads(self) -> frozenset[int]:
        """Identifiers of this one and of the one that syncs."""
        found = {self._thread.ident, None if self._syncer is None else self._syncer.thread}
        return frozenset(each for each in found if each is not None)

    def take_error(self) -> SimreelError | None:
        """What ended the recording, for the caller: given once."""
        if self.error is None or self._was_told:
            return None
        self._was_told = True
        return self.error

    def end(self, *, is_orphan: bool = False, is_unwanted: bool = False) -> None:
        """Asks for the end, and returns at once. Fit for a finalizer: takes no lock."""
        self._ring.queue.put(End(is_orphan, is_unwanted))

    def join(self) -> None:
        """Returns when the file is closed and the thread has ended."""
        # A thread whose `join` was interrupted counts as ended while it runs.
        self.ended.wait()
        self._thread.join()

    def discard(self) -> None:
        """Removes the file, whose old one has its name again. Only where the thread has nothing to do with it."""
        self._sink.file.discard()

    def abandon(self) -> None:
        """In a forked child: the file is its parent's."""
        self._ring.shut()
        self._sink.file.close()

    def _run(self) -> None:
        # Here, where no Ctrl-C comes.
        self._attempt(self._start_syncer)
        deadline = time.monotonic() + _TICK
        while not self.ended.is_set():
            with suppress(queue.Empty):
                self._take(self._ring.queue.get(timeout=max(0.0, deadline - time.monotonic())))
            # Where something was put into the queue meanwhile, that comes first.
            if time.monotonic() >= deadline and self._tick():
                deadline = time.monotonic() + _TICK

    def _take(self, item: Any) -> None:
        if isinstance(item, Full):
            if item.is_current:
                self._attempt(lambda: self._write_all(item.slot))
            item.done.set()
        elif isinstance(item, End):
            if item.is_unwanted:
                with suppress(OSError):
                    self._sync()
            else:
                self._attempt(self._finish)
            if item.is_orphan and (error := self.take_error()) is not None:
                logger.error("when the file was closed: %s", error, exc_info=error)
            self.ended.set()
        else:
            self._attempt(self._write_open if isinstance(item, Flush) else lambda: self._write_record(item))
            item.done.set()

    def _start_syncer(self) -> None:
        if self._interval is not None:
            self._syncer = Syncer(self._sink.file, self._interval)

    def _attempt(self, action: Callable[[], None]) -> None:
        """Does it, unless something failed before: then all that comes is dropped."""
        if self.error is None:
            try:
                action()
            except BaseException as error:  # noqa: BLE001 - the caller's thread gets it
                self._fail(error)

    def _tick(self) -> bool:
        """Writes rows that have waited for a whole tick; False where the queue has to be looked at first."""
        slot = self._ring.open
        count, now = slot.count, (slot.first, slot.taken)
        # A record that came before the last of these rows stands before them in the file.
        if not self._ring.queue.empty():
            return False
        if count > slot.taken and now == self._waiting:
            self._attempt(lambda: self._write_rows(slot, count))
        self._waiting = (slot.first, slot.taken) if slot.count > slot.taken else None
        return True

    def _write_all(self, slot: Slot) -> None:
        self._write_rows(slot, slot.count)
        if slot.first + slot.taken != self.frames:
            reason = "frames came out of order; only one thread at a time may use a writer"
            raise WriteError(self.path, reason, self.frames)

    def _write_open(self) -> None:
        slot = self._ring.open
        self._write_rows(slot, slot.count)

    def _write_rows(self, slot: Slot, stop: int) -> None:
        stop = min(stop, self._ring.size)
        # Another slot may have been opened while its forerunner waits in the queue.
        if slot.first + slot.taken != self.frames or stop == slot.taken:
            return
        if self._syncer is not None and self._syncer.error is not None:
            raise self._syncer.error
        for start, end in self._encoder.pieces(slot, slot.taken, stop):
            self._sink.append(b"CHNK", self._encoder.encode(slot, start, end), slot.first + start, end - start)
            slot.taken = end
            self.frames += end - start
            if self._syncer is None:
                self._sink.file.sync()

    def _write_record(self, record: Record) -> None:
        self._sink.append(record.tag, record.body, record.first)

    def _finish(self) -> None:
        slot = self._ring.open
        if slot.first >= 0:
            self._write_all(slot)
        self._sink.finish(self.frames, is_complete=True)
        self._sync()
        if self._sink.file.is_deleted:
            raise WriteError(self.path, "somebody deleted the file while it was written", 0)
        self._sink.file.close()
        self._sink.file.keep()

    def _sync(self) -> None:
        if self._syncer is None:
            self._sink.file.sync()
        else:
            self._syncer.finish()

    def _fail(self, error: BaseException) -> None:
        """Ends the file as well as it can be ended, and has the caller told."""
        if isinstance(error, OverSizeError):
            told: SimreelError = MaxSizeError(self.path, self._max_size or 0, self.frames)
        elif isinstance(error, SimreelError):
            told = error
        else:
            system = error.strerror if isinstance(error, OSError) else None
            told = WriteError(self.path, system or f"{type(error).__name__}: {error}", self.frames)
            told.__cause__ = error
        # What is on a full disk already can be read without an index.
        with suppress(OSError):
            self._sink.finish(self.frames, is_complete=False)
        with suppress(OSError):
            self._sync()
        with suppress(OSError):
            self._sink.file.close()
        # Whoever is told finds the file as it stays.
        self.error = told
        self._ring.limit = 0
