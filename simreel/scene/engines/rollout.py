"""Many steps of one world without Python in between, and the state at each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simreel.scene.engines.state_parts import INTEGRATION

if TYPE_CHECKING:
    import mujoco
    import numpy as np
    from mujoco.batch import Batch

__all__ = ["Rollout"]


class Rollout:
    """Runs a model ahead of its data, in a batch of one world, which is exact where the state is all that counts.

    Args:
        model: that is read at each call, in place.
        substeps: physics steps in one step.
    """

    def __init__(self, model: mujoco.MjModel, substeps: int) -> None:
        self._model = model
        self._substeps = substeps
        self._batch: Batch | None = None

    def states(self, state: np.ndarray[Any, Any], rows: np.ndarray[Any, Any]) -> bool:
        """Fills `rows` with the states that as many steps start from, the first of which is given.

        Args:
            state: (values,) the integration state.
            rows: (n, values), at least 2.

        Returns:
            False where MuJoCo refuses to run without Python, or warns of something on the way.
        """
        try:
            batch = self._ready_batch()
            batch.state[0] = state
            before = batch.warning.tobytes()
            states = batch.rollout((len(rows) - 1) * self._substeps, record=[INTEGRATION])[INTEGRATION]
        except (ValueError, RuntimeError):
            # A callback in Python; or what will be raised again at its own step.
            return False
        if batch.warning.tobytes() != before:
            return False
        rows[0] = state
        rows[1:] = states[0, self._substeps - 1 :: self._substeps]
        return True

    def _ready_batch(self) -> Batch:
        from mujoco.batch import Batch

        if self._batch is None:
            self._batch = Batch(self._model, 1, nthread=1)
        # The model itself; it is to be told anew after each change.
        self._batch.set_models(self._model)
        return self._batch
