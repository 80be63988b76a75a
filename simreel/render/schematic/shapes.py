"""Geoms, sites and tendons of one kind of state: all that is made of balls, cylinders and planes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco
import numpy as np

from simreel.render.schematic.frame import union
from simreel.render.schematic.hulls import box_hull, mesh_hulls
from simreel.render.schematic.polytopes import draw_polytopes, plane_forms
from simreel.render.schematic.rounds import (
    Normals,
    ball_like,
    discs,
    draw_balls,
    draw_discs,
    draw_walls,
    walls,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simreel.render.schematic.canvas import Box, Canvas
    from simreel.render.schematic.frame import Frame
    from simreel.render.schematic.hulls import Hull
    from simreel.render.schematic.shadows import Shadows

__all__ = ["Bodies", "Shapes"]

_GEOM = mujoco.mjtGeom
_SIGNS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], np.float64)


class Bodies:
    """What is drawn: some geoms and sites of a model, with what does not change while it moves."""

    def __init__(self, model: mujoco.MjModel, geoms: NDArray[np.int64], sites: NDArray[np.int64]) -> None:
        self.geoms, self.sites = geoms, sites
        kind = np.concatenate([model.geom_type[geoms], model.site_type[sites]])
        self.size = np.concatenate([model.geom_size[geoms], model.site_size[sites]]).reshape(-1, 3)
        self.spheres = np.flatnonzero(kind == _GEOM.mjGEOM_SPHERE)
        self.ellipsoids = np.flatnonzero(kind == _GEOM.mjGEOM_ELLIPSOID)
        self.capsules = np.flatnonzero(kind == _GEOM.mjGEOM_CAPSULE)
        self.cylinders = np.flatnonzero(kind == _GEOM.mjGEOM_CYLINDER)
        meshes = np.isin(kind, [_GEOM.mjGEOM_MESH, _GEOM.mjGEOM_SDF])
        meshed: dict[int, list[Hull]] = {}
        hulls: list[Hull] = []
        items: list[int] = []
        for item in np.flatnonzero((kind == _GEOM.mjGEOM_BOX) | meshes).tolist():
            if meshes[item]:
                mesh = int(model.geom_dataid[geoms[item]])
                if mesh not in meshed:
                    meshed[mesh] = mesh_hulls(model, mesh)
                mine = meshed[mesh]
            else:
                mine = [box_hull(self.size[item])]
            hulls += mine
            items += [item] * len(mine)
        self.polytopes = np.array(items, np.int64)
        """The item of each convex body."""
        counts = [len(hull.heights) for hull in hulls]
        self.first_plane = [0, *np.cumsum(counts, dtype=np.int64).tolist()]
        self.plane_body = np.repeat(np.arange(len(counts)), counts)
        self.plane_normal = np.concatenate([np.empty((0, 3)), *(hull.normals for hull in hulls)])
        self.plane_height = np.concatenate([np.empty(0), *(hull.heights for hull in hulls)])
        self.plane_bend = np.concatenate([np.empty((0, 3, 4)), *(hull.bend for hull in hulls)])
        self.bounds = np.array([hull.bounds for hull in hulls]).reshape(-1, 2, 3)

    def __len__(self) -> int:
        return len(self.geoms) + len(self.sites)

    def poses(self, data: mujoco.MjData) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Where the items are in the world, (n, 3) and (n, 3, 3)."""
        pos = np.concatenate([data.geom_xpos[self.geoms], data.site_xpos[self.sites]])
        mat = np.concatenate([data.geom_xmat[self.geoms], data.site_xmat[self.sites]])
        return pos.reshape(-1, 3), mat.reshape(-1, 3, 3)


