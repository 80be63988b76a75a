"""Runs a recording again, from its inputs, and compares each state to the bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from simreel.errors import NotExactError, UnstableError
from simreel.reel.chunk_table import merge_spans
from simreel.replay.recording import refusal
from simreel.replay.report import VerifyReport
from simreel.replay.rows import StateRows
from simreel.replay.runs import Block, read_blocks

if TYPE_CHECKING:
    from simreel.reel.side import Side
    from simreel.replay.notes import Notes
    from simreel.replay.recording import Recording
    from simreel.replay.rerun import Rerun
    from simreel.replay.stage import Stage

__all__ = ["verify"]

Array = np.ndarray[Any, Any]


def verify(
    recording: Recording, notes: Notes, stage: Stage, on_progress: Callable[[int, int], None] | None
) -> VerifyReport:
    """As `Trajectory.verify` says.

    Args:
        recording: the trajectory.
        notes: of it.
        stage: the scene.
        on_progress: called with the frames that are done, and all.

    Raises:
        NotExactError: the recording is compact, or does not hold every step.
    """
    path = recording.reel.path
    if not recording.is_exact:
        raise NotExactError(path, "it is compact, without the solver's warm start", "Record with exact=True.")
    if recording.stride != 1:
        reason = f"it holds one of {recording.stride} steps, and not the inputs of the others"
        raise NotExactError(path, reason, "Record each step, without hz.")
    with stage.rerun() as rerun:
        return _Verification(recording, notes, stage, rerun).run(on_progress)


class _Verification:
    """Goes through the frames once; memory does not grow with them."""

    def __init__(self, recording: Recording, notes: Notes, stage: Stage, rerun: Rerun) -> None:
        self._recording = recording
        self._notes = notes
        self._parameters = stage.parameters
        self._rerun = rerun
        self._rows = StateRows(recording)
        self._worlds = max(1, recording.n_envs)
        self._outcome = ~self._rows.mask("input")
        self._changes = stage.parameters.changes()
        self._ends = set(notes.frames("world_end"))
        self._ended_otherwise: list[VerifyReport] = []
        self._steps = 0
        self._unchecked: list[tuple[int, int]] = []
        # With a model that sleeps: the worlds that have run from the begin of an episode on.
        self._sure = np.ones(self._worlds, bool)

    def run(self, on_progress: Callable[[int, int], None] | None) -> VerifyReport:
        total = len(self._recording.reel)
        for block in read_blocks(self._recording, self._notes, self._parameters):
            states = self._rows.join(block.rows).reshape(len(block.rows), self._worlds, self._rows.width)
            reached, compared = self._run_again(block, states)
            differences = [*self._ended_otherwise, *self._compare(block, states, reached, compared)]
            if differences:
                return min(differences, key=lambda report: report.first_step or 0)
            if on_progress is not None:
                on_progress(block.first + len(states), total)
        unchecked = merge_spans([*self._unchecked, *self._recording.reel.gaps])
        return VerifyReport(True, self._steps, unchecked=tuple(unchecked))

    def _run_again(self, block: Block, states: Array) -> tuple[Array, Array]:
        """The states that the steps of a block end in, and which of them, (n, worlds), can be held against the file."""
        rerun, sleeps = self._rerun, self._recording.sleeps
        inputs = np.ascontiguousarray(states[..., ~self._outcome])
        reached = states.copy()
        goes_on = block.follows & block.known
        compared = np.zeros_like(goes_on)
        for k, state in enumerate(states):
            frame, starts = block.first + k, ~goes_on[k]
            if not starts.all() or frame in self._ends:
                # What is unstable ends in a state that is none of the file's.
                with suppress(UnstableError):
                    rerun.step()
                rerun.read(reached[k])
                if frame in self._ends:
                    self._check_ends(frame, reached[k])
            if starts.any():
                rerun.put(state, starts)
                self._sure[starts] = not sleeps or (block.rows["step"][k] == 0)[starts]
            compared[k] = goes_on[k] & self._sure
            if (block.follows[k] & ~compared[k]).any() or not block.known[k].all():
                self._leave_out(frame)
            rerun.feed(inputs[k])
            # The first of a block may stand behind lost frames, in which they changed.
            if k == 0 or frame in self._changes:
                rerun.set_parameters(frame)
        return reached, compared

    def _compare(self, block: Block, states: Array, reached: Array, compared: Array) -> Iterator[VerifyReport]:
        """The first difference of a block."""
        differs = (states.view(np.uint64) != reached.view(np.uint64)) & self._outcome & compared[..., None]
        if differs.any():
            k = int(np.argmax(differs.any(axis=(1, 2))))
            self._steps += int(compared[: k + 1].any(axis=1).sum())
            yield self._report(block.first + k, differs[k], states[k], reached[k])
        else:
            self._steps += int(compared.any(axis=1).sum())

    def _check_ends(self, frame: int, reached: Array) -> None:
        """Compares the last states of worlds that were reset before a frame, which stand in no frame."""
        if any("worlds" not in note.value for note in self._notes.at("segment", frame)):
            # The step before was not the one that ended their episodes.
            return
        for note in self._notes.at("world_end", frame):
            worlds, ends = self._ends_of(note)
            known = self._sure[worlds] & ~np.isin(worlds, note.value.get("unstable", []))
            differs = np.zeros(reached.shape, bool)
            differs[worlds] = (ends.view(np.uint64) != reached[worlds].view(np.uint64)) & self._outcome
            differs[worlds[~known]] = False
            if differs.any():
                states = reached.copy()
                states[worlds] = ends
                self._ended_otherwise.append(self._report(frame, differs, states, reached))

    def _ends_of(self, note: Side) -> tuple[Array, Array]:
        """Worlds that were reset, (k,), and their last states, (k, width)."""
        listed, rows = note.value.get("worlds"), self._rows
        worlds = np.array(
            [world for world in range(self._worlds) if isinstance(listed, list) and world in listed], np.intp
        )
        parts = [note.arrays.get(name, np.empty((0, 0))) for name in rows.columns]
        shapes = [(len(worlds), columns.stop - columns.start) for columns in rows.columns.values()]
        if [part.shape for part in parts] != shapes:
            raise refusal(self._recording.reel, f"the last states before frame {note.frame} do not fit")
        return worlds, np.concatenate(parts, axis=1, dtype=np.float64)

    def _report(self, frame: int, differs: Array, states: Array, reached: Array) -> VerifyReport:
        """What to say of a frame: which values of its worlds differ, (worlds, width) bool, and the two of each."""
        field = next(name for name, part in self._rows.split(differs).items() if part.any())
        columns, worlds = self._rows.columns[field], np.flatnonzero(differs.any(axis=1))
        with np.errstate(invalid="ignore", over="ignore"):
            largest = float(np.abs(states[worlds, columns] - reached[worlds, columns]).max())
        named = tuple(worlds.tolist()) if self._recording.n_envs else ()
        return VerifyReport(False, self._steps, frame, field, largest, named, tuple(merge_spans(self._unchecked)))

    def _leave_out(self, frame: int) -> None:
        """Notes a frame that cannot be compared; those that stand together are kept as one span."""
        first, stop = self._unchecked.pop() if self._unchecked else (frame, frame)
        if stop == frame:
            self._unchecked.append((first, frame + 1))
        else:
            self._unchecked += [(first, stop), (frame, frame + 1)]
