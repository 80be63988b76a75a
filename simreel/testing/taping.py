"""A scene without physics whose samples are numbered, with one recorder on it."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from simreel.scene.scene import Scene
from simreel.testing.fake_engine import FakeEngine

if TYPE_CHECKING:
    from simreel.options.recorders import RecorderOptions
    from simreel.recorders.base import Recorder

__all__ = ["PlannedError", "Source", "Tape"]


class PlannedError(Exception):
    """What a data function raises that was told to fail."""


class Source:
    """The number of the sample that comes next. It knows no scene, so that its data function does not either."""

    def __init__(self, sample: Callable[[int], Any]) -> None:
        self.index = 0
        self.fails_at: int | None = None
        self._sample = sample

    def data_func(self) -> Callable[[], Any]:
        """A function that gives the sample of that number."""

        def sample() -> Any:
            if self.index == self.fails_at:
                raise PlannedError(f"sample {self.index}")
            return self._sample(self.index)

        return sample


class Tape:
    """One recorder on a scene: each state has a number, whatever the step and the episode.

    Args:
        options: of the recorder.
        sample: the data of the state with that number.
        n_envs: worlds.
    """

    def __init__(self, options: RecorderOptions, sample: Callable[[int, int], Any], n_envs: int = 0) -> None:
        # Each step is due, whatever the rate.
        self.scene = Scene(engine=FakeEngine(1 / options.hz if options.hz else 0.01, n_envs))
        self.source = Source(lambda index: sample(index, n_envs))
        self.data_func = self.source.data_func()
        self._may_drop = options.when_full == "drop_oldest"
        if options.reads_scene:
            self.scene.add_channel("sample", self.data_func)
        self.recorder = self.start(options)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Closes after a failed check too, and adds what that raises as a note.
        self.scene.__exit__(kind, error, trace)

    def start(self, options: RecorderOptions) -> Recorder[Any]:
        """Starts one more recorder; one that records the scene itself has the samples as the channel "sample"."""
        return self.scene.start_recording(None if options.reads_scene else self.data_func, options)

    def steps(self, n: int) -> None:
        """Takes n samples, by n steps."""
        for _ in range(n):
            self.scene.step()
            if self._may_drop:
                self.recorder.sync()
            self.source.index += 1

    def reset(self) -> None:
        """Takes the last sample of the episode, by a reset after a step."""
        self.scene.reset()
        self.source.index += 1
