"""What a file needs to hold for a scene to be built from it again."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import mujoco

from simreel._version import __version__
from simreel.errors import OptionsError, SimreelWarning
from simreel.options.morphs import ModelFile
from simreel.scene.description.comparing import element_names
from simreel.scene.description.digest import digest
from simreel.scene.description.document import SCENE_NAME, CameraRecord, ChannelRecord, EntityRecord, SceneRecord
from simreel.scene.description.mjb import MODEL_NAME, save_mjb
from simreel.scene.description.sources import MAX_TOTAL, collect, file_name
from simreel.scene.engines.function_engine import FunctionEngine
from simreel.scene.engines.model_engine import ModelEngine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simreel.scene.compile import EntityIndex
    from simreel.scene.description.sources import Sources
    from simreel.scene.engines.protocol import Engine
    from simreel.scene.scene import Scene

__all__ = ["Description", "Embed", "describe_scene", "engine_name"]

Embed = Literal["both", "xml", "mjb", "none"]

_SLEEP = int(mujoco.mjtEnableBit.mjENBL_SLEEP | mujoco.mjtEnableBit.mjENBL_IPC)

# A compiled model beside its sources is a convenience up to this size [bytes].
_LARGE = 16 * 2**20


class Description(NamedTuple):
    """A scene as a file holds it."""

    meta: dict[str, Any]
    """For the head of the file: "engine", "engine_version", "digest", "n_envs", "sleep", "simreel"."""
    blobs: dict[str, bytes]
    """Payloads by name: "scene.json", "model.mjb", "sources/...". """


def describe_scene(scene: Scene, embed: Embed = "both") -> Description:
    """What a file needs to hold for the scene to be built from it again. A scene that is not built is compiled for it.

    Args:
        scene: the scene, unchanged.
        embed: "xml" holds the files of its entities, "mjb" the compiled model, "both" these two, without a model of
            more than 16 MiB that can be compiled from the files; "none" holds neither.

    Raises:
        ModelError: the entities do not compile together.
        OptionsError: `embed` is something else.
    """
    if embed not in ("both", "xml", "mjb", "none"):
        raise OptionsError("describe_scene", [f"embed = {embed!r}: one of 'both', 'xml', 'mjb', 'none' is needed"])
    engine = scene._engine
    if engine is None:
        compiled = scene._compile_parts()
        built = _Built(compiled.model, compiled.entities, digest(compiled.model), 0, scene._sim_options.substeps, True)
    elif isinstance(engine, ModelEngine):
        identity = digest(engine.model)
        indices = tuple(entity._index for entity in scene._entities)
        is_compiled = identity == scene._compiled_digest
        built = _Built(engine.model, indices, identity, engine.n_envs, engine._substeps, is_compiled)
    else:
        return _of_engine(scene, engine)
    return _of_model(scene, built, embed)


@dataclass(frozen=True, eq=False)
class _Built:
    model: mujoco.MjModel
    entities: tuple[EntityIndex, ...]
    digest: str
    n_envs: int
    substeps: int
    is_compiled: bool
    """Whether it is as it was compiled from the entities."""


def _of_model(scene: Scene, built: _Built, embed: Embed) -> Description:
    model = built.model
    wants_sources, wants_model = embed in ("both", "xml"), embed in ("both", "mjb")
    sources, problem = _sources(scene, built) if wants_sources else ({}, "")
    if embed == "xml" and problem:
        warnings.warn(
            f"embed='xml': the model cannot be compiled from its files again ({problem}), so that the file can be "
            "replayed but not re-run; embed='both' holds the model too",
            SimreelWarning,
            stacklevel=3,
        )
    # Under another name in any case: the user's may be a path, or a long text.
    files = {
        number: sources[number].main if number in sources else f"sources/{number}/0/{file_name(morph)}"
        for number, (_, morph, _) in enumerate(scene._parts)
        if isinstance(morph, ModelFile)
    }
    record = SceneRecord(
        engine="mujoco",
        sim_options=scene._sim_options.model_dump(mode="json"),
        substeps=built.substeps,
        dt=float(model.opt.timestep) * built.substeps,
        n_envs=built.n_envs,
        has_sources=wants_sources and not problem,
        entities=tuple(
            EntityRecord.of(entity.name, entity.morph, files.get(number), index)
            for number, (entity, index) in enumerate(zip(scene._entities, built.entities, strict=True))
        ),
        cameras=tuple(map(CameraRecord.of, scene.cameras)),
        channels=_channels(scene),
        names={kind: tuple(element_names(model, kind)) for kind in ("body", "joint", "actuator")},
    )
    blobs = {SCENE_NAME: record.to_bytes()}
    if wants_model and (embed == "mjb" or problem or mujoco.mj_sizeModel(model) <= _LARGE):
        blobs[MODEL_NAME] = save_mjb(model)
    for found in sources.values():
        blobs |= found.files
    meta = {
        "engine": "mujoco",
        "engine_version": mujoco.__version__,
        "digest": built.digest,
        "n_envs": built.n_envs,
        "sleep": bool(model.opt.enableflags & _SLEEP),
        "simreel": __version__,
    }
    return Description(meta, blobs)


def _sources(scene: Scene, built: _Built) -> tuple[dict[int, Sources], str]:
    """The files of each entity that has some, by its number, and why the model cannot be compiled from all of them."""
    recorded, assets = scene._recorded, _asset_paths(built.model)
    sources = {}
    for number, ((_, morph, spec), loaded_ns) in enumerate(zip(scene._parts, scene._loaded_ns, strict=True)):
        if isinstance(morph, ModelFile):
            folder = f"sources/{number}"
            if recorded is not None and recorded.has(morph):
                sources[number] = recorded.again(morph, folder)
            else:
                sources[number] = collect(morph, spec, assets, folder, loaded_ns)
    problem = "" if built.is_compiled else "it was given compiled, or edited after that"
    problem = next((found.problem for found in sources.values() if found.problem), problem)
    if sum(len(content) for found in sources.values() for content in found.files.values()) > MAX_TOTAL:
        sources, problem = {}, f"they have more than {MAX_TOTAL} bytes"
    if not problem and recorded is None:
        found = {path for each in sources.values() for path in each.paths}
        missing = [path for path in assets if path not in found]
        problem = f"{os.path.basename(missing[0])} was not found" if missing else ""
    return sources, problem


def _channels(scene: Scene) -> tuple[ChannelRecord, ...]:
    return tuple(
        ChannelRecord(name=channel.name, unit=channel.unit, columns=channel.columns)
        for channel in scene._channels.values()
    )


def _asset_paths(model: mujoco.MjModel) -> list[str]:
    """Where the compiler found the assets."""
    paths = model.paths
    starts = {int(start) for kind in ("mesh", "hfield", "skin", "tex") for start in getattr(model, f"{kind}_pathadr")}
    names = [paths[start : paths.index(0, start)] for start in sorted(starts) if start >= 0]
    return [os.path.abspath(os.fsdecode(name)) for name in names]


def engine_name(engine: Engine) -> str:
    """What files call it."""
    if isinstance(engine, ModelEngine):
        return "mujoco"
    return "function" if isinstance(engine, FunctionEngine) else type(engine).__name__


def _of_engine(scene: Scene, engine: Engine) -> Description:
    """The scene of an engine that is not MuJoCo: what it tells of itself, and no model."""
    told: Mapping[str, Any] = engine.describe() if hasattr(engine, "describe") else {}
    name = engine_name(engine)
    record = SceneRecord(
        engine=name,
        engine_options=dict(told.get("json", {})),
        sim_options=scene._sim_options.model_dump(mode="json"),
        dt=engine.dt,
        n_envs=engine.n_envs,
        cameras=tuple(map(CameraRecord.of, scene.cameras)),
        channels=_channels(scene),
    )
    blobs = {SCENE_NAME: record.to_bytes()}
    blobs |= {f"engine/{key}": content for key, content in told.get("blobs", {}).items()}
    meta = {"engine": name, "engine_version": "", "digest": None, "n_envs": engine.n_envs, "sleep": False}
    return Description(meta | {"simreel": __version__}, blobs)
