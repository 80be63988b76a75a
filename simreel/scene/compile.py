"""The morphs of a scene to one MjModel, and where each entity's parts stand in it."""

from __future__ import annotations

import logging
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from simreel.errors import ModelError, SimreelWarning
from simreel.options.morphs import ModelFile, PlanarArm
from simreel.scene.messages import collected_messages
from simreel.scene.parts import BASE, LEAST_INERTIA, MODEL_ERRORS, load_morph, reason
from simreel.scene.placing import is_identity, move_keyframes, unit_quat
from simreel.scene.settings import apply_options, check_conflicts, copy_globals, merge_sizes, scene_timestep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simreel.options import SimOptions
    from simreel.options.morphs import Morph
    from simreel.scene.settings import Part

__all__ = ["CompiledScene", "EntityIndex", "compile_scene", "entity_index", "load_morph", "scene_timestep"]

_logger = logging.getLogger("simreel")
_SCENE = "the scene"

Index = slice | np.ndarray[Any, np.dtype[np.int_]]
Ids = np.ndarray[Any, np.dtype[np.int_]]


@dataclass(frozen=True, eq=False)
class EntityIndex:
    """Where the parts of an entity stand in the model. Arrays are int64 and ascending."""

    name: str
    prefix: str
    """What goes before each name of its model."""
    base_body: int
    """Id of its first body; 0, the world, where it has none."""
    body_ids: Ids
    joint_ids: Ids
    actuator_ids: Ids
    sensor_ids: Ids
    qpos: Index
    """Its values in qpos: a slice where they stand together, else their indices."""
    qvel: Index
    ctrl: Index


@dataclass(frozen=True, eq=False)
class CompiledScene:
    """The model of a scene."""

    model: mujoco.MjModel
    entities: tuple[EntityIndex, ...]
    """One for each part, in their order."""
    spec: mujoco.MjSpec
    """What the model was compiled from."""


@dataclass(eq=False)
class _Placed:
    """An entity in the spec of the scene. The elements stay valid when they are attached, and know their ids then."""

    name: str
    prefix: str
    bodies: list[Any] = field(default_factory=list)
    joints: list[Any] = field(default_factory=list)
    actuators: list[Any] = field(default_factory=list)
    sensors: list[Any] = field(default_factory=list)


def compile_scene(sim: SimOptions, parts: Sequence[Part]) -> CompiledScene:
    """The model of the scene. The specs of the parts are left as they are and may be used again.

    The first model file is the root: its names, options, sizes, visual settings and statistics are those of the scene.
    Keyframes of every file stay usable: they place their own entity, and leave the others where they are built.
    What MuJoCo warns of goes to the logger `simreel` at INFO.

    Raises:
        OptionsConflictError: two model files state different options.
        ModelError: the scene does not compile; two entities with the same names in them, for instance.
    """
    check_conflicts(sim, parts)
    _warn_of_floors(parts)
    messages: list[str] = []
    try:
        with collected_messages() as messages:
            return _compile(sim, parts)
    except MODEL_ERRORS as error:
        if isinstance(error, ModelError):
            raise
        text = reason(error)
        if "repeated name" in text:
            text += "; give one of the models a prefix of its own, as in MJCF(file, prefix='left/')"
        raise ModelError(_SCENE, text) from None
    finally:
        for message in messages:
            _logger.info("%s: %s", _SCENE, message)


def _compile(sim: SimOptions, parts: Sequence[Part]) -> CompiledScene:
    alone = len(parts) == 1
    # Working copies: attaching moves a spec into another, and a scene may be built more than once.
    specs = [spec.copy() for _, _, spec in parts]
    files = [position for position, (_, morph, _) in enumerate(parts) if isinstance(morph, ModelFile)]
    first = files[0] if files else None
    scales = [_prepare(spec, morph, alone=alone) for spec, (_, morph, _) in zip(specs, parts, strict=True)]

    placed: dict[int, _Placed] = {}
    root = mujoco.MjSpec()
    if first is not None:
        name, morph, _ = parts[first]
        if _prefix(name, morph, is_first=True):
            copy_globals(specs[first], root)
        else:
            root = specs[first]
            placed[first] = _elements(name, "", root)
            _frame_all(root, morph, scales[first])
    wanted = 0 if alone else merge_sizes([specs[position] for position in files], root)
    for position, (name, morph, _) in enumerate(parts):
        if position not in placed:
            prefix = _prefix(name, morph, is_first=position == first)
            placed[position] = _attach(root, specs[position], name, prefix, morph, scales[position])
    apply_options(sim, parts, root)

    model = root.compile()
    if wanted > model.narena:
        root.memory = wanted
        model = root.compile()
    entities = tuple(_index(placed[position], model) for position in range(len(parts)))
    return CompiledScene(model, entities, root)


def _prefix(name: str, morph: Morph, *, is_first: bool) -> str:
    given = morph.prefix if isinstance(morph, ModelFile) else None
    if given is not None:
        return given
    return "" if is_first else f"{name}/"


