"""Many steps without Python in between, and the state at each.

rollout of a batch   worlds x physics steps x values of a world
rows of frames       steps x (field 0 of world 0, 1, ...; field 1 of world 0, 1, ...; ...)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from simreel.scene.engines.callbacks import has_callbacks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mujoco.batch import Batch

    from simreel.scene.engines.model_engine import ModelEngine

__all__ = ["Rollout", "needs_python"]

# Of the states that MuJoCo writes at once: memory is bounded, and they are still in the cache when they are read.
_BYTES = 4 * 2**20


def needs_python(engine: ModelEngine) -> bool:
    """Whether something takes part in a step that no state row has: callbacks, plugins, bodies that sleep."""
    return engine.sleeps or engine.model.nplugin > 0 or has_callbacks()


class Rollout:
    """Steps batches, and writes the states on the way to rows of frames.

    Args:
        engine: whose rows they are.
        substeps: physics steps in one step.
    """

    def __init__(self, engine: ModelEngine, substeps: int) -> None:
        self._parts = engine.state_parts
        self._worlds = max(1, engine.n_envs)
        self._substeps = substeps
        self._buffer = np.empty(0)
        self._columns: dict[int, Sequence[slice]] = {}

    def advance(self, batch: Batch, n: int, rows: np.ndarray[Any, Any]) -> bool:
        """Takes n steps.

        Args:
            batch: of all worlds.
            n: at least 1.
            rows: (n or fewer, values) float64, exact or not by their size; take the states that the first steps leave.

        Returns:
            False where MuJoCo raises or warns on the way, or a step has too many values. Some worlds may have moved.
        """
        width = rows.shape[1] // self._worlds
        most = _BYTES // (8 * width * self._worlds * self._substeps)
        if not most:
            return False
        before = batch.warning.tobytes()
        for start in range(0, n, most):
            states = self._states(batch, min(most, n - start), width)
            if states is None or batch.warning.tobytes() != before:
                return False
            self.spread(states, rows[start : start + states.shape[1]])
        return True

    def _states(self, batch: Batch, n: int, width: int) -> np.ndarray[Any, Any] | None:
        """The states that n steps leave, (worlds, n, width); None where MuJoCo raises."""
        shape = (self._worlds, n * self._substeps, width)
        size = self._worlds * n * self._substeps * width
        if self._buffer.size < size:
            self._buffer = np.empty(size)
        signature = self._parts.signature(width)
        out = {signature: self._buffer[:size].reshape(shape)}
        try:
            batch.rollout(n * self._substeps, record=[signature], out=out)
        except RuntimeError:
            return None
        return out[signature][:, self._substeps - 1 :: self._substeps]

    def spread(self, states: np.ndarray[Any, Any], rows: np.ndarray[Any, Any]) -> None:
        """Writes states to rows.

        Args:
            states: (worlds, n or more, values of a world) float64, exact or as the rows are.
            rows: (n, values) float64.
        """
        n, worlds = len(rows), self._worlds
        width = rows.shape[1] // worlds
        is_alike = states.shape[2] == width
        if worlds == 1 and is_alike:
            rows[:] = states[0, :n]
            return
        stop = 0
        for columns in self._columns_of(width):
            start, stop = stop, stop + columns.stop - columns.start
            fields = rows[:, worlds * start : worlds * stop].reshape(n, worlds, stop - start)
            fields[:] = states[:, :n, slice(start, stop) if is_alike else columns].swapaxes(0, 1)

    def _columns_of(self, width: int) -> Sequence[slice]:
        if width not in self._columns:
            self._columns[width] = self._parts.columns(width)
        return self._columns[width]
