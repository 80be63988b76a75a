"""Runs a recorder: on a thread of its own, or in the step where `run_in_thread` is False."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from simreel.errors import RecorderError, SimreelError
from simreel.recorders.queue import Batch, Mark

if TYPE_CHECKING:
    from simreel.recorders.agenda import Agenda
    from simreel.recorders.base import Recorder
    from simreel.recorders.queue import SampleQueue

__all__ = ["Worker"]


class Worker:
    """Takes the samples and marks of a queue in order until the last mark.

    A recorder that raises is closed at once, so that its good rows are kept; what follows is dropped and counted.
    """

    def __init__(self, recorder: Recorder[Any], queue: SampleQueue, agenda: Agenda) -> None:
        self._recorder = recorder
        self._queue = queue
        self._agenda = agenda
        self._done = False
        self._failed = False
        # For a sync on another thread than that of the steps. Re-entrant, since a recorder may sync itself.
        self._pumping = threading.RLock()
        self.thread: threading.Thread | None = None
        if recorder.run_in_thread:
            # A daemon: the interpreter joins all others before the exit handler can tell them to end.
            self.thread = threading.Thread(target=self._run, name=f"simreel {queue.label}", daemon=True)
            self.thread.start()
        else:
            queue.asleep = True

    def wake(self) -> None:
        """Has what waits processed: by the thread, or here."""
        if self.thread is not None:
            self._queue.wake()
        else:
            with self._pumping:
                try:
                    self.pump()
                finally:
                    self._queue.asleep = True

    def pump(self) -> None:
        """Processes all that waits now."""
        while not self._done and (entry := self._queue.claim()) is not None:
            if isinstance(entry, Mark):
                self._reach(entry)
            else:
                self._write(entry)

    def _run(self) -> None:
        while not self._done:
            self._queue.wait_for_work(self._recorder._linger)
            self.pump()

    def _write(self, batch: Batch) -> None:
        written = 0
        try:
            if not self._failed:
                self._recorder._process_batch(batch)
                written = len(batch.parts)
        except BaseException as error:  # noqa: BLE001 - a worker that died in silence would hang the run
            written = self._recorder._rows_processed
            self._fail("writing", error)
            self._raise_interrupt(error)
        finally:
            self._queue.finish(batch, written)

    def _reach(self, mark: Mark) -> None:
        try:
            if mark.action is not None and not self._failed:
                mark.action()
        except BaseException as error:  # noqa: BLE001 - as above
            self._fail("ending an episode" if not mark.is_last else "closing", error, close=not mark.is_last)
            self._raise_interrupt(error)
        finally:
            self._done = mark.is_last
            self._queue.reach(mark)

    def _raise_interrupt(self, error: BaseException) -> None:
        """Raises Ctrl-C or sys.exit that came within a step; on a thread of its own there is nobody to raise it to."""
        if self.thread is None and not isinstance(error, Exception):
            raise error

    def _fail(self, doing: str, cause: BaseException, *, close: bool = True) -> None:
        self._failed = True
        error = cause if isinstance(cause, SimreelError) else RecorderError(self._queue.label, doing, cause)
        self._recorder._error = f"{type(error).__name__}: {error}"
        if close:
            self._recorder._close_failed(error)
        self._agenda.report(self._recorder, error)
