"""A scene from what a file holds of it; nothing outside of the file is read."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import mujoco

from simreel.errors import DamagedFileError, OptionsError, SceneFileError, SimreelWarning
from simreel.reel.limits import MAX_BLOB
from simreel.scene.description.document import SCENE_NAME, SceneRecord, read_record
from simreel.scene.description.mjb import MODEL_NAME, load_mjb
from simreel.scene.description.payloads import payload
from simreel.scene.description.recorded import RecordedSources
from simreel.scene.engines.mujoco_engine import MuJoCoEngine
from simreel.scene.entity import Entity
from simreel.scene.scene import Scene

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simreel.options.morphs import Morph
    from simreel.options.viewer import ViewerOptions
    from simreel.scene.compile import EntityIndex
    from simreel.scene.description.payloads import Described

__all__ = ["load_scene", "model_from", "recorded_model", "scene_from"]


def model_from(meta: Mapping[str, Any], blobs: Mapping[str, bytes]) -> mujoco.MjModel:
    """The model that was recorded: its MJB where this is the MuJoCo that wrote it, else compiled from its sources.

    What was compiled anew and is not the same (another version of MuJoCo) is warned of: recorded frames play back
    exactly, and a run that starts from one may go another way.

    Args:
        meta: what the head of the file says.
        blobs: the payloads of the file.

    Raises:
        SceneFileError: neither is there or usable.
        DamagedFileError: a payload is damaged.
    """
    return recorded_model(meta, blobs, read_record(blobs))[0]


def scene_from(recorded: Described, *, show_viewer: bool = False, viewer_options: ViewerOptions | None = None) -> Scene:
    """The recorded scene, built: its entities, names, cameras, options and worlds. Its state is the one of `build`.

    Args:
        recorded: an open reel.
        show_viewer: as of `Scene`.
        viewer_options: as of `Scene`.

    Raises:
        SceneFileError: the file holds no scene that can be built.
        DamagedFileError: a payload is damaged.
    """
    record = read_record(recorded.blobs)
    _check_engine(record)
    if record.n_envs != recorded.meta.get("n_envs"):
        raise SceneFileError(SCENE_NAME, f"{record.n_envs} worlds, and {recorded.meta.get('n_envs')} in the head")
    model, indices = recorded_model(recorded.meta, recorded.blobs, record)
    scene = _scene_of(record, model, indices, show_viewer, viewer_options)
    scene.build(record.n_envs)
    return scene


def load_scene(recorded: Described) -> Scene:
    """The recorded scene, not built: more can be added, where its entities are compiled from their sources.

    Raises:
        SceneFileError: the file holds no scene that can be built.
        DamagedFileError: a payload is damaged.
    """
    record = read_record(recorded.blobs)
    _check_engine(record)
    if not record.has_sources:
        model, indices = recorded_model(recorded.meta, recorded.blobs, record)
        return _scene_of(record, model, indices)
    scene = Scene(record.make_sim_options())
    sources = RecordedSources(recorded.meta, recorded.blobs, _named(record))
    scene._recorded = sources
    for name, morph, spec in sources.load():
        scene._add(name, morph, spec)
    _add_cameras(scene, record)
    return scene


def _check_engine(record: SceneRecord) -> None:
    if record.engine != "mujoco":
        what = "functions" if record.engine == "function" else record.engine
        raise SceneFileError(SCENE_NAME, f"its engine is the user's own ({what}), which no file holds: give the scene")


def recorded_model(
    meta: Mapping[str, Any], blobs: Mapping[str, bytes], record: SceneRecord, *, quiet: bool = False
) -> tuple[mujoco.MjModel, tuple[EntityIndex, ...]]:
    """As `model_from`, and where the entities stand in it; `quiet` warns of nothing."""
    version = meta.get("engine_version")
    can_compile = _can_compile(record, blobs)
    has_mjb = MODEL_NAME in blobs
    if has_mjb and version == mujoco.__version__:
        try:
            model = load_mjb(payload(blobs, MODEL_NAME, MAX_BLOB))
        except (SceneFileError, DamagedFileError) as error:
            if not can_compile:
                raise
            if not quiet:
                warnings.warn(f"{error}; it is compiled from its sources", SimreelWarning, stacklevel=4)
        else:
            return model, tuple(entity.make_index(model) for entity in record.entities)
    if not can_compile:
        found = "the file was written without it"
        if has_mjb:
            found = f"it is of MuJoCo {version}, and this is {mujoco.__version__}"
        raise SceneFileError(MODEL_NAME, f"{found}: frames can be read, and not be simulated without their scene")
    sources = RecordedSources(meta, blobs, _named(record))
    compiled = sources.compile(record.make_sim_options(), warn=not quiet)
    return compiled.model, compiled.entities


def _can_compile(record: SceneRecord, blobs: Mapping[str, bytes]) -> bool:
    files = [entity.options["file"] for entity in record.entities if "file" in entity.options]
    return (record.has_sources or bool(record.entities)) and set(blobs).issuperset(files)


def _named(record: SceneRecord) -> list[tuple[str, Morph]]:
    return [(entity.name, entity.make_morph()) for entity in record.entities]


def _scene_of(
    record: SceneRecord,
    model: mujoco.MjModel,
    indices: tuple[EntityIndex, ...],
    show_viewer: bool = False,
    viewer_options: ViewerOptions | None = None,
) -> Scene:
    engine = MuJoCoEngine(model, mujoco.MjData(model), record.substeps)
    engine.refresh()
    options = record.make_sim_options()
    scene = Scene(options, engine=engine, show_viewer=show_viewer, viewer_options=viewer_options)
    for (name, morph), index in zip(_named(record), indices, strict=True):
        entity = Entity(name, morph)
        entity._index = index
        scene._entities.append(entity)
    _add_cameras(scene, record)
    return scene


def _add_cameras(scene: Scene, record: SceneRecord) -> None:
    for camera in record.cameras:
        try:
            scene._studio.add(camera.name, camera.make_view())
        except OptionsError as error:
            raise SceneFileError(SCENE_NAME, str(error)) from None
