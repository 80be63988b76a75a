"""Calls a recorder's data function at due steps and puts what it returns into the queue, as bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numpy import empty, ndarray

from simreel.recorders.schema import Schema

if TYPE_CHECKING:
    import numpy as np

    from simreel.recorders.base import Recorder
    from simreel.recorders.worlds import WorldIds, WorldSteps

__all__ = ["Sampler"]

_NO_VIEW = empty(0)


class Sampler:
    """What the manager has for each recorder; the one place that holds its data function."""

    takes_last = False
    """Whether the state that an episode ends with is a sample, due or not."""
    last = -1
    """The step of the last sample that `append` took."""

    __slots__ = ("_data_func", "_reads_state", "reads_state", "recorder", "stride", "take")

    def __init__(
        self, recorder: Recorder[Any], data_func: Callable[[], Any], reads_state: Callable[[Callable[[], Any]], bool]
    ) -> None:
        self.recorder = recorder
        self.reads_state = False
        """Whether the data function reads state and inputs only; known from the first sample on."""
        self._data_func = data_func
        self._reads_state = reads_state
        self.stride = recorder.timing.stride
        self.take: Callable[[int], None] = self._take_first

    def took(self, step: int) -> bool:
        """Whether this episode's sample of that step was taken."""
        return self.recorder._opened()[0].took(step)

    def room(self, step: int) -> int:
        """How many samples from that step on may be taken together by `append`; 0: none."""
        del step
        return 0

    def rows(self, n: int) -> np.ndarray[Any, Any]:
        """Where the exact states of so many samples go before `append`, (n, values) float64."""
        # Never called: there is no `room`.
        raise NotImplementedError

    def append(self, step: int, n: int) -> None:
        """Takes the samples of consecutive steps.

        Args:
            step: of the first.
            n: of the `rows`.
        """
        # As `rows`.
        raise NotImplementedError

    def end_episode(self, envs_idx: WorldIds | None, step: int, reason: str) -> None:
        """Hears that the episodes of some worlds end at a step, or those of all (None), after their last sample.

        Args:
            envs_idx: the worlds.
            step: of the clock.
            reason: such as "reset" or "stop".
        """

    def start_at(self, start: WorldSteps) -> None:
        """Hears at which step of the clock the episode of each world began, where the new count is not from 0."""

    def start_segment(self, reason: str, envs_idx: WorldIds | None) -> None:
        """Hears that somebody has set the state of some worlds, or of all (None), between two steps."""

    def parameters_change(self) -> None:
        """Hears that somebody is about to change parameters of the model."""

    def parameters_changed(self) -> None:
        """Hears that he has."""

    def _take_first(self, step: int) -> None:
        data = self._data_func()
        schema = self.recorder._adopt(Schema.of(data))
        first = schema.packer()(data)
        self.take = self._fast_take(schema, data)
        self.reads_state = self._reads_state(self._data_func)
        queue, worker = self.recorder._opened()
        queue.append(step, first)
        if queue.asleep:
            worker.wake()

    def _fast_take(self, schema: Schema, first: Any) -> Callable[[int], None]:
        data_func, stride, pack = self._data_func, self.stride, schema.packer()
        queue, worker = self.recorder._opened()
        append_slow = queue.append
        array_dtype, array_shape = schema.single_array()
        # A live view, such as data.qpos, is the same object each time: nothing of it needs to be looked at again.
        is_view = first.__class__ is ndarray and first.dtype is array_dtype
        live_view = first if is_view else _NO_VIEW
        live_bytes = live_view.tobytes

        def take(step: int) -> None:
            data = data_func()
            if data is live_view:
                raw = live_bytes()
            # What pack does with an array, without the call.
            elif data.__class__ is ndarray and data.dtype is array_dtype and data.shape == array_shape:
                raw = data.tobytes()
            else:
                raw = pack(data)
            block = queue.open
            parts = block.parts
            if step == block.first + len(parts) * stride < block.end:
                parts.append(raw)
            else:
                append_slow(step, raw)
            if queue.asleep:
                worker.wake()

        return take
