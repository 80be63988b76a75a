"""What a model has to draw, sorted by how it is drawn, with the colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco
import numpy as np

from simreel.render.schematic.backdrop import Backdrop
from simreel.render.schematic.materials import Look, Textures, look_of
from simreel.render.schematic.shapes import Bodies
from simreel.render.schematic.surfaces import Fields, Flexes

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["World", "body_objects", "objects", "signature"]

# MuJoCo draws these groups unless told otherwise; collision geoms are in group 3 by custom.
_GROUPS = 3

# MuJoCo's own limit: what is less opaque is drawn after the rest.
_OPAQUE = 0.995

_SHAPES = [
    mujoco.mjtGeom.mjGEOM_SPHERE,
    mujoco.mjtGeom.mjGEOM_CAPSULE,
    mujoco.mjtGeom.mjGEOM_ELLIPSOID,
    mujoco.mjtGeom.mjGEOM_CYLINDER,
    mujoco.mjtGeom.mjGEOM_BOX,
    mujoco.mjtGeom.mjGEOM_MESH,
    mujoco.mjtGeom.mjGEOM_SDF,
]

# What the pictures are made of and a program may change while the model runs.
_WATCHED = (
    "geom_size",
    "geom_rgba",
    "geom_matid",
    "geom_group",
    "geom_dataid",
    "site_size",
    "site_rgba",
    "site_matid",
    "site_group",
    "tendon_rgba",
    "tendon_width",
    "tendon_matid",
    "tendon_group",
    "flex_rgba",
    "flex_matid",
    "flex_group",
    "mat_rgba",
    "mat_emission",
    "mat_specular",
    "mat_texid",
    "mat_texrepeat",
    "hfield_data",
    "light_active",
    "light_diffuse",
    "light_ambient",
    "light_specular",
    "light_castshadow",
)


def signature(model: mujoco.MjModel) -> bytes:
    """Bytes that differ when the model looks different. Textures and meshes are taken to stay as they are."""
    head = model.vis.headlight
    light = np.array([head.ambient, head.diffuse, head.specular]).tobytes() + bytes([head.active])
    return b"".join([*(getattr(model, name).tobytes() for name in _WATCHED), light])


class World:
    """The parts of a model by kind; geoms, sites, tendons and flexes that are not shown are left out."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model = model
        self._textures = textures = Textures(model)
        kind = model.geom_type
        geom_alpha = _alpha(model.geom_rgba, model.geom_matid, model)
        site_alpha = _alpha(model.site_rgba, model.site_matid, model)
        shown = (model.geom_group < _GROUPS) & (geom_alpha > 0)
        sites = (model.site_group < _GROUPS) & (site_alpha > 0)
        body = np.concatenate([model.geom_bodyid, model.site_bodyid])
        still = (model.body_weldid == 0)[body]
        still_geom, still_site = still[: model.ngeom], still[model.ngeom :]
        solid, clear = geom_alpha >= _OPAQUE, site_alpha < _OPAQUE
        shape = shown & np.isin(kind, _SHAPES)

        self.backdrop = Backdrop(model, np.flatnonzero(shown & (kind == mujoco.mjtGeom.mjGEOM_PLANE)), textures)
        self.still = self._bodies(shape & solid & still_geom, sites & ~clear & still_site)
        self.moving = self._bodies(shape & solid & ~still_geom, sites & ~clear & ~still_site)
        self.clear = self._bodies(shape & ~solid, sites & clear)
        self.field_geoms = np.flatnonzero(shown & (kind == mujoco.mjtGeom.mjGEOM_HFIELD))
        self.fields = Fields(model, self.field_geoms)
        self.flexes = np.flatnonzero(model.flex_group < _GROUPS)
        self.cloth = Flexes(model, self.flexes)
        tendon_alpha = _alpha(model.tendon_rgba, model.tendon_matid, model)
        self._tendons = np.flatnonzero((model.tendon_group < _GROUPS) & (tendon_alpha > 0) & (model.tendon_width > 0))
        self.alphas = np.concatenate([geom_alpha[self.clear.geoms], site_alpha[self.clear.sites]])
        """Of the items of `clear`."""

    def _bodies(self, geoms: NDArray[np.bool_], sites: NDArray[np.bool_]) -> Bodies:
        return Bodies(self._model, np.flatnonzero(geoms), np.flatnonzero(sites))

    # Tendons and flexes of one dimension: bars that come with the moving bodies.

    def bars(
        self, data: mujoco.MjData
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.int32]]:
        """The ends (n, 2, 3), radii (n,), colours (n, 5) and objects (n, 2) of all bars of a state."""
        model = self._model
        if not len(self._tendons) and not len(self.cloth.edges):
            return np.empty((0, 2, 3)), np.empty(0), np.empty((0, 5)), np.empty((0, 2), np.int32)
        ends, radii, looks, objects = [np.empty((0, 2, 3))], [np.empty(0)], [np.empty((0, 5))], []
        for tendon in self._tendons:
            start, count = data.ten_wrapadr[tendon], data.ten_wrapnum[tendon]
            points = np.asarray(data.wrap_xpos).reshape(-1, 3)[start : start + count]
            thing = np.asarray(data.wrap_obj).ravel()[start : start + count]
            joined = (thing[:-1] != -2) & (thing[1:] != -2)  # -2 is a pulley, where a new branch starts
            piece = np.stack([points[:-1], points[1:]], axis=1)[joined]
            ends.append(piece)
            radii.append(np.full(len(piece), model.tendon_width[tendon]))
            look = look_of(model, int(model.tendon_matid[tendon]), model.tendon_rgba[tendon])
            looks.append(np.tile(self._color(look), (len(piece), 1)))
            objects += [(tendon, mujoco.mjtObj.mjOBJ_TENDON)] * len(piece)
        if len(self.cloth.edges):
            ends.append(self.cloth.points(data)[self.cloth.edges])
            radii.append(self.cloth.bar_radius)
            looks.append(self.flex_colors()[self.cloth.bar_owner])
            objects += [(flex, mujoco.mjtObj.mjOBJ_FLEX) for flex in self.flexes[self.cloth.bar_owner]]
        table = np.array(objects, np.int32).reshape(-1, 2)
        return np.concatenate(ends), np.concatenate(radii), np.concatenate(looks), table

    # Colours, (n, 5): red, green, blue, emission, specular; and objects, (n, 2): number and mjtObj.

    def body_colors(self, bodies: Bodies) -> NDArray[np.float64]:
        """Of geoms, then sites."""
        model = self._model
        looks = [look_of(model, int(model.geom_matid[geom]), model.geom_rgba[geom]) for geom in bodies.geoms]
        looks += [look_of(model, int(model.site_matid[site]), model.site_rgba[site]) for site in bodies.sites]
        return self._colors(looks)

    def field_colors(self) -> NDArray[np.float64]:
        """Of height fields."""
        model = self._model
        return self._colors([look_of(model, int(model.geom_matid[g]), model.geom_rgba[g]) for g in self.field_geoms])

    def flex_colors(self) -> NDArray[np.float64]:
        """Of flexes."""
        model = self._model
        return self._colors([look_of(model, int(model.flex_matid[f]), model.flex_rgba[f]) for f in self.flexes])

    def _colors(self, looks: list[Look]) -> NDArray[np.float64]:
        return np.array([self._color(look) for look in looks]).reshape(-1, 5)

    def _color(self, look: Look) -> NDArray[np.float64]:
        rgb = np.array(look.rgba[:3]) * self._textures.mean(look.texture)
        return np.array([*rgb, look.emission, look.specular])


def body_objects(bodies: Bodies) -> NDArray[np.int32]:
    """The objects of geoms, then sites, (n, 2)."""
    return np.concatenate(
        [objects(bodies.geoms, mujoco.mjtObj.mjOBJ_GEOM), objects(bodies.sites, mujoco.mjtObj.mjOBJ_SITE)]
    )


def objects(numbers: NDArray[np.int64], kind: mujoco.mjtObj) -> NDArray[np.int32]:
    """Objects of one kind, (n, 2)."""
    return np.stack([numbers, np.full(len(numbers), int(kind))], axis=-1).astype(np.int32)


def _alpha(rgba: NDArray[np.float32], material: NDArray[np.int32], model: mujoco.MjModel) -> NDArray[np.float64]:
    looks = (look_of(model, int(mat), color) for mat, color in zip(material, rgba, strict=True))
    return np.array([look.rgba[3] for look in looks], np.float64)
