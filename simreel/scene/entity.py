"""An entity of a built scene: its part of the state, the inputs and the sensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from simreel.errors import FieldError, SceneStateError, UnknownNameError
from simreel.scene.ids import world_ids

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from simreel.options.morphs import Morph
    from simreel.recorders.worlds import WorldIds
    from simreel.scene.compile import EntityIndex, Ids
    from simreel.scene.engines.model_engine import ModelEngine

__all__ = ["Entity"]

Array = np.ndarray[Any, np.dtype[np.float64]]


class _Unbuilt:
    """Stands for what an entity has from `build` on."""

    def __getattr__(self, name: str) -> NoReturn:
        raise SceneStateError("entity", "the scene is not built: call scene.build() first")

    def __getitem__(self, key: object) -> NoReturn:
        raise SceneStateError("entity", "the scene is not built: call scene.build() first")


_UNBUILT: Any = _Unbuilt()


class Entity:
    """What `scene.add_entity` returns. Angles in rad, lengths in m, quaternions (w, x, y, z).

    Getters return copies; with worlds all arrays have a leading axis, (n_envs, ...).
    Setters change the state that the next step starts from. What is derived from it (poses, sensors) follows at that
    step or at `scene.refresh()`.
    """

    def __init__(self, name: str, morph: Morph) -> None:
        self.name = name
        self.morph = morph
        self._index: EntityIndex = _UNBUILT
        self._engine = self._qpos = self._qvel = self._ctrl = self._note_set = _UNBUILT

    def _bind(self, engine: ModelEngine, note_set: Callable[[str, WorldIds | None], None]) -> None:
        """Takes live views of the engine's arrays: they stay the same memory for the life of the engine.

        Args:
            engine: that simulates it.
            note_set: hears which setter has set the state, of which worlds.
        """
        self._engine = engine
        self._note_set = note_set
        self._qpos = _View(engine, "qpos", self._index.qpos)
        self._qvel = _View(engine, "qvel", self._index.qvel)
        self._ctrl = _View(engine, "ctrl", self._index.ctrl)

    def get_qpos(self) -> Array:
        """Positions of its joints, (nq,) float64 [m, rad, unit quaternions]."""
        return self._qpos.get()  # type: ignore[no-any-return]

    def get_qvel(self) -> Array:
        """Velocities of its joints, (nv,) float64 [m/s, rad/s]."""
        return self._qvel.get()  # type: ignore[no-any-return]

    def get_ctrl(self) -> Array:
        """Controls of its actuators, (nu,) float64."""
        return self._ctrl.get()  # type: ignore[no-any-return]

    def get_pos(self) -> Array:
        """Position of its base body in world axes, (3,) float64 [m]."""
        return self._engine.array("xpos")[..., self._index.base_body, :].copy()  # type: ignore[no-any-return]

    def get_quat(self) -> Array:
        """Orientation of its base body in world axes, (4,) float64 (w, x, y, z)."""
        return self._engine.array("xquat")[..., self._index.base_body, :].copy()  # type: ignore[no-any-return]

    def set_qpos(self, qpos: ArrayLike, envs_idx: ArrayLike | None = None) -> None:
        """Sets the positions of its joints, (nq,); qvel stays as it is.

        Raises:
            FieldError: another shape.
        """
        self._note_set("set_qpos", self._qpos.set(f"{self.name}.set_qpos", qpos, envs_idx))

    def set_qvel(self, qvel: ArrayLike, envs_idx: ArrayLike | None = None) -> None:
        """Sets the velocities of its joints, (nv,).

        Raises:
            FieldError: another shape.
        """
        self._note_set("set_qvel", self._qvel.set(f"{self.name}.set_qvel", qvel, envs_idx))

    def set_ctrl(self, ctrl: ArrayLike, envs_idx: ArrayLike | None = None) -> None:
        """Sets the controls of its actuators, (nu,).

        Raises:
            FieldError: another shape.
        """
        self._ctrl.set(f"{self.name}.set_ctrl", ctrl, envs_idx)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of its joints in the scene's model."""
        return self._names("joint", self._index.joint_ids)

    @property
    def actuator_names(self) -> tuple[str, ...]:
        """Names of its actuators in the scene's model."""
        return self._names("actuator", self._index.actuator_ids)

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of its bodies in the scene's model."""
        return self._names("body", self._index.body_ids)

    def sensor(self, name: str) -> Array:
        """The values of one of its sensors, (k,) float64; the name with or without the entity's prefix.

        Raises:
            UnknownNameError: it has no such sensor.
        """
        names = self._names("sensor", self._index.sensor_ids)
        full = name if name in names else self._index.prefix + name
        if full not in names:
            raise UnknownNameError(f"sensor of {self.name}", name, names)
        i = self._index.sensor_ids[names.index(full)]
        model, data = self._engine.model, self._engine.array("sensordata")
        start = model.sensor_adr[i]
        return data[..., start : start + model.sensor_dim[i]].copy()  # type: ignore[no-any-return]

    def _names(self, kind: str, ids: Ids) -> tuple[str, ...]:
        return tuple(getattr(self._engine.model, kind)(int(i)).name for i in ids)

    def __repr__(self) -> str:
        return f"<Entity {self.name}: {type(self.morph).__name__}>"


class _View:
    """Some columns of a live array."""

    __slots__ = ("_array", "_columns", "_n_envs", "get")

    def __init__(self, engine: ModelEngine, field: str, columns: slice | np.ndarray[Any, Any]) -> None:
        self._n_envs = engine.n_envs
        self._array = array = engine.array(field)
        self._columns = columns
        part = array[..., columns]
        # Columns that stand together are a view, whose copy costs a third of indexing anew.
        self.get = part.copy if isinstance(columns, slice) else lambda: array[..., columns]

    def set(self, call: str, values: ArrayLike, envs_idx: ArrayLike | None) -> WorldIds | None:
        place: Any = (..., self._columns)
        rows = None
        if envs_idx is not None:
            rows = world_ids(call, envs_idx, self._n_envs)
            if len(np.unique(rows)) < len(rows):
                raise FieldError(f"{call}: envs_idx", str(rows.tolist()), "each world may be named once")
            place = (rows, self._columns) if isinstance(self._columns, slice) else (rows[:, None], self._columns)
        needed = self._array[place].shape
        try:
            given = np.asarray(values)
        except ValueError:  # rows of different lengths
            given = np.asarray(None)
        if given.dtype.kind not in "biuf":
            raise FieldError(call, f"{values!r}", f"numbers of shape {needed} needed")
        if envs_idx is not None and np.ndim(envs_idx) == 0 and given.shape == needed[1:]:
            given = given[None]
        if given.shape != needed:
            raise FieldError(call, f"shape {given.shape}", f"{needed} needed")
        self._array[place] = given
        return None if rows is None else np.sort(rows)
