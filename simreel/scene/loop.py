"""Steps and resets: the clock, the engine, and when the recorders of a scene sample."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from simreel.errors import SceneStateError, SimreelError, UnstableError
from simreel.recorders.manager import RecorderManager
from simreel.scene.clock import Clock
from simreel.scene.engines.function_engine import FunctionEngine
from simreel.scene.engines.keyframes import keyframe_id
from simreel.scene.engines.model_engine import ModelEngine
from simreel.scene.engines.protocol import BlockEngine, SplitEngine
from simreel.scene.ids import count, world_ids
from simreel.scene.progress import Progress, Ticker

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from simreel.recorders.worlds import WorldIds, WorldSteps
    from simreel.scene.engines.protocol import Engine

__all__ = ["StepLoop"]

# Of native steps at once [s]: Ctrl-C, the viewer and progress wait for so long.
_BLOCK_TIME = 0.02
# Steps of the first block, whose time is not known.
_FIRST_PACE = 8


class StepLoop:
    """What of a scene takes steps.

    A sample belongs to step k, at time `k * dt`, with the state that step k starts from and the inputs it will consume.
    `step()` first lets the due recorders sample, then advances.
    """

    def __init__(self, dt: float, engine: Engine | None) -> None:
        self._engine = engine
        self._clock = Clock(dt)
        self._manager = RecorderManager(self._clock, self._refresh_engine, self._reads_state)
        self._agenda = self._manager.agenda
        self._tickers: list[Ticker] = []
        self._block_engine: BlockEngine | None = None
        self._pace = _FIRST_PACE
        """Steps that are taken natively at once, at most."""
        self._is_built = False
        self._is_destroyed = False
        self._advance: Callable[[], None]
        self._sampled_step: Callable[[Callable[[int], None], int], None]
        self._state_step: Callable[[Callable[[int], None], int], None]
        self._refuse_steps(SceneStateError("scene.step()", "the scene is not built: call scene.build() first"))

    def step(self, n: int = 1) -> None:
        """Lets the due recorders sample, then advances, n times.

        Raises:
            UnstableError: the simulation has NaN or huge values; `reset` goes on.
            SimreelError: a recorder failed. The step was taken and the others sampled.
        """
        if n != 1:
            self._step_many(count("step", "n", n))
            return
        clock, agenda = self._clock, self._agenda
        step = clock.step
        if clock.is_sampling:
            self._refuse_within("scene.step()")
        try:
            # A report that waits says nothing of whether somebody samples.
            if step >= agenda.next_step and (agenda.next_step >= 0 or self._manager.is_due(step)):
                (self._state_step if agenda.reads_state else self._sampled_step)(self._manager.sample, step)
            else:
                # Before the engine moves, as `sample` does: Ctrl-C comes when MuJoCo returns, with the step taken.
                clock.step = step + 1
                self._advance()
        except UnstableError as error:
            self._stop_at(step, error)
        except Exception:
            clock.step = step
            raise
        if agenda.reports:
            self._manager.raise_reports()
        if self._tickers:
            self._tick()

    def _step_many(self, n: int) -> None:
        engine = self._block_engine
        while n:
            taken = self._step_block(engine, n) if engine is not None else 0
            if taken is None:
                # What came in the way comes again; the next call tries anew.
                engine = None
            elif taken:
                n -= taken
                continue
            self.step()
            n -= 1

    def _step_block(self, engine: BlockEngine, most: int) -> int | None:
        """Takes up to so many steps natively, with the due samples.

        Returns:
            How many; 0: the next is to be taken by itself; None: the engine refuses.
        """
        clock, step = self._clock, self._clock.step
        start = time.perf_counter()
        ahead = self._agenda.next_step - step
        n = int(min(most, self._pace, ahead or self._manager.room(step)))
        if n < 2:
            return 0
        rows = None if ahead else self._manager.rows(n)
        mark = engine.mark()
        if mark is None:
            return None
        # What comes in the way may do so at each call: the next tries do not cost much.
        self._pace = 2
        try:
            if not (engine.skip(n) if rows is None else engine.run(mark, rows)):
                engine.rewind(mark, 0)
                return None
            if rows is not None:
                self._manager.append(step, n)
            clock.step = step + n
        except BaseException:
            # Ctrl-C: to the first step that has no sample.
            engine.rewind(mark, clock.step - step)
            engine.refresh()
            raise
        self._pace = max(2, round(n * min(8.0, _BLOCK_TIME / (time.perf_counter() - start))))
        if self._agenda.reports:
            self._manager.raise_reports()
        self._tick()
        return n

    def _stop_at(self, step: int, error: UnstableError) -> NoReturn:
        clock = self._clock
        if clock.unstable:
            # Refused. Some that were unstable may have been reset.
            clock.step = step
            left = tuple(sorted(clock.unstable)) if clock.n_envs else ()
            raise UnstableError(error.reason, error.step, left) from None
        # Other worlds have taken the step.
        clock.step = step + 1 if error.worlds else step
        unstable = UnstableError(error.reason, step, error.worlds)
        clock.fail(error.worlds)
        self._refuse_steps(unstable)
        raise unstable from None

    def _tick(self) -> None:
        for ticker in self._tickers:
            ticker.tick()

    def _allow_steps(self) -> None:
        engine = self._engine
        assert engine is not None
        self._advance = engine.step
        self._block_engine = engine if isinstance(engine, BlockEngine) else None
        if isinstance(engine, SplitEngine):
            self._sampled_step, self._state_step = engine.sampled_step, engine.state_step
        else:
            self._sampled_step = self._state_step = _sample_and_step(engine)

    def _refuse_steps(self, error: SimreelError) -> None:
        def refuse(*_: object) -> None:
            raise error

        self._advance = self._sampled_step = self._state_step = refuse
        self._block_engine = None

    def reset(self, envs_idx: ArrayLike | None = None, keyframe: int | str | None = None) -> None:
        """Ends the episode and returns to the built state, or to a keyframe.

        Args:
            envs_idx: the worlds to reset, by number or as a mask, (k,) int or (n_envs,) bool; the others run on, and no
                sample is taken. None: all worlds, after a last sample where it is due; the clock starts from 0.
            keyframe: its name or number.

        Raises:
            UnknownNameError: the model has no such keyframe.
            FieldError: there is no such world.
            SimreelError: a recorder failed; the scene was reset.
        """
        engine = self._built_engine("scene.reset()")
        if envs_idx is None:
            self._refuse_within("scene.reset()")
        if keyframe is not None:
            if not isinstance(engine, ModelEngine):
                raise SceneStateError(f"scene.reset(keyframe={keyframe!r})", "only MuJoCo models have keyframes")
            keyframe = keyframe_id(engine.model, keyframe)
        if isinstance(engine, FunctionEngine):
            engine.check_reset()
        ids = self._end_episode("scene.reset", envs_idx)
        if isinstance(engine, ModelEngine):
            engine.reset(ids, keyframe)
        else:
            engine.reset(ids)
        if not self._clock.unstable:
            self._allow_steps()
        self._manager.raise_reports()

    def _end_episode(self, call: str, envs_idx: ArrayLike | None) -> WorldIds | None:
        ids = None if envs_idx is None else np.unique(world_ids(call, envs_idx, self._clock.n_envs))
        self._manager.end_episode(ids)
        self._clock.reset(ids)
        return ids

    def _leave(self, reason: str) -> None:
        """Ends the episode before somebody puts another state in the place of the one that stands; then `_arrive`."""
        self._manager.end_episode(reason=reason)
        self._clock.reset()

    def _arrive(self, steps: WorldSteps, episodes: WorldSteps) -> None:
        """Starts an episode at the state that was put there.

        Args:
            steps: its step; with worlds that of each, (n_envs,) int64, else (1,).
            episodes: which episode each world is in, of the same shape.

        Raises:
            SimreelError: a recorder failed; the scene is there.
        """
        clock = self._clock
        clock.start_at(steps)
        if clock.n_envs:
            clock.worlds.episode[:] = episodes
        self._manager.start_at(clock.step, clock.worlds.start)
        self._allow_steps()
        self._manager.raise_reports()

    def refresh(self) -> None:
        """Brings poses and sensors up to date with the state, which a step leaves one step behind."""
        self._built_engine("scene.refresh()").refresh()

    def sample(self) -> None:
        """Takes the due samples of the state that stands, then counts one step that somebody else is about to take.

        For a loop of your own: call it before each of your steps. Poses and sensors are brought up to date first, which
        leaves the run as it is.

        Raises:
            SimreelError: a recorder failed. The others sampled, and the step is counted.
        """
        engine, clock = self._built_engine("scene.sample()"), self._clock
        self._refuse_within("scene.sample()")
        if clock.unstable:
            self.step()  # Says so.
        if self._manager.is_due(clock.step):
            engine.refresh()
            self._manager.sample(clock.step)
        else:
            clock.step += 1
        self._manager.raise_reports()
        self._tick()

    def mark_reset(self, envs_idx: ArrayLike | None = None) -> None:
        """Ends the episode where somebody else resets, and touches no state.

        Args:
            envs_idx: the worlds that are being reset, by number or as a mask; nothing is sampled. None: all worlds;
                call it before that reset: the state that stands is sampled if due, and the clock starts from 0.

        Raises:
            FieldError: there is no such world.
            SimreelError: a recorder failed; the episode was ended.
        """
        engine, was_unstable = self._built_engine("scene.mark_reset()"), bool(self._clock.unstable)
        if envs_idx is None:
            self._refuse_within("scene.mark_reset()")
        ids = self._end_episode("scene.mark_reset", envs_idx)
        if was_unstable:
            if isinstance(engine, ModelEngine):
                engine.forgive(ids)
            if not self._clock.unstable:
                self._allow_steps()
        self._manager.raise_reports()

    def on_progress(self, callback: Callable[[Progress], None]) -> None:
        """Calls `callback` with a Progress after a step, at most twice a second of wall time."""

        def call() -> None:
            clock = self._clock
            statuses = tuple((recorder.label, recorder.status) for recorder in self._manager.recorders)
            callback(Progress(clock.step, clock.step * clock.dt, statuses))

        self._tickers.append(Ticker(call))

    def _refuse_within(self, call: str) -> None:
        if self._clock.is_sampling:
            raise SceneStateError(call, "a data function called it: the sample of this step is being taken")

    def _check_alive(self, call: str) -> None:
        if self._is_destroyed:
            raise SceneStateError(call, "the scene was destroyed")

    def _any_engine(self, call: str) -> Engine:
        self._check_alive(call)
        if self._engine is None:
            raise SceneStateError(call, "the scene is not built: call scene.build() first")
        return self._engine

    def _built_engine(self, call: str) -> Engine:
        engine = self._any_engine(call)
        if not self._is_built:
            raise SceneStateError(call, "the scene is not built: call scene.build() first")
        return engine

    def _mujoco_built(self, call: str) -> ModelEngine:
        self._built_engine(call)
        return self._mujoco(call)

    def _mujoco(self, call: str) -> ModelEngine:
        engine = self._any_engine(call)
        if not isinstance(engine, ModelEngine):
            raise SceneStateError(call, f"the engine is a {type(engine).__name__}, not MuJoCo")
        return engine

    def _reads_state(self, data_func: Callable[[], Any]) -> bool:
        """Whether a data function needs nothing that the engine derives from state and inputs."""
        del data_func
        return False

    def _refresh_engine(self) -> None:
        if self._engine is not None:
            self._engine.refresh()


def _sample_and_step(engine: Engine) -> Callable[[Callable[[int], None], int], None]:
    """`sampled_step` and `state_step` for an engine that has none."""

    def sampled_step(sample: Callable[[int], None], step: int) -> None:
        engine.refresh()
        sample(step)
        engine.step()

    return sampled_step
