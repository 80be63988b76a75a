"""An engine that runs a recording again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from simreel.scene.engines.model_engine import ModelEngine
from simreel.scene.engines.mujoco_engine import MuJoCoEngine

if TYPE_CHECKING:
    from collections.abc import Callable

    from simreel.replay.rows import StateRows
    from simreel.scene.engines.protocol import Engine

__all__ = ["Rerun"]

Array = np.ndarray[Any, Any]


class Rerun:
    """Takes states and inputs as they stand in a file, and steps.

    Args:
        engine: that may be moved about at will.
        rows: how its states stand in the file.
        n_envs: worlds; 0 without worlds.
        set_parameters: gives the engine's model those of a frame.
    """

    def __init__(self, engine: Engine, rows: StateRows, n_envs: int, set_parameters: Callable[[int], None]) -> None:
        self._engine = engine
        self._n_envs = n_envs
        self.set_parameters = set_parameters
        self.step = engine.step
        self.feed = _feeding(engine, rows)

    def put(self, state: Array, worlds: Array) -> None:
        """Sets the whole state of some worlds.

        Args:
            state: (worlds, width).
            worlds: which, (worlds,) bool.
        """
        self._engine.write_state(state if self._n_envs else state[0], np.flatnonzero(worlds) if self._n_envs else None)

    def read(self, out: Array) -> None:
        """Writes the states that stand to `out`, (worlds, width)."""
        self._engine.read_state(out if self._n_envs else out[0])


def _feeding(engine: Engine, rows: StateRows) -> Callable[[Array], None]:
    """A function that sets the inputs of all worlds, (worlds, inputs), and leaves the rest of the state alone."""
    names = [field.name for field in rows.fields if field.kind == "input"]
    if isinstance(engine, MuJoCoEngine):
        model, data = engine.model, engine.data
        signature = sum(int(mujoco.mjtState.__members__[f"mjSTATE_{name.upper()}"]) for name in names)
        return lambda inputs: mujoco.mj_setState(model, data, inputs[0], signature)
    if isinstance(engine, ModelEngine):
        # Not at the top: mujoco.batch compiles a model when it is imported.
        from simreel.scene.engines.mujoco_batch import MuJoCoBatchEngine

        assert isinstance(engine, MuJoCoBatchEngine)
        state, columns = engine.batch.state, np.flatnonzero(rows.mask("input"))

        def feed(inputs: Array) -> None:
            state[:, columns] = inputs

        return feed
    return lambda _: None
