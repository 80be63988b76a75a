"""scene.json: what of a scene is neither a file of the user's nor a compiled model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from simreel.errors import OptionsError, SceneFileError
from simreel.options import morphs
from simreel.options.sim import SimOptions
from simreel.reel.limits import MAX_JSON
from simreel.reel.text import dump_json, load_json
from simreel.render import View
from simreel.scene.compile import EntityIndex, entity_index
from simreel.scene.description.payloads import payload

if TYPE_CHECKING:
    from collections.abc import Mapping

    import mujoco

    from simreel.scene.camera import Camera

__all__ = ["SCENE_NAME", "CameraRecord", "ChannelRecord", "EntityRecord", "SceneRecord", "read_record"]

SCENE_NAME = "scene.json"
"""Its name among the payloads of a file."""

_VERSION = 1

Count = Annotated[int, Field(ge=0)]
Span = tuple[Count, Count]


class _Record(BaseModel):
    # A newer release may write more.
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, use_attribute_docstrings=True)


class EntityRecord(_Record):
    """An entity, and which parts of the model are its own."""

    name: str
    morph: str
    """Name of the class of its morph."""
    options: dict[str, Any]
    """The fields of its morph; `file` is a name inside the scene."""
    prefix: str = ""
    bodies: tuple[Span, ...] = ()
    """Ids of its bodies: the first of each stretch, and the first after it."""
    joints: tuple[Span, ...] = ()
    actuators: tuple[Span, ...] = ()
    sensors: tuple[Span, ...] = ()

    @classmethod
    def of(cls, name: str, morph: morphs.Morph, file: str | None, index: EntityIndex) -> EntityRecord:
        """The record of an entity; `file` takes the place of the one that the morph names."""
        options = morph.model_dump(mode="json") | ({} if file is None else {"file": file})
        ids = (index.body_ids, index.joint_ids, index.actuator_ids, index.sensor_ids)
        bodies, joints, actuators, sensors = map(_spans, ids)
        return cls(
            name=name,
            morph=type(morph).__name__,
            options=options,
            prefix=index.prefix,
            bodies=bodies,
            joints=joints,
            actuators=actuators,
            sensors=sensors,
        )

    def make_morph(self) -> morphs.Morph:
        """Its morph.

        Raises:
            SceneFileError: there is no such morph, or its options are wrong.
        """
        kind = getattr(morphs, self.morph, None) if self.morph in morphs.__all__ else None
        if not (isinstance(kind, type) and issubclass(kind, morphs.Morph)):
            raise SceneFileError(SCENE_NAME, f"entity {self.name!r} is a {self.morph!r}, which this release has not")
        try:
            return kind.model_validate(self.options)
        except OptionsError as error:
            raise SceneFileError(SCENE_NAME, f"entity {self.name!r}: {error}") from None

    def make_index(self, model: mujoco.MjModel) -> EntityIndex:
        """Where its parts stand in the model.

        Raises:
            SceneFileError: the model has no such parts.
        """
        counts = (model.nbody, model.njnt, model.nactuator, model.nsensor)
        spans = (self.bodies, self.joints, self.actuators, self.sensors)
        return entity_index(self.name, self.prefix, *map(self._ids, spans, counts), model=model)

    def _ids(self, spans: tuple[Span, ...], count: int) -> np.ndarray[Any, np.dtype[np.int64]]:
        if any(not start < stop <= count for start, stop in spans):
            raise SceneFileError(SCENE_NAME, f"entity {self.name!r} has parts that the model has not")
        return np.concatenate([np.empty(0, np.int64), *(np.arange(start, stop) for start, stop in spans)])


class CameraRecord(_Record):
    """A camera that was added."""

    name: str
    size: tuple[int, int]
    pos: tuple[float, float, float]
    lookat: tuple[float, float, float]
    up: tuple[float, float, float]
    fov: float
    body: str | int | None = None

    @classmethod
    def of(cls, camera: Camera) -> CameraRecord:
        """The record of a camera."""
        view = camera.view
        body = view.body if view.body is None or isinstance(view.body, str) else int(view.body)
        return cls(
            name=camera.name, size=view.size, pos=view.pos, lookat=view.lookat, up=view.up, fov=view.fov, body=body
        )

    def make_view(self) -> View:
        """What it sees.

        Raises:
            SceneFileError: a value is out of range.
        """
        try:
            return View(size=self.size, pos=self.pos, lookat=self.lookat, up=self.up, fov=self.fov, body=self.body)
        except OptionsError as error:
            raise SceneFileError(SCENE_NAME, f"camera {self.name!r}: {error}") from None


class ChannelRecord(_Record):
    """What is recorded with each frame beside the state."""

    name: str
    unit: str = ""
    columns: tuple[str, ...] = ()


class SceneRecord(_Record):
    """All of it."""

    version: int = _VERSION
    engine: str
    """"mujoco", "function", or the class of the user's engine."""
    engine_options: dict[str, Any] = {}
    """What the user's engine tells of itself."""
    sim_options: dict[str, Any]
    substeps: Annotated[int, Field(ge=1)] = 1
    """Physics steps in one step."""
    dt: float
    n_envs: Count = 0
    has_sources: bool = False
    """Whether the model can be compiled again from the sources."""
    entities: tuple[EntityRecord, ...] = ()
    cameras: tuple[CameraRecord, ...] = ()
    channels: tuple[ChannelRecord, ...] = ()
    names: dict[str, tuple[str, ...]] = {}
    """Of the bodies, joints and actuators of the model, in their order."""

    def to_bytes(self) -> bytes:
        """The text of the file.

        Raises:
            FieldError: it is too large.
        """
        return dump_json(self.model_dump(mode="json"), SCENE_NAME)

    def make_sim_options(self) -> SimOptions:
        """The options that the scene was made with.

        Raises:
            SceneFileError: they are wrong.
        """
        try:
            return SimOptions.model_validate(self.sim_options)
        except OptionsError as error:
            raise SceneFileError(SCENE_NAME, str(error)) from None


def read_record(blobs: Mapping[str, bytes]) -> SceneRecord:
    """What the scene.json of a file says.

    Raises:
        SceneFileError: the file holds no scene, or a malformed one.
    """
    raw = payload(blobs, SCENE_NAME, MAX_JSON)
    try:
        values = load_json(raw)
        version = values.get("version") if isinstance(values, dict) else None
        if version != _VERSION:
            raise SceneFileError(SCENE_NAME, f"version {version!r}; this release reads version {_VERSION}")
        return SceneRecord.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        raise SceneFileError(SCENE_NAME, f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except ValueError as error:
        if isinstance(error, SceneFileError):
            raise
        raise SceneFileError(SCENE_NAME, str(error)) from None


def _spans(ids: np.ndarray[Any, Any]) -> tuple[Span, ...]:
    stretches = np.split(ids, np.flatnonzero(np.diff(ids) != 1) + 1)
    return tuple((int(stretch[0]), int(stretch[-1]) + 1) for stretch in stretches if len(stretch))