def _prepare(spec: mujoco.MjSpec, morph: Morph, *, alone: bool) -> float:
    """Does to the spec of one file what its compiler flags would do to the whole scene; returns its mass scale."""
    if not isinstance(morph, ModelFile):
        return 1.0
    compiler = spec.compiler
    # In the order of the compiler. The flags stay off: they would take away what the other entities brought.
    if compiler.discardvisual:
        spec.discard_visual()
    if compiler.fusestatic:
        spec.fuse_static()
    compiler.discardvisual = compiler.fusestatic = False
    if not is_identity(morph) and spec.keys:
        move_keyframes(spec, morph)
    total = float(compiler.settotalmass)
    if alone or total <= 0:
        return 1.0
    compiler.settotalmass = -1
    return total / float(spec.copy().compile().body_mass.sum())


def _elements(name: str, prefix: str, spec: mujoco.MjSpec) -> _Placed:
    return _Placed(name, prefix, list(spec.bodies)[1:], list(spec.joints), list(spec.actuators), list(spec.sensors))


def _frame_all(root: mujoco.MjSpec, morph: Morph, scale: float) -> None:
    if is_identity(morph) and scale == 1.0:
        return
    world = root.worldbody
    tops = [
        element
        for kind in (world.bodies, world.geoms, world.sites, world.cameras, world.lights, world.frames)
        for element in kind
        if element.frame is None
    ]
    frame = _frame(root, morph, scale)
    for element in tops:
        element.set_frame(frame)


def _attach(root: mujoco.MjSpec, spec: mujoco.MjSpec, name: str, prefix: str, morph: Morph, scale: float) -> _Placed:
    placed = _elements(name, prefix, spec)
    elements = () if isinstance(morph, ModelFile) else (*spec.bodies, *spec.joints, *spec.geoms)
    own = [element for element in elements if element.name == BASE]
    root.attach(spec, frame=_frame(root, morph, scale), prefix=prefix)
    for element in own:
        element.name = name
    return placed


def _frame(root: mujoco.MjSpec, morph: Morph, scale: float) -> mujoco.MjsFrame:
    frame = root.worldbody.add_frame(pos=morph.pos, quat=unit_quat(morph))
    if scale != 1.0:
        # Under the other policy the forces of motors and springs would follow the mass.
        frame.massscale, frame.scaling = scale, mujoco.mjtScaling.mjSCALING_GEOMETRY
    return frame


def _index(placed: _Placed, model: mujoco.MjModel) -> EntityIndex:
    bodies, joints, actuators, sensors = (
        np.sort(np.array([element.id for element in kind], dtype=np.int64))
        for kind in (placed.bodies, placed.joints, placed.actuators, placed.sensors)
    )
    return entity_index(placed.name, placed.prefix, bodies, joints, actuators, sensors, model=model)


def entity_index(
    name: str, prefix: str, bodies: Ids, joints: Ids, actuators: Ids, sensors: Ids, *, model: mujoco.MjModel
) -> EntityIndex:
    """Where the parts of an entity stand in the model.

    Args:
        name: its name.
        prefix: what goes before each name of its model.
        bodies: their ids, ascending int64, as those of the other parts.
        joints: their ids.
        actuators: their ids.
        sensors: their ids.
        model: the compiled model.
    """
    kinds = model.jnt_type[joints]
    free, ball = kinds == mujoco.mjtJoint.mjJNT_FREE, kinds == mujoco.mjtJoint.mjJNT_BALL
    return EntityIndex(
        name=name,
        prefix=prefix,
        base_body=int(bodies[0]) if len(bodies) else 0,
        body_ids=bodies,
        joint_ids=joints,
        actuator_ids=actuators,
        sensor_ids=sensors,
        qpos=_spans(model.jnt_qposadr[joints], np.where(free, 7, np.where(ball, 4, 1))),
        qvel=_spans(model.jnt_dofadr[joints], np.where(free, 6, np.where(ball, 3, 1))),
        ctrl=_spans(model.actuator_ctrladr[actuators], model.actuator_ctrlnum[actuators]),
    )


def _spans(starts: Ids, widths: Ids) -> Index:
    indices = np.concatenate([np.arange(0), *(np.arange(s, s + w) for s, w in zip(starts, widths, strict=True))])
    if len(indices) == 0:
        return slice(0, 0)
    if indices[-1] - indices[0] + 1 == len(indices):
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return indices


def _warn_of_floors(parts: Sequence[Part]) -> None:
    floored = [
        f"{name} link {number}"
        for name, morph, _ in parts
        if isinstance(morph, PlanarArm)
        for number, link in enumerate(morph.links, 1)
        if link.inertia < LEAST_INERTIA
    ]
    if floored:
        text = f"inertia of {', '.join(floored)}: less than {LEAST_INERTIA:g} kg m^2, which is simulated instead"
        warnings.warn(text, SimreelWarning, stacklevel=4)
