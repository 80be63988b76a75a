"""The scene as its recorders see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simreel.errors import SceneStateError
from simreel.scene.engines.contacts import read_contacts
from simreel.scene.engines.function_engine import FunctionEngine
from simreel.scene.engines.model_engine import ModelEngine
from simreel.scene.engines.mujoco_engine import MuJoCoEngine
from simreel.scene.engines.protocol import Engine
from simreel.scene.watch import ModelWatch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np

    from simreel.recorders.source import Channel, ParameterWatch
    from simreel.reel import Layout
    from simreel.scene.scene import Scene

__all__ = ["SceneSource"]


class SceneSource:
    """Implements `simreel.recorders.source.StateSource`.

    Args:
        scene: whose state is recorded.

    Raises:
        SceneStateError: its engine gives no state.
    """

    def __init__(self, scene: Scene) -> None:
        engine = scene._engine
        if isinstance(engine, FunctionEngine) and not engine.has_state:
            engine.layout()
        if engine is not None and not isinstance(engine, Engine):
            needed = "layout, read_state and write_state of simreel.scene.Engine are needed"
            raise SceneStateError("TrajectoryFile", f"the {type(engine).__name__} gives no state to record: {needed}")
        self._scene = scene

    @property
    def _engine(self) -> Engine:
        return self._scene.engine

    def layout(self, exact: bool) -> Layout:
        """As `StateSource.layout`."""
        return self._engine.layout(exact)

    def reader(self) -> Callable[[np.ndarray[Any, Any]], None]:
        """As `StateSource.reader`."""
        return self._engine.read_state

    def channels(self) -> list[Channel]:
        """As `StateSource.channels`."""
        return list(self._scene._channels.values())

    def describe(self, embed: str) -> tuple[dict[str, Any], dict[str, bytes]]:
        """As `StateSource.describe`."""
        from simreel.scene.description import describe_scene

        return describe_scene(self._scene, embed)  # type: ignore[arg-type] # checked by the options

    def contacts(self) -> Mapping[str, np.ndarray[Any, Any]]:
        """As `StateSource.contacts`."""
        engine = self._engine
        if not isinstance(engine, MuJoCoEngine):
            raise SceneStateError("TrajectoryFile(contacts=True)", f"a {type(engine).__name__} has no contacts")
        return read_contacts(engine.model, engine.data)

    def unstable(self) -> set[int]:
        """As `StateSource.unstable`."""
        return self._scene._clock.unstable

    def watch(self) -> ParameterWatch | None:
        """As `StateSource.watch`."""
        engine = self._engine
        return ModelWatch(engine.model) if isinstance(engine, ModelEngine) else None

    def user_state(self) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
        """As `StateSource.user_state`."""
        return self._scene._user_states.read()
