"""The scene that frames are put into."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from simreel.errors import SceneDiffersError, SceneStateError
from simreel.replay.bench import copied_engine, derived_fields
from simreel.replay.parameters import constants_of, options_of
from simreel.replay.rerun import Rerun
from simreel.replay.rows import StateRows
from simreel.replay.user_state import restore_user_state
from simreel.scene.engines.model_engine import ModelEngine

if TYPE_CHECKING:
    from simreel.reel import Field
    from simreel.replay.notes import Notes
    from simreel.replay.parameters import Parameters
    from simreel.replay.recording import Recording
    from simreel.scene import Scene

__all__ = ["Stage"]

Array = np.ndarray[Any, Any]


class Stage:
    """Puts frames into a scene.

    Args:
        recording: the trajectory.
        notes: of it.
        parameters: that changed in it.
        scene: built, and the one that was recorded.
        recorded: what its model had for the parameters that changed; None: what it has.

    Raises:
        SceneDiffersError: its state has other fields.
        NotATrajectoryError: the file tells of parameters that the model has not.
    """

    def __init__(
        self,
        recording: Recording,
        notes: Notes,
        parameters: Parameters,
        scene: Scene,
        recorded: dict[str, Array] | None = None,
    ) -> None:
        self.scene = scene
        self.parameters = parameters
        self.frame = 0
        """The last that was put into the scene."""
        self._recording = recording
        self._notes = notes
        self._rows = StateRows(recording)
        engine = scene.engine
        if found := _state_differences(self._rows.fields, engine.layout(recording.is_exact).fields):
            raise SceneDiffersError(recording.reel.path, found)
        if recorded is None:
            # As long as nobody has changed it.
            recorded = parameters.recorded(engine.model) if isinstance(engine, ModelEngine) else {}
        self._recorded = recorded

    def seek(self, i: int) -> None:
        """As `Trajectory.seek`."""
        recording, scene = self._recording, self.scene
        values = recording.reel.row(i)
        engine = scene.engine
        frame = i + len(recording.reel) if i < 0 else i
        model = engine.model if isinstance(engine, ModelEngine) else None
        # What can be refused is refused before anything is moved.
        parameters = {} if model is None else self.parameters.allowed(model, frame, self._recorded)
        scene._leave("seek")
        if isinstance(engine, ModelEngine) and self.parameters.put(engine.model, parameters):
            engine.model_changed()
        engine.write_state(self._rows.join(values))
        engine.refresh()
        self.frame = frame
        try:
            scene._arrive(values["step"], values["episode"])
        finally:
            # The functions are the user's: they find the scene at the frame, and may raise.
            restore_user_state(scene, self._notes, frame)

    def parameters_at(self, frame: int) -> dict[str, Array]:
        """The parameters that have changed somewhere in the trajectory, as they are at a frame."""
        return {**self._recorded, **dict(self.parameters.at(frame))}

    def options_at(self, frame: int) -> dict[str, Array]:
        """The options of the model at a frame, by name with "opt." before it."""
        engine = self._bench_at(frame)
        return options_of(engine.model)

    def constants(self) -> dict[str, Array]:
        """The arrays of the model that are no parameters which have changed, by name."""
        return {name: value for name, value in constants_of(self._bench.model).items() if name not in self._recorded}

    def derived(self, frame: int) -> dict[str, Array]:
        """What `mj_forward` computes of a frame."""
        return derived_fields(self._bench_at(frame), self._rows.join(self._recording.reel.row(frame)))

    @contextmanager
    def rerun(self) -> Iterator[Rerun]:
        """An engine to run the recording again in; the scene is afterwards as it was before."""
        engine = self.scene.engine
        if isinstance(engine, ModelEngine):
            copied = copied_engine(engine)
            yield Rerun(copied, self._rows, self._recording.n_envs, lambda frame: self._set(copied, frame))
            return
        kept = np.empty((*((engine.n_envs,) if engine.n_envs else ()), self._rows.width))
        engine.read_state(kept)
        try:
            yield Rerun(engine, self._rows, self._recording.n_envs, lambda _: None)
        finally:
            engine.write_state(kept)

    def _set(self, engine: ModelEngine, frame: int) -> None:
        values = self.parameters.allowed(engine.model, frame, self._recorded)
        if self.parameters.put(engine.model, values):
            engine.model_changed()

    def _bench_at(self, frame: int) -> ModelEngine:
        engine = self._bench
        self._set(engine, frame)
        return engine

    @cached_property
    def _bench(self) -> ModelEngine:
        """For frames that are looked at."""
        engine = self.scene.engine
        if not isinstance(engine, ModelEngine):
            raise SceneStateError("traj.frame()", f"a {type(engine).__name__} has no model to compute that with")
        return copied_engine(engine)


def _state_differences(recorded: Sequence[Field], here: Sequence[Field]) -> list[str]:
    """How the fields of two states differ, in words."""
    texts = [[f"{field.name} ({field.width}, {field.kind})" for field in fields] for fields in (recorded, here)]
    if texts[0] == texts[1]:
        return []
    return [f"state: {', '.join(texts[0]) or 'nothing'} recorded, {', '.join(texts[1]) or 'nothing'} here"]
