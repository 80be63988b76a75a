"""One morph to one MjSpec, read and compiled on its own, so that a mistake is told when the entity is added."""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import mujoco

from simreel.errors import MissingFileError, ModelError
from simreel.options.morphs import (
    MJCF,
    URDF,
    Box,
    Capsule,
    Cylinder,
    ModelFile,
    PlanarArm,
    Plane,
    Primitive,
    Sphere,
)
from simreel.scene.messages import collected_messages

if TYPE_CHECKING:
    from simreel.options.morphs import Morph

__all__ = ["BASE", "LEAST_INERTIA", "MODEL_ERRORS", "load_morph", "reason"]

BASE = "base"
"""Name of the body, geom and free joint of a primitive until they take the name of the entity."""

LEAST_INERTIA = 1e-14
"""Smallest inertia of a link [kg m^2]; MuJoCo refuses what is below its mjMINVAL, 1e-15."""

MODEL_ERRORS = (ValueError, RuntimeError, OSError, mujoco.FatalError)
"""What MuJoCo raises at parse, attach and compile."""

_logger = logging.getLogger("simreel")


def load_morph(morph: Morph) -> mujoco.MjSpec:
    """The morph as a spec that compiles, without its pose and the names of the entity.

    What MuJoCo warns of goes to the logger `simreel` at INFO.

    Raises:
        MissingFileError: the model file is not there.
        ModelError: it cannot be read or does not compile, for want of a mesh for instance.
    """
    if isinstance(morph, ModelFile):
        return _load_file(morph)
    if isinstance(morph, PlanarArm):
        return _planar_arm(morph)
    if isinstance(morph, (Primitive, Plane)):
        return _primitive(morph)
    raise ModelError(type(morph).__name__, "not a morph that a scene can build; see simreel.morphs")


def reason(error: BaseException) -> str:
    """MuJoCo's text on one line."""
    lines = (line.strip() for line in str(error).splitlines())
    return ", ".join(line for line in lines if line).removeprefix("Error: ")


def _load_file(morph: ModelFile) -> mujoco.MjSpec:
    is_text = "<" in morph.file
    source = f"{type(morph).__name__} text" if is_text else morph.file
    path = Path(morph.file if not is_text else ".").absolute()
    # Path.is_file raises for a name that is too long.
    if not is_text and not os.path.isfile(path):
        raise MissingFileError(morph.file, f"the model of an entity, looked for in {Path.cwd()}")
    try:
        _check_kind(morph, morph.file if is_text else path.read_text(encoding="utf-8", errors="replace"), source)
        with collected_messages() as messages:
            if is_text:
                spec = mujoco.MjSpec.from_string(morph.file)
                # Meshes are found when the scene is built, which may be after a change of the working directory.
                spec.modelfiledir = spec.modelfiledir or str(path)
            else:
                spec = mujoco.MjSpec.from_file(str(path))
            if isinstance(morph, URDF):
                _set_base(morph, spec, source)
            spec.copy().compile()
    except MODEL_ERRORS as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(source, reason(error)) from None
    for message in messages:
        _logger.info("%s: %s", source, message)
    return spec


def _check_kind(morph: ModelFile, text: str, source: str) -> None:
    first = re.search(r"<\s*(\w+)", re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL))
    for other in (MJCF, URDF):
        if first and first[1] == other.root_tag and not isinstance(morph, other):
            raise ModelError(source, f"this is {other.__name__}, with <{first[1]}>: use morphs.{other.__name__}")


def _set_base(morph: URDF, spec: mujoco.MjSpec, source: str) -> None:
    bases = spec.worldbody.bodies
    if morph.fixed:
        for base in bases:
            # MuJoCo melts still links of a URDF into the world, and the entity would have no base to tell the pose of.
            base.fuse = False
        return
    if len(bases) != 1:
        raise ModelError(source, f"fixed=False needs one base link, {len(bases)} links hang on the world")
    kinds = [joint.type for joint in bases[0].joints]
    if not kinds:
        bases[0].add_freejoint(name=f"{bases[0].name}_free")
    elif kinds != [mujoco.mjtJoint.mjJNT_FREE]:
        raise ModelError(source, f"fixed=False: link {bases[0].name!r} already has a joint to the world")