class Shapes:
    """Bodies in one state, as one picture sees them; and bars with round ends, such as tendons.

    Args:
        frame: the picture.
        bodies: what is drawn.
        data: the state.
        bars: both ends (n, 2, 3) in the world and radii (n,).
    """

    def __init__(
        self,
        frame: Frame,
        bodies: Bodies,
        data: mujoco.MjData,
        bars: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
    ) -> None:
        self._frame = frame
        self._bodies = bodies
        self.owner = np.empty(0, np.int64)
        """Of each part, the item: geoms, sites, then bars."""
        if not len(bodies) and (bars is None or not len(bars[1])):
            return
        pos, self._mat = bodies.poses(data)
        self._pos = pos = pos - frame.pos
        self._add_rounds(*(bars or (np.empty((0, 2, 3)), np.empty(0))))
        self._add_planes()
        b, n = bodies, len(bodies)
        bar = np.arange(n, n + self._bars)
        long = np.concatenate([b.capsules, bar])
        parts = [b.spheres, long, long, b.ellipsoids, b.capsules, bar, b.cylinders, b.cylinders, b.cylinders]
        self.owner = np.concatenate([*parts, b.polytopes[b.plane_body]]).astype(np.int64)

    def _add_rounds(self, ends: NDArray[np.float64], radii: NDArray[np.float64]) -> None:
        b, frame = self._bodies, self._frame
        solid = np.concatenate([b.capsules, b.cylinders])
        way = (ends[:, 1] - ends[:, 0]) / 2
        length = np.sqrt(np.einsum("ni,ni->n", way, way))
        self._bars = len(radii)
        axis = way / np.where(length > 0, length, 1)[:, None]
        axis[length == 0] = (0, 0, 1)
        k = len(b.capsules)

        def join(own: NDArray[np.float64], bars: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.concatenate([own[:k], bars, own[k:]]) if len(bars) else own  # capsules, bars, cylinders

        self._center = join(self._pos[solid], ends.mean(axis=1) - frame.pos)
        self._axis = axis = join(self._mat[solid, :, 2], axis)
        self._radius = radius = join(b.size[solid, 0], radii)
        self._half = join(b.size[solid, 1], length)
        self._capped = c = k + self._bars
        shift = self._half[:, None] * axis
        self._ends = one, two = self._center + shift, self._center - shift

        # The balls around all: spheres, both ends of what is long, ellipsoids. The long lies between its ends' balls.
        s, n, e = len(b.spheres), len(solid) + self._bars, len(b.ellipsoids)
        longest = b.size[b.ellipsoids].max(axis=1, initial=0)
        centers = np.concatenate([self._pos[b.spheres], one, two, self._pos[b.ellipsoids]])
        around = frame.around_balls(centers, np.concatenate([b.size[b.spheres, 0], radius, radius, longest]))
        first, second = around[:, s : s + n], around[:, s + n : s + 2 * n]
        balls = [around[:, :s], first[:, :c], second[:, :c], around[:, s + 2 * n :]]
        boxes = frame.boxes(np.concatenate([*balls, np.minimum(first, second), first[:, c:], second[:, c:]], axis=1))
        rays = frame.rays_at(boxes.middles)
        ball, wall, disc = slice(s + 2 * c + e), slice(s + 2 * c + e, s + 2 * c + e + n), slice(s + 2 * c + e + n, None)

        self._ball_center = np.concatenate([self._pos[b.spheres], one[:c], two[:c], self._pos[b.ellipsoids]])
        short = np.concatenate([b.size[b.spheres, 0], radius[:c], radius[:c]])
        self._ball_radius = np.concatenate([short, longest])
        scale = np.eye(3) / short[:, None, None]
        if e:
            turned = np.swapaxes(self._mat[b.ellipsoids], 1, 2) / b.size[b.ellipsoids][:, :, None]
            scale = np.concatenate([scale, turned])
        self._ball_scale = scale
        self._balls = ball_like(self._ball_center, scale, boxes[ball], rays[ball])
        self._walls = walls(self._center, axis, radius, self._half, boxes[wall], rays[wall])
        outward = np.concatenate([axis[c:], -axis[c:]])
        at = np.concatenate([one[c:], two[c:]])
        self._discs = discs(at, outward, np.tile(radius[c:], 2), boxes[disc], rays[disc])

    def _add_planes(self) -> None:
        b, frame = self._bodies, self._frame
        mat = self._mat[b.polytopes]
        local = b.bounds[:, :1] + b.bounds[:, 1:] * _SIGNS
        self._corners = self._pos[b.polytopes][:, None] + local @ np.swapaxes(mat, 1, 2)
        self._normals = np.einsum("nij,nj->ni", mat[b.plane_body], b.plane_normal)
        center = np.einsum("ni,ni->n", self._normals, self._pos[b.polytopes][b.plane_body])
        self._heights = center + b.plane_height
        self._poly_boxes = frame.around_points(self._corners)
        rays = frame.rays_at(self._poly_boxes.middles)[b.plane_body]
        self._forms = plane_forms(self._normals, self._heights, rays)

    # What is done with them.

    @property
    def normals(self) -> Normals:
        """Of each part."""
        b = self._bodies
        rounds = [one.normals for one in (self._balls, self._walls, self._discs)]
        turn = self._mat[b.polytopes][b.plane_body]
        bend = turn @ b.plane_bend
        turned = bend[:, :, :3] @ np.swapaxes(turn, 1, 2)
        at = np.einsum("nij,nj->ni", turned, self._pos[b.polytopes][b.plane_body])
        planes = Normals(turned, at - bend[:, :, 3])
        all_ = [*rounds, planes]
        return Normals(np.concatenate([one.turn for one in all_]), np.concatenate([one.shift for one in all_]))

    def draw(self, canvas: Canvas, first: int) -> Box | None:
        """Draws all, with parts numbered from `first`; returns a box around what was drawn."""
        if not len(self.owner):
            return None
        frame, b = self._frame, self._bodies
        draw_balls(canvas, frame, self._balls, first)
        first += len(self._balls.ready)
        draw_walls(canvas, frame, self._walls, first)
        first += len(self._walls.ready)
        draw_discs(canvas, frame, self._discs, first)
        first += len(self._discs.ready)
        draw_polytopes(canvas, frame, self._forms, self._heights, b.first_plane, self._poly_boxes, first)
        box: Box | None = None
        for boxes in (self._balls.boxes, self._walls.boxes, self._poly_boxes):
            if (around := boxes.around()) is not None:
                box = union(box, around)
        return box

    def cast(self, shadows: Shadows) -> None:
        """Casts the shadows of all that is not below the ground."""
        b, c, ground = self._bodies, self._capped, shadows.ground
        up = self._ball_center @ ground.normal > ground.height - self._ball_radius
        if up.any():
            shadows.balls(self._ball_center[up], self._ball_scale[up], self._ball_radius[up])
        one, two = self._ends
        up = np.maximum(one @ ground.normal, two @ ground.normal) > ground.height - self._radius
        if up.any():
            shadows.bars(self._center[up], self._axis[up], self._radius[up], self._half[up])
        up = up[c:]
        if up.any():
            for end in (one[c:], two[c:]):
                shadows.discs(end[up], self._axis[c:][up], self._radius[c:][up])
        if len(b.polytopes):
            shadows.polytopes(self._normals, self._heights, b.first_plane, self._corners)
