"""Takes the samples of a plot that only shows: straight to the window process, without a queue and its worker."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any

from numpy import ndarray

from simreel.recorders.sampler import Sampler
from simreel.recorders.schema import Schema

if TYPE_CHECKING:
    from simreel.recorders.plots.link import Link
    from simreel.recorders.plots.recorder import PlotRecorder
    from simreel.recorders.worlds import WorldIds

__all__ = ["PlotSampler"]

# How often it looks what became of the window [s]: a system call, for what a user notices no sooner.
_LOOK = 0.2


class PlotSampler(Sampler):
    """Writes each sample into the ring, one copy, where newer ones overwrite it if it is not drawn.

    Args:
        recorder: whose samples they are.
        data_func: gives them.
        reads_state: whether a function reads state and inputs only.
    """

    def __init__(
        self,
        recorder: PlotRecorder[Any],
        data_func: Callable[[], Any],
        reads_state: Callable[[Callable[[], Any]], bool],
    ) -> None:
        super().__init__(recorder, data_func, reads_state)
        self._plot = recorder
        self._place = _Place()

    def took(self, step: int) -> bool:
        """As `Sampler.took`."""
        return step <= self._place.last

    def end_episode(self, envs_idx: WorldIds | None, step: int, reason: str) -> None:
        """As `Sampler.end_episode`: after that of all worlds the plot starts anew."""
        del step, reason
        if envs_idx is None:
            self._place.episode += 1
            self._place.last = -1

    def _take_first(self, step: int) -> None:
        data = self._data_func()
        schema = self.recorder._adopt(Schema.of(data))
        link = self._plot.link
        assert link is not None
        self.reads_state = self._reads_state(self._data_func)
        link.write(step, self._place.episode, schema.packer()(data))
        self._place.last = step
        self.take = self._make_take(schema, link)

    def _make_take(self, schema: Schema, link: Link) -> Callable[[int], None]:
        """A function that takes a sample. Local names, since it is the hot path."""
        data_func, place, pack = self._data_func, self._place, schema.packer()
        array_dtype, array_shape = schema.single_array()
        look_at = 0.0

        def take(step: int) -> None:
            nonlocal look_at
            data = data_func()
            # After Ctrl-C a step comes again, and a data function may stop its own recorder.
            if step <= place.last:
                return
            if (now := monotonic()) >= look_at:
                look_at = now + _LOOK
                link.look()
            if data.__class__ is ndarray and data.dtype is array_dtype and data.shape == array_shape:
                link.write(step, place.episode, data)
            else:
                link.write(step, place.episode, pack(data))
            place.last = step

        return take


class _Place:
    """Where the samples stand. Not in the sampler: a `take` that refers to it would keep the scene."""

    __slots__ = ("episode", "last")

    def __init__(self) -> None:
        self.episode = 0
        self.last = -1