def _primitive(morph: Primitive | Plane) -> mujoco.MjSpec:
    spec = mujoco.MjSpec()
    shapes = mujoco.mjtGeom
    if isinstance(morph, Plane):
        x, y = morph.size or (0.0, 0.0)
        spec.add_texture(
            name="checks",
            type=mujoco.mjtTexture.mjTEXTURE_2D,
            builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
            rgb1=(1, 1, 1),
            rgb2=(0.75, 0.75, 0.75),
            # Small, since a trajectory holds the model and with it each pixel.
            width=64,
            height=64,
        )
        textures = [""] * mujoco.mjtTextureRole.mjNTEXROLE
        textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "checks"
        spec.add_material(name="checks", textures=textures, texuniform=True, texrepeat=(1, 1))
        # The third number is the spacing of the drawn grid.
        size = (x / 2, y / 2, 0.05)
        spec.worldbody.add_geom(name=BASE, type=shapes.mjGEOM_PLANE, size=size, rgba=morph.rgba, material="checks")
        return spec
    base = spec.worldbody.add_body(name=BASE)
    if not morph.fixed:
        base.add_freejoint(name=BASE)
    geom = base.add_geom(name=BASE, rgba=morph.rgba, density=morph.density)
    if morph.mass is not None:
        geom.mass = morph.mass
    # MuJoCo takes half sizes.
    if isinstance(morph, Box):
        geom.type, geom.size = shapes.mjGEOM_BOX, [edge / 2 for edge in morph.size]
    elif isinstance(morph, Sphere):
        geom.type, geom.size = shapes.mjGEOM_SPHERE, (morph.radius, 0, 0)
    elif isinstance(morph, Capsule):
        geom.type, geom.size = shapes.mjGEOM_CAPSULE, (morph.radius, morph.length / 2, 0)
    elif isinstance(morph, Cylinder):
        geom.type, geom.size = shapes.mjGEOM_CYLINDER, (morph.radius, morph.length / 2, 0)
    else:
        raise ModelError(type(morph).__name__, "not a primitive that a scene can build; see simreel.morphs")
    return spec


def _planar_arm(morph: PlanarArm) -> mujoco.MjSpec:
    """Bodies base, link1, ...; joints and motors joint1, ...; the site tip. The geoms are for the eye only."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    width = 0.05 * min(link.length for link in morph.links)
    body = spec.worldbody.add_body(name=BASE)
    if morph.base_length:
        _bar(body, morph.base_length, width, (0.35, 0.38, 0.42, 1.0))
    start = morph.base_length
    for number, link in enumerate(morph.links, 1):
        body = body.add_body(name=f"link{number}", pos=(start, 0, 0))
        joint = body.add_joint(
            name=f"joint{number}", type=mujoco.mjtJoint.mjJNT_HINGE, axis=(0, 0, 1), range=link.limits
        )
        x, y = link.com or (link.length / 2, 0.0)
        inertia = max(link.inertia, LEAST_INERTIA)
        body.explicitinertial = True
        # Only the moment about z acts in the plane; equal ones are a solid that MuJoCo accepts at any value.
        body.mass, body.ipos, body.inertia = link.mass, (x, y, 0), (inertia, inertia, inertia)
        _bar(body, link.length, width, (0.85, 0.45, 0.2, 1.0) if number % 2 else (0.2, 0.5, 0.75, 1.0))
        motor = spec.add_actuator(name=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT, target=joint.name)
        motor.set_to_motor()
        start = link.length
    body.add_site(name="tip", pos=(start, 0, 0), size=(width, width, width))
    return spec


def _bar(body: mujoco.MjsBody, length: float, width: float, rgba: tuple[float, float, float, float]) -> None:
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_CAPSULE,
        fromto=(0, 0, 0, length, 0, 0),
        size=(width, 0, 0),
        rgba=rgba,
        mass=0,
        contype=0,
        conaffinity=0,
    )
