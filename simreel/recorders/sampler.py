"""Calls a recorder's data function at due steps and puts what it returns into the queue, as bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from simreel.recorders.schema import Schema

if TYPE_CHECKING:
    from simreel.recorders.base import Recorder

__all__ = ["Sampler"]


class Sampler:
    """What the manager has for each recorder; the one place that holds its data function."""

    __slots__ = ("_data_func", "recorder", "stride", "take")

    def __init__(self, recorder: Recorder[Any], data_func: Callable[[], Any]) -> None:
        self.recorder = recorder
        self._data_func = data_func
        self.stride = recorder.timing.stride
        self.take: Callable[[int], None] = self._take_first

    def took(self, step: int) -> bool:
        """Whether this episode's sample of that step was taken."""
        return self.recorder._opened()[0].took(step)

    def _take_first(self, step: int) -> None:
        data = self._data_func()
        schema = self.recorder._adopt(Schema.of(data))
        first = schema.packer()(data)
        self.take = self._fast_take(schema)
        queue, worker = self.recorder._opened()
        queue.append(step, first)
        if queue.asleep:
            worker.wake()

    def _fast_take(self, schema: Schema) -> Callable[[int], None]:
        data_func, stride, pack = self._data_func, self.stride, schema.packer()
        queue, worker = self.recorder._opened()
        append_slow = queue.append
        array_dtype, array_shape = schema.single_array()

        def take(step: int) -> None:
            data = data_func()
            # What pack does with an array, without the call.
            if data.__class__ is ndarray and data.dtype is array_dtype and data.shape == array_shape:
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
