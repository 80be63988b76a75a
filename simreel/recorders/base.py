"""The recorder: what its author writes, and the handle that `start_recording` returns."""

from __future__ import annotations

import logging
import threading
import weakref
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from simreel.errors import SyncTimeoutError
from simreel.options.recorders import RecorderOptions
from simreel.recorders.queue import Batch, Mark, SampleQueue
from simreel.recorders.sampler import Sampler
from simreel.recorders.status import RecorderStatus
from simreel.recorders.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from simreel.errors import SimreelError
    from simreel.recorders.agenda import Agenda
    from simreel.recorders.manager import RecorderManager
    from simreel.recorders.schema import Schema
    from simreel.recorders.timing import Timing
    from simreel.recorders.worlds import WorldClock, WorldIds

__all__ = ["Recorder"]

logger = logging.getLogger("simreel")

OptionsT = TypeVar("OptionsT", bound=RecorderOptions)


class Recorder(ABC, Generic[OptionsT]):
    """Receives the samples of one data function.

    An author writes `process`, and what else he needs of `build`, `process_block`, `reset` and `cleanup`. `build` runs
    on the stepping thread, the others on the recorder's own thread, in the order of the samples and resets, unless
    `run_in_thread` is False. An error in any of them ends this recorder alone: `cleanup` is called, and the error is
    raised at the next step, sync or stop.
    """

    timing: Timing
    """The grid of the samples: dt [s], stride, n_envs. Known from `build` on."""

    worlds: WorldClock
    """Where each world stands in its own episode, at the samples that are being processed. Known from `build` on."""

    def __init__(self, manager: RecorderManager, options: OptionsT, data_func: Callable[[], Any] | None) -> None:
        # The data function usually refers to the scene, and a running worker refers to its recorder. The manager alone
        # keeps the function, so that a forgotten scene can be collected.
        del data_func
        self.bytes_written = 0
        """What `status.bytes` tells; an author adds what he writes."""
        self._manager = weakref.ref(manager)
        self._options = options
        self._queue: SampleQueue | None = None
        self._worker: Worker | None = None
        self._closing: Mark | None = None
        self._error: str | None = None
        self._rows_processed = 0
        self._is_built = False

    # What an author may write.

    def build(self) -> None:
        """Opens what is written to; called once before the first sample."""

    def accept(self, schema: Schema) -> Schema | None:
        """Looks at the columns that the first sample fixes, on the stepping thread.

        Returns:
            A schema to take the samples by in place of that one, such as one that keeps less of them; or None.

        Raises:
            SampleError: this recorder cannot record them.
        """

    @abstractmethod
    def process(self, data: Any, cur_time: float) -> None:
        """Takes one sample.

        Args:
            data: an array, or a dict of arrays by key (nested keys joined with "/"); str stays str.
            cur_time: time of the sample [s].
        """

    def process_block(
        self, steps: np.ndarray[Any, Any], times: np.ndarray[Any, Any], columns: dict[str, np.ndarray[Any, Any]]
    ) -> None:
        """Takes several consecutive samples; by default one after another by `process`.

        Args:
            steps: (n,) int64, a multiple of the stride apart.
            times: (n,) float64 [s], `steps * dt`.
            columns: (n, *shape) arrays by key, "data" where the data function returns no dict. Read-only views.
        """
        self._rows_processed = 0
        bare = columns.get("data") if not self._has_keys else None
        for i, time in enumerate(times.tolist()):
            data = bare[i] if bare is not None else {key: column[i] for key, column in columns.items()}
            self.process(data, time)
            self._rows_processed = i + 1

    def reset(self, envs_idx: WorldIds | None = None) -> None:
        """Ends an episode, of all worlds (None) or of some, (k,) int; the samples before it have been processed."""

    def cleanup(self) -> None:
        """Completes and closes what was written; called once, also after an error."""

    @property
    def run_in_thread(self) -> bool:
        """Whether samples are processed on a thread of this recorder, or within the step."""
        return True

    # What a user calls.

    @property
    def options(self) -> OptionsT:
        """The options as they were given."""
        return self._options

    @property
    def label(self) -> str:
        """How messages name this recorder."""
        name = type(self._options).__name__
        filename = getattr(self._options, "filename", None)
        return name if filename is None else f"{name} {filename.name}"

    @property
    def status(self) -> RecorderStatus:
        """The counts as they are now."""
        if self._queue is None:
            return RecorderStatus(0, 0, 0, 0, 0, self._error)
        received, written, dropped = self._queue.counts()
        return RecorderStatus(received, written, dropped, received - written - dropped, self.bytes_written, self._error)

    @property
    def is_alive(self) -> bool:
        """Whether it was built and neither stopped nor failed."""
        return self._is_built and self._closing is None and self._error is None

    def stop(self) -> None:
        """Samples the state that stands if it is due, writes what is queued and closes. May be called twice.

        Raises:
            SimreelError: the recorder failed and that was not raised yet.
        """
        manager = self._manager()
        if manager is not None:
            manager.stop(self)
        else:
            self._post_close()
            self._wait_closed()

    def pause(self) -> None:
        """Takes no samples until `resume`."""
        if (manager := self._manager()) is not None:
            manager.pause(self)

    def resume(self) -> None:
        """Takes samples again, from the next due step on."""
        if (manager := self._manager()) is not None:
            manager.resume(self)

    def sync(self, timeout: float | None = None) -> None:
        """Returns when all samples taken so far are with the operating system. May be called on any thread.

        Args:
            timeout: how long to wait at most [s].

        Raises:
            SyncTimeoutError: they are not after `timeout`.
            SimreelError: the recorder failed and that was not raised yet.
        """
        queue, worker = self._queue, self._worker
        if queue is not None and worker is not None and self.status.queued:
            mark = queue.insert(Mark(self._flush))
            worker.wake()
            if not queue.wait(mark, timeout):
                assert timeout is not None
                raise SyncTimeoutError(self.label, self.status.queued, timeout)
        # Asked first, since the manager's books are the stepping thread's.
        if self._error is not None and (manager := self._manager()) is not None:
            manager.raise_reports(self)

    def __repr__(self) -> str:
        open_state = "recording" if self.is_alive else "not built"
        state = "failed" if self._error else "stopped" if self._closing else open_state
        return f"<{self.label}: {state}, {self.status.received} samples>"

    # What the manager and the worker call.

    _linger = 0.05
    """Samples reach the recorder this long after they were taken at the latest [s]: what a kill costs. Many go at once.
    """

    _has_keys = False

    def _open(self, timing: Timing, worlds: WorldClock, agenda: Agenda) -> None:
        self.timing = timing
        self.worlds = worlds
        self.build()
        self._queue = SampleQueue(self.label, self._options, timing.stride)
        try:
            self._worker = Worker(self, self._queue, agenda)
        except BaseException:  # No thread can be started.
            self._queue = None
            self.cleanup()
            raise
        self._is_built = True

    def _sampler(self, data: Any, reads_state: Callable[[Callable[[], Any]], bool]) -> Sampler:
        """What takes its samples on the stepping thread, and is held by the manager alone.

        Args:
            data: the data function.
            reads_state: whether a function reads state and inputs only.
        """
        return Sampler(self, data, reads_state)

    def _flush(self) -> None:
        """Brings what was processed to the operating system, where `process` does not."""

    def _unopen(self) -> None:
        """Undoes `_open`: the scene could not be built."""
        self._post_close()
        self._wait_closed()
        self._queue = self._worker = self._closing = None
        self._is_built = self._summed_up = False

    def _detach(self) -> None:
        """Lets go of queue and worker, which a forked child has only as dead copies."""
        if self._queue is not None:
            self._queue.abandon()
        self._queue = self._worker = None
        self._is_built = False

    def _opened(self) -> tuple[SampleQueue, Worker]:
        assert self._queue is not None
        assert self._worker is not None
        return self._queue, self._worker

    @property
    def _thread(self) -> threading.Thread | None:
        return None if self._worker is None else self._worker.thread

    def _awaits(self, thread: int) -> bool:
        """Whether its end waits for the thread with that number."""
        return self._thread is not None and self._thread.ident == thread

    def _adopt(self, schema: Schema) -> Schema:
        queue, _ = self._opened()
        schema = self.accept(schema) or schema
        self._has_keys = schema.columns[0].key is not None
        self._schema = schema
        queue.has_text = schema.has_text
        return schema

    def _process_batch(self, batch: Batch) -> None:
        import numpy as np

        self._rows_processed = 0
        stride = self.timing.stride
        steps = np.arange(batch.first, batch.first + len(batch.parts) * stride, stride, dtype=np.int64)
        self.process_block(steps, steps * self.timing.dt, self._schema.unpack(batch.parts))

    def _end_episode(self, envs_idx: WorldIds | None, step: int) -> Mark:
        def end() -> None:
            self.worlds.restart(envs_idx, step)
            self.reset(envs_idx)

        queue, worker = self._opened()
        mark = queue.post(Mark(end), new_episode=envs_idx is None)
        worker.wake()
        return mark

    def _wait(self, mark: Mark) -> None:
        self._opened()[0].wait(mark)

    def _fail(self, error: SimreelError) -> None:
        """Ends it for an error on the stepping thread; what was taken before is written."""
        self._error = f"{type(error).__name__}: {error}"
        self._post_close(lambda: self._close_failed(error))

    def _close_failed(self, error: SimreelError) -> None:
        try:
            self.cleanup()
        except BaseException as second:  # noqa: BLE001 - the first error is the one to raise
            error.add_note(f"closing it failed too: {type(second).__name__}: {second}")
            logger.error("%s: closing it after an error failed: %s", self.label, second)  # noqa: TRY400 - told above

    def _post_close(self, close: Callable[[], None] | None = None, *, at_once: bool = True) -> None:
        """Has the worker write what is queued, close (by `cleanup`, unless told otherwise) and end.

        Args:
            close: what the worker calls to close.
            at_once: False where this runs on the worker, in whatever it was doing.
        """
        if self._closing is None:
            self._closing = Mark(close or self.cleanup, is_last=True)
        if self._queue is None or self._worker is None:
            self._closing.done = True
        elif self._closing.posted:
            # Again: Ctrl-C may have come before the worker was woken.
            self._worker.wake()
        elif at_once:
            self._queue.post(self._closing)
            self._worker.wake()
        else:
            self._queue.request(self._closing)

    def _wait_closed(self) -> None:
        if self._closing is None or self._queue is None or self._summed_up:
            return
        self._queue.wait(self._closing)
        self._summed_up = True
        status = self.status
        is_expected = self._options.when_full == "drop_oldest"
        level = logging.WARNING if status.dropped and not is_expected else logging.INFO
        logger.log(
            level,
            "%s: %d samples, %d dropped, %s",
            self.label,
            status.written,
            status.dropped,
            format_bytes(status.bytes),
        )

    _summed_up = False


def format_bytes(n: float) -> str:
    """A size in the largest decimal unit that leaves at least 1, such as "46 kB"."""
    for unit in ("B", "kB", "MB", "GB"):
        if n < 999.5:
            return f"{n:.0f} {unit}" if unit == "B" or n >= 9.95 else f"{n:.1f} {unit}"
        n /= 1000
    return f"{n:.1f} TB"
