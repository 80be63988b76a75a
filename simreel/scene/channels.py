"""What of a scene its trajectories hold beside the state: channels, the user's own state, parameters that change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from simreel.errors import FieldError, OptionsError, SceneStateError
from simreel.recorders.source import Channel
from simreel.scene.loop import StepLoop
from simreel.scene.user_state import UserStates

if TYPE_CHECKING:
    import mujoco

    from simreel.scene.engines.protocol import Engine

__all__ = ["Channels"]


class Channels(StepLoop):
    """The calls of a scene that add to its trajectories."""

    def __init__(self, dt: float, engine: Engine | None) -> None:
        super().__init__(dt, engine)
        self._channels: dict[str, Channel] = {}
        self._user_states = UserStates()

    def add_channel(
        self, name: str, func: Callable[[], Any], *, unit: str = "", columns: Sequence[str] | None = None
    ) -> None:
        """Records what `func` returns with each frame of the trajectories that start from now on.

        Args:
            name: of the channel.
            func: called on the stepping thread; returns a number or an array. The first value fixes shape and dtype.
            unit: of its values.
            columns: a name for each of its values.

        Raises:
            OptionsError: the arguments are not what is needed, or another channel has that name.
            SceneStateError: a trajectory is being recorded.
        """
        self._check_alive("scene.add_channel()")
        if not name or not isinstance(name, str):
            raise OptionsError("add_channel", [f"name = {name!r}: a text is needed"])
        if name in self._channels:
            raise OptionsError("add_channel", [f"name = {name!r}: another channel has that name"])
        if not callable(func):
            raise OptionsError("add_channel", [f"func = {func!r}: a function without arguments is needed"])
        if columns is not None and (isinstance(columns, str) or not all(isinstance(each, str) for each in columns)):
            raise OptionsError("add_channel", [f"columns = {columns!r}: a name for each value is needed"])
        for recorder in self._manager.recorders:
            if recorder.options.reads_scene and recorder.is_alive and recorder.status.received:
                raise SceneStateError("scene.add_channel()", f"{recorder.label} is being recorded; add channels before")
        self._channels[name] = Channel(name, func, unit, tuple(columns or ()))

    def add_state(self, name: str, get: Callable[[], Any], set: Callable[[Any], object]) -> None:
        """Records state of your own, such as a controller's: with checkpoints, and every `chunk_size` frames of a run.

        Args:
            name: of the state.
            get: returns JSON values, arrays, or dicts of these.
            set: takes what `get` returned; tuples come back as lists.

        Raises:
            OptionsError: the arguments are not what is needed, or another state has that name.
        """
        self._user_states.add(name, get, set)

    @contextmanager
    def edit_model(self) -> Iterator[mujoco.MjModel]:
        """Gives the model to change: `with scene.edit_model() as model: model.body_mass[1] = 2.0`.

        Trajectories hold what has changed, from the next frame on. With worlds it changes for all of them.

        Raises:
            SceneStateError: the scene is not built, has no MuJoCo model, or its worlds have parameters of their own.
            FieldError: the timestep was changed; it is put back.
        """
        engine = self._mujoco_built("scene.edit_model()")
        model, timestep = engine.model, engine.model.opt.timestep
        self._manager.tell(lambda sampler: sampler.parameters_change())
        try:
            yield model
            if model.opt.timestep != timestep:
                raise FieldError("opt.timestep", f"{model.opt.timestep} s", f"a built scene keeps its {timestep} s")
        finally:
            model.opt.timestep = timestep
            engine.model_changed()
            if not self._clock.unstable:
                self._allow_steps()
            self._manager.tell(lambda sampler: sampler.parameters_changed())
        self._manager.raise_reports()
