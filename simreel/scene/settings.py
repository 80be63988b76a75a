"""What a scene can have only one of: `<option>`, `<visual>`, `<statistic>`, `<size>` and the global `<compiler>` flags.

They come from the first model file, whole; `MjSpec.attach` would drop them. MjSpec knows which options a file states
("authored"), includes and attached files among them, as bits in the order of the fields of mjOption.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from simreel.errors import OptionsConflictError
from simreel.options.morphs import ModelFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simreel.options import SimOptions
    from simreel.options.morphs import Morph

__all__ = ["Part", "apply_options", "check_conflicts", "copy_globals", "merge_sizes", "scene_timestep"]

Part = tuple[str, "Morph", mujoco.MjSpec]
"""Name of an entity, its morph, and the morph loaded."""

# fmt: off
_FIELDS = (
    "timestep", "impratio", "tolerance", "ls_tolerance", "noslip_tolerance", "ccd_tolerance", "sleep_tolerance",
    "gravity", "wind", "magnetic", "density", "viscosity", "o_margin", "o_solref", "o_solimp", "o_friction",
    "integrator", "cone", "jacobian", "solver", "iterations", "ls_iterations", "noslip_iterations",
    "ccd_iterations", "disableflags", "enableflags", "disableactuator", "sdf_initpoints", "sdf_iterations",
)
# fmt: on
"""The fields of mjOption in its order."""

_FLAG_FIELDS = {"disableflags", "enableflags", "disableactuator"}

_WORDS: dict[str, Any] = {
    "integrator": mujoco.mjtIntegrator,
    "cone": mujoco.mjtCone,
    "jacobian": mujoco.mjtJacobian,
    "solver": mujoco.mjtSolver,
}

_SETTERS = {"timestep": "dt", "gravity": "gravity", "integrator": "integrator"}
"""Fields of mjOption that SimOptions can set, and how it calls them."""

# fmt: off
_USER_SIZES = (
    "nuserdata", "nuser_body", "nuser_jnt", "nuser_geom", "nuser_site", "nuser_cam", "nuser_tendon",
    "nuser_actuator", "nuser_sensor",
)
# fmt: on


def scene_timestep(sim: SimOptions, parts: Sequence[Part]) -> float:
    """The physics timestep of the scene [s]: `dt / substeps`, else that of the first model file, else 0.002."""
    if sim.dt is not None:
        return sim.dt / sim.substeps
    for _, morph, spec in parts:
        if isinstance(morph, ModelFile):
            return float(spec.option.timestep)
    return 0.002


def apply_options(sim: SimOptions, parts: Sequence[Part], root: mujoco.MjSpec) -> None:
    """Writes what `sim` decides into the spec of the scene."""
    root.option.timestep = scene_timestep(sim, parts)
    if sim.gravity is not None:
        root.option.gravity = sim.gravity
    if sim.integrator is not None:
        root.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{sim.integrator.upper()}")


def check_conflicts(sim: SimOptions, parts: Sequence[Part]) -> None:
    """Compares what each later model file states in its `<option>` with the first file.

    Raises:
        OptionsConflictError: one states another value than the scene takes from the first, and `sim` does not decide.
    """
    files = [(name, spec) for name, morph, spec in parts if isinstance(morph, ModelFile)]
    for name, spec in files[1:]:
        first_name, first = files[0]
        mine, taken = dict(_values(spec)), dict(_values(first))
        for field in _stated(spec):
            setter = _SETTERS.get(field)
            if mine[field] == taken[field] or (setter and getattr(sim, setter) is not None):
                continue
            remedy = f"Set SimOptions({setter}=...), or change one of the files." if setter else "Change one of them."
            raise OptionsConflictError(field, (first_name, taken[field]), (name, mine[field]), remedy)


def _values(spec: mujoco.MjSpec) -> Iterator[tuple[str, object]]:
    option = spec.option
    for field in _FIELDS:
        value = getattr(option, field)
        if field in _WORDS:
            yield field, _WORDS[field](value).name.rpartition("_")[2].lower()
        elif field not in _FLAG_FIELDS:
            yield field, tuple(np.asarray(value).tolist()) if np.ndim(value) else value
    for prefix, flags in (("mjDSBL_", option.disableflags), ("mjENBL_", option.enableflags)):
        for word, bit in _bits(prefix):
            # A disable flag that is set turns the feature off.
            yield f"flag {word}", "enable" if bool(flags & bit) != (prefix == "mjDSBL_") else "disable"
    # The spec has no bit for a group that is stated to be enabled: only those that are not count.
    yield "actuatorgroupdisable", tuple(group for group in range(31) if option.disableactuator & 1 << group)


def _stated(spec: mujoco.MjSpec) -> Iterator[str]:
    authored = spec.authored
    for position, field in enumerate(_FIELDS):
        if authored.option & 1 << position and field not in _FLAG_FIELDS:
            yield field
    for prefix, flags in (("mjDSBL_", authored.disableflags), ("mjENBL_", authored.enableflags)):
        yield from (f"flag {word}" for word, bit in _bits(prefix) if flags & bit)
    if authored.disableactuator:
        yield "actuatorgroupdisable"


def _bits(prefix: str) -> Iterator[tuple[str, int]]:
    members = {**mujoco.mjtDisableBit.__members__, **mujoco.mjtEnableBit.__members__}
    for name, member in members.items():
        if name.startswith(prefix):
            yield name.removeprefix(prefix).lower(), int(member)


def copy_globals(source: mujoco.MjSpec, target: mujoco.MjSpec) -> None:
    """Gives an empty spec what `attach` does not bring along."""
    target.modelname = source.modelname
    for part in ("option", "visual", "stat", "compiler", "authored"):
        _copy(getattr(source, part), getattr(target, part))
    for size in ("memory", "njmax", "nconmax", "nstack", "nkey", *_USER_SIZES):
        setattr(target, size, getattr(source, size))


def _copy(source: object, target: object) -> None:
    for name in dir(source):
        # `global` is the same as `global_`; directories belong to the file whose assets lie there.
        if name.startswith("_") or name in ("global", "meshdir", "texturedir"):
            continue
        value = getattr(source, name)
        if isinstance(value, np.ndarray):
            getattr(target, name)[:] = value
        elif isinstance(value, (bool, int, float, str)) or hasattr(type(value), "__members__"):
            setattr(target, name, value)
        else:
            _copy(value, getattr(target, name))


def merge_sizes(specs: Sequence[mujoco.MjSpec], root: mujoco.MjSpec) -> int:
    """The arena that the files ask for together [bytes]; `root` gets their user sizes and an arena of MuJoCo's choice.

    A file sized its arena for itself, so the size that one of them states says nothing about the scene.
    """
    wanted = sum(max(int(spec.memory), 0) for spec in specs)
    root.memory = root.njmax = root.nconmax = root.nstack = -1
    for size in _USER_SIZES:
        stated = [getattr(spec, size) for spec in specs]
        # -1 is MuJoCo's choice, which fits every element; only nuserdata has no such choice.
        setattr(root, size, -1 if min(stated, default=-1) < 0 and size != "nuserdata" else max(stated, default=0))
    return wanted
