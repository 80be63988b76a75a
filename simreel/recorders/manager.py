"""Drives the recorders of a scene: opens them, samples the due ones, ends episodes, and stops them all."""

from __future__ import annotations

import math
import threading
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from simreel.errors import (
    DuplicateTargetError,
    RecorderError,
    RecorderErrorGroup,
    SimreelError,
    SimreelWarning,
)
from simreel.recorders import exiting
from simreel.recorders.agenda import Agenda
from simreel.recorders.registry import recorder_for
from simreel.recorders.timing import Timing

if TYPE_CHECKING:
    import numpy as np

    from simreel.options.recorders import RecorderOptions
    from simreel.recorders.base import Recorder
    from simreel.recorders.queue import Mark
    from simreel.recorders.sampler import Sampler
    from simreel.recorders.source import Clock
    from simreel.recorders.worlds import WorldIds, WorldSteps

__all__ = ["RecorderManager"]


class RecorderManager:
    """The recorders of one scene.

    Args:
        clock: the scene's step count; a sample belongs to its step.
        refresh: brings what is derived from the state (poses, sensors) up to date, for samples outside a step.
        reads_state: whether a data function reads state and inputs only.
    """

    def __init__(
        self,
        clock: Clock,
        refresh: Callable[[], None],
        reads_state: Callable[[Callable[[], Any]], bool] = lambda _: False,
    ) -> None:
        self.agenda = Agenda()
        self._clock = clock
        self._refresh = refresh
        self._reads_state = reads_state
        self._data_funcs: dict[Recorder[Any], Callable[[], Any]] = {}
        # The list itself is shared with the finalizer, which must not refer to the manager.
        self._recorders: list[Recorder[Any]] = []
        self._samplers: list[Sampler] = []
        self._active: tuple[Sampler, ...] = ()
        self._paused: set[Recorder[Any]] = set()
        self._stopping: dict[Recorder[Any], int] = {}
        self._ending: tuple[int, list[tuple[Recorder[Any], Mark]], deque[Sampler]] | None = None
        self._is_open = False
        finalizer = weakref.finalize(self, _close_forgotten, self._recorders)
        # At exit the scene still lives, and a stop takes the last sample too.
        finalizer.atexit = False
        exiting.register(self)

    @property
    def recorders(self) -> tuple[Recorder[Any], ...]:
        """The recorders that were started and not stopped."""
        return tuple(self._recorders)

    def add(self, data_func: Callable[[], Any], options: RecorderOptions) -> Recorder[Any]:
        """Makes a recorder, and opens it where the scene is built.

        Raises:
            DuplicateTargetError: another recorder of the scene writes that file.
            SimreelError: the recorder cannot write what it was asked to.
        """
        recorder = recorder_for(type(options))(self, options, data_func)
        target = getattr(recorder, "target", None)
        if target is not None and any(target == getattr(other, "target", None) for other in self._recorders):
            raise DuplicateTargetError(target.path)
        recorder.timing = Timing.at(options.hz, self._clock.dt, self._clock.n_envs, recorder.label)
        self._recorders.append(recorder)
        self._data_funcs[recorder] = data_func
        if self._is_open:
            self._open([recorder])
        return recorder

    def open(self) -> None:
        """Opens the recorders that were added before the scene was built, in order.

        Raises:
            SimreelError: one cannot be opened. It is discarded, and those opened before it are closed again.
        """
        self._open(self._recorders)
        self._is_open = True

    def _open(self, recorders: Sequence[Recorder[Any]]) -> None:
        opened: list[Recorder[Any]] = []
        for recorder in tuple(recorders):
            try:
                recorder._open(self._timing(recorder), self._clock.worlds.anew(), self.agenda)
            except BaseException as error:
                for other in opened:
                    other._unopen()
                self._forget([recorder])
                if isinstance(error, SimreelError) or not isinstance(error, Exception):
                    raise
                raise RecorderError(recorder.label, "opening", error) from error
            opened.append(recorder)
        self._samplers += [recorder._sampler(self._data_funcs[recorder], self._reads_state) for recorder in opened]
        self._activate()

    def _timing(self, recorder: Recorder[Any]) -> Timing:
        """What was told at the start, unless building the scene has changed dt or the number of worlds."""
        timing, clock = recorder.timing, self._clock
        if (timing.dt, timing.n_envs) == (clock.dt, clock.n_envs):
            return timing
        if timing.dt == clock.dt:
            return replace(timing, n_envs=clock.n_envs)
        return Timing.at(recorder.options.hz, clock.dt, clock.n_envs, recorder.label)

    sample: Callable[[int], None]
    """Has the due recorders sample, of which there is one, and counts the step.

    An error ends that recorder and waits for `raise_reports`.
    """

    def _sample_due(self, step: int) -> None:
        self._clock.is_sampling = True
        try:
            for sampler in self._active:
                if step % sampler.stride == 0:
                    try:
                        sampler.take(step)
                    except Exception as error:  # noqa: BLE001 - a data function may raise anything
                        self._fail(sampler, step, error)
        finally:
            self._clock.is_sampling = False
        self._clock.step = step + 1
        self._plan(step + 1)
        active = self._active
        if len(active) == 1:
            self.sample = self._sample_only(*active)

    def _sample_only(self, sampler: Sampler) -> Callable[[int], None]:
        """`_sample_due` for a single recorder that has its first sample, without what that needs for several."""
        agenda, clock, stride, take = self.agenda, self._clock, sampler.stride, sampler.take

        def sample(step: int) -> None:
            # First: a data function that starts, stops, pauses or resumes a recorder plans anew.
            agenda.next_step = step + stride
            clock.is_sampling = True
            try:
                take(step)
            except Exception as error:  # noqa: BLE001 - as in _sample_due
                self._fail(sampler, step, error)
            except BaseException:
                # Ctrl-C: the step is not taken, and the next one is this one again.
                self._plan(step)
                raise
            finally:
                clock.is_sampling = False
            clock.step = step + 1
            if agenda.reports:
                agenda.next_step = -1

        return sample

    def room(self, step: int) -> int:
        """How many due samples from that step on may be taken together by `append`; 0: none."""
        if not self._active:
            return 0
        first, *others = self._active
        return min([first.room(step), *(-step % sampler.stride for sampler in others)])

    def rows(self, n: int) -> np.ndarray[Any, Any]:
        """Where the states of so many samples go before `append`, (n, values); no more than there is room for."""
        return self._active[0].rows(n)

    def append(self, step: int, n: int) -> None:
        """Takes the samples of consecutive steps and sets the clock to the last one; errors are handled as in `sample`.

        After Ctrl-C the clock is at the first step that has no sample, or at the last.

        Args:
            step: of the first.
            n: of the `rows`, which hold the states that the steps start from.
        """
        sampler, last = self._active[0], step + n - 1
        try:
            self._clock.step = last
            self._plan(last + 1)
            sampler.append(step, n)
        except Exception as error:  # noqa: BLE001 - as in sample
            self._fail(sampler, step, error)
        except BaseException:
            self._clock.step = max(step, min(sampler.last + 1, last))
            self._plan(self._clock.step)
            raise

    def is_due(self, step: int) -> bool:
        """Whether a recorder samples at that step."""
        return any(step % sampler.stride == 0 for sampler in self._active)

    def end_episode(self, envs_idx: WorldIds | None = None, reason: str = "reset") -> None:
        """Ends the episode of all worlds, after a last sample and with all queues drained, or that of some worlds.

        Args:
            envs_idx: the worlds; None: all.
            reason: what ends it.
        """
        if envs_idx is not None:
            self.tell(lambda sampler: sampler.end_episode(envs_idx, self._clock.step, reason))
            self._post_ends(envs_idx)
            return
        step = self._clock.step
        # What it has may be of a file that ends.
        self.sample = self._sample_due
        if not self._clock.is_fresh:
            # A reset that Ctrl-C has interrupted while it waited is gone on with: the episode ends once.
            if self._ending is None or self._ending[0] != step:
                if self._clock.may_sample:
                    # Not in `stop`, which may come from another thread than that of the steps.
                    self._clock.is_sampling = True
                    try:
                        self._take_last(self._active)
                    finally:
                        self._clock.is_sampling = False
                self._ending = step, self._post_ends(None), deque(self._samplers)
            _, marks, untold = self._ending
            for recorder, mark in marks:
                recorder._wait(mark)
            # After the waits: where nobody goes on with it, the trajectories do not say that it has ended.
            while untold:
                self._tell([untold[0]], lambda sampler: sampler.end_episode(None, step, reason))
                untold.popleft()
            self._ending = None
        self._plan(0)

    def _post_ends(self, envs_idx: WorldIds | None) -> list[tuple[Recorder[Any], Mark]]:
        return [(r, r._end_episode(envs_idx, self._clock.step)) for r in self._recorders if r.is_alive]

    def start_at(self, step: int, start: WorldSteps) -> None:
        """Has the episode that begins now count from another step than 0, after `end_episode`.

        Args:
            step: of the clock.
            start: the step of the clock at which the episode of each world began, (n_envs,) int.
        """
        for recorder in self._recorders:
            recorder.worlds.start[:] = start
        for sampler in self._samplers:
            sampler.start_at(start)
        self._plan(step)

    def tell(self, call: Callable[[Sampler], None]) -> None:
        """Has the samplers hear of what happens between steps."""
        self._tell(self._samplers, call)

    def _tell(self, samplers: Iterable[Sampler], call: Callable[[Sampler], None]) -> None:
        for sampler in samplers:
            if sampler.recorder.is_alive:
                try:
                    call(sampler)
                except Exception as error:  # noqa: BLE001 - as in sample
                    self._fail(sampler, self._clock.step, error)

    def stop(self, recorder: Recorder[Any] | None = None) -> None:
        """Takes the last sample where it is due, writes what is queued and closes, one recorder or all.

        Raises:
            SimreelError: a recorder failed and that was not raised yet; several make a RecorderErrorGroup.
        """
        # A data function may stop its own recorder, and this stop asks it for a last sample: once, not for ever.
        here = threading.get_ident()
        targets = [r for r in self._recorders if (recorder is None or r is recorder) and self._stopping.get(r) != here]
        self._stopping.update(dict.fromkeys(targets, here))
        try:
            self._close(targets)
        finally:
            for target in targets:
                self._stopping.pop(target, None)
        self.raise_reports(recorder)

    def _close(self, recorders: Sequence[Recorder[Any]]) -> None:
        last = [s for s in self._active if s.recorder in recorders]
        try:
            if self._clock.may_sample:
                self._take_last(last)
            ending = [s for s in self._samplers if s.recorder in recorders]
            self._tell(ending, lambda sampler: sampler.end_episode(None, self._clock.step, "stop"))
        finally:
            self._samplers = [s for s in self._samplers if s.recorder not in recorders]
            self._activate()
            for recorder in recorders:
                recorder._post_close()
        for recorder in recorders:
            recorder._wait_closed()
        self._forget(recorders)

    def pause(self, recorder: Recorder[Any]) -> None:
        """Leaves a recorder out of the steps to come."""
        if recorder in self._data_funcs:
            self._paused.add(recorder)
            self._activate()

    def resume(self, recorder: Recorder[Any]) -> None:
        """Has a paused recorder take part again."""
        self._paused.discard(recorder)
        self._activate()

    def raise_reports(self, recorder: Recorder[Any] | None = None) -> None:
        """Raises what ended recorders since it was last asked, once.

        Raises:
            SimreelError: the error of one recorder, or a RecorderErrorGroup.
        """
        reports = self.agenda.take_reports(recorder)
        if not reports:
            return
        self._activate()
        for failed, _ in reports:
            failed._post_close()
        errors = [error for _, error in reports]
        if len(errors) == 1:
            raise errors[0]
        raise RecorderErrorGroup(f"{len(errors)} recorders ended", errors)

    def detach(self) -> None:
        """Lets go of all recorders without touching their files: a forked child must leave them to its parent."""
        for recorder in self._recorders:
            recorder._detach()
        self._recorders.clear()
        self._data_funcs.clear()
        self._samplers.clear()
        self.agenda.take_reports()
        self._activate()

    def _take_last(self, samplers: Sequence[Sampler]) -> None:
        step = self._clock.step
        due = [s for s in samplers if (step % s.stride == 0 or s.takes_last) and not s.took(step)]
        if not due:
            return
        self._refresh()
        for sampler in due:
            try:
                sampler.take(step)
            except Exception as error:  # noqa: BLE001 - as in sample
                self._fail(sampler, step, error)

    def _fail(self, sampler: Sampler, step: int, error: Exception) -> None:
        recorder = sampler.recorder
        if not isinstance(error, SimreelError):
            error = RecorderError(recorder.label, f"taking the sample of step {step}", error)
        else:
            error.add_note(f"{recorder.label}, sample of step {step}")
        recorder._fail(error)
        self.agenda.report(recorder, error)
        self._activate()

    def _forget(self, recorders: Iterable[Recorder[Any]]) -> None:
        for recorder in tuple(recorders):
            # Two threads may stop at once: one that simulates, and the exit.
            if self._data_funcs.pop(recorder, None) is not None:
                self._recorders.remove(recorder)
                self._paused.discard(recorder)

    def _activate(self) -> None:
        active = (s for s in self._samplers if s.recorder.is_alive and s.recorder not in self._paused)
        # Trajectories first: the inputs that a data function sets do not count for the step that it is called in.
        self._active = tuple(sorted(active, key=lambda sampler: not sampler.takes_last))
        # Also for a single one: within a step the plan below may name this step, though the next one is asked for.
        self.sample = self._sample_due
        self._plan(self._clock.step)

    def _plan(self, step: int) -> None:
        """Tells the scene the first step from `step` on at which a recorder is due."""
        self.agenda.reads_state = all(sampler.reads_state for sampler in self._active)
        due = [step + -step % sampler.stride for sampler in self._active]
        self.agenda.plan(min(due, default=math.inf))


def _close_forgotten(recorders: list[Recorder[Any]]) -> None:
    open_ones = [recorder for recorder in recorders if recorder.is_alive]
    # The garbage collector runs on any thread. A worker cannot wait for itself; the exit handler does.
    # By number: asked on a thread that is ending, current_thread() makes a dummy that stays for ever.
    here = threading.get_ident()
    awaited = [recorder._awaits(here) for recorder in recorders]
    # Also those that failed: their workers wait for the end.
    for recorder, is_awaited in zip(recorders, awaited, strict=True):
        recorder._post_close(at_once=not is_awaited)
    if any(awaited):
        exiting.wait_at_exit(recorders)
    else:
        for recorder in recorders:
            recorder._wait_closed()
    if not open_ones:
        return
    names = ", ".join(recorder.label for recorder in open_ones)
    warnings.warn(
        f"a scene was collected while it recorded; closed: {names}. Call stop_recording(), or use the scene in `with`",
        SimreelWarning,
        stacklevel=2,
    )
