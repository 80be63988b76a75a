"""What can be put into a scene: primitives, model files, and the planar arm of the scenarios."""

from __future__ import annotations

import math
import os
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, model_validator

from simreel.options.base import Options
from simreel.options.sim import Vec3

__all__ = [
    "MJCF",
    "URDF",
    "Box",
    "Capsule",
    "Cylinder",
    "ModelFile",
    "Morph",
    "PlanarArm",
    "PlanarLink",
    "Plane",
    "Primitive",
    "Sphere",
]

Positive = Annotated[float, Field(gt=0)]
Unit = Annotated[float, Field(ge=0, le=1)]
Rgba = tuple[Unit, Unit, Unit, Unit]

_DENSITY = 1000.0
# Shorter than this, the direction of a quaternion is lost in rounding.
_SHORTEST_QUAT = 1e-9


def _plain_path(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str) and (not value.strip() or "\0" in value):
        raise ValueError("a path or XML text without NUL characters is needed")
    return value


class Morph(Options):
    """What every morph has: where it stands and what it is called."""

    pos: Vec3 = (0.0, 0.0, 0.0)
    """Position of its frame in world axes [m]."""

    quat: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    """Orientation of its frame in the world, (w, x, y, z); any length but zero."""

    name: Annotated[str, Field(min_length=1)] | None = None
    """Name of the entity; one given to `add_entity` goes before it. None: the scene makes one."""

    @model_validator(mode="after")
    def _check_quat(self) -> Morph:
        if math.hypot(*self.quat) < _SHORTEST_QUAT:
            raise ValueError(f"quat = {self.quat}: a quaternion of a length other than zero is needed")
        return self


class Primitive(Morph):
    """What every body of one shape has."""

    fixed: bool = False
    """Hold it where it is. Without it the body has a free joint."""

    density: Positive = _DENSITY
    """Mass per volume [kg/m^3]."""

    mass: Positive | None = None
    """Mass [kg]. None: from `density`."""

    rgba: Rgba = (0.55, 0.62, 0.7, 1.0)
    """Colour and opacity, each from 0 to 1."""

    @model_validator(mode="after")
    def _check_mass(self) -> Primitive:
        # By value, since options that came back from JSON have every field set.
        if self.mass is not None and self.density != _DENSITY:
            raise ValueError(f"mass = {self.mass:g} and density = {self.density:g}: give one of them")
        return self


class Plane(Morph):
    """The ground: a plane of the world, facing along its z axis."""

    positional = ("size",)

    size: tuple[Positive, Positive] | None = None
    """Full edge lengths of what is drawn [m]; contacts do not end there. None: drawn without end."""

    fixed: bool = True
    """A plane does not move: False is an error."""

    rgba: Rgba = (0.9, 0.9, 0.9, 1.0)
    """Colour of its checks and opacity, each from 0 to 1."""

    @model_validator(mode="after")
    def _check_fixed(self) -> Plane:
        if not self.fixed:
            raise ValueError("fixed = False: a plane is always fixed")
        return self


class Box(Primitive):
    """A box about its centre."""

    positional = ("size",)

    size: tuple[Positive, Positive, Positive]
    """Full edge lengths along its x, y and z [m]."""


class Sphere(Primitive):
    """A ball about its centre."""

    positional = ("radius",)

    radius: Positive
    """Radius [m]."""


class Capsule(Primitive):
    """A cylinder with a half ball on each end, along its z axis, about its centre."""

    positional = ("radius", "length")

    radius: Positive
    """Radius of the cylinder and the half balls [m]."""

    length: Positive
    """Length of the cylinder, without the half balls [m]."""


class Cylinder(Primitive):
    """A cylinder along its z axis, about its centre."""

    positional = ("radius", "length")

    radius: Positive
    """Radius [m]."""

    length: Positive
    """Full length [m]."""


class ModelFile(Morph):
    """What is read from a file."""

    positional: ClassVar[tuple[str, ...]] = ("file", "prefix")
    root_tag: ClassVar[str]

    file: Annotated[str, BeforeValidator(_plain_path)]
    """Path of the file, or its XML text (anything with a `<`)."""

    prefix: str | None = None
    """What goes before each name of the model. None: nothing for the first model file of a scene, the entity's name
    and a slash for the others."""


class MJCF(ModelFile):
    """A model in MuJoCo's XML format."""

    root_tag = "mujoco"


class URDF(ModelFile):
    """A model in the robot description format of ROS."""

    root_tag = "robot"

    positional = ("file", "prefix", "fixed")

    fixed: bool = True
    """Weld the base link to the world. Without it the base link has a free joint."""


class PlanarLink(Options):
    """A link of a planar arm, from its joint along its x axis."""

    positional = ("length", "mass")

    length: Positive
    """Distance from its joint to the next joint or the tip [m]."""

    mass: Positive
    """Mass [kg]."""

    inertia: Annotated[float, Field(ge=0)]
    """Moment of inertia about z, at the centre of mass [kg m^2]. 0 is a point mass; it is simulated with 1e-14."""

    com: tuple[float, float] | None = None
    """Centre of mass from its joint, in the axes of the link [m]. None: the middle of the link."""

    limits: tuple[float, float] = (-math.pi, math.pi)
    """Least and greatest joint angle [rad]."""

    @model_validator(mode="after")
    def _check_limits(self) -> PlanarLink:
        if self.limits[0] >= self.limits[1]:
            raise ValueError(f"limits = {self.limits}: the lower limit must be less than the upper one")
        return self


class PlanarArm(Morph):
    """A chain of links that turn about z and move in the x-y plane of its frame, with a motor at each joint."""

    positional = ("links", "base_length")

    links: tuple[PlanarLink, ...]
    """The links, from the base to the tip."""

    base_length: Annotated[float, Field(ge=0)] = 0.0
    """Distance from the frame of the arm to its first joint, along x [m]."""

    @model_validator(mode="after")
    def _check_links(self) -> PlanarArm:
        if not self.links:
            raise ValueError("links = []: at least one link is needed")
        return self
