"""Boxes and meshes as the planes that bound them.

A mesh is its convex hull, to the number of planes that a picture needs; one that is hollowed out is cut into slices
along its longest side, and each slice is its hull.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import mujoco
    from numpy.typing import NDArray

__all__ = ["MAX_PLANES", "Hull", "box_hull", "mesh_hulls"]

MAX_PLANES = 64
"""The most planes of a hull. A convex mesh of at most so many faces is exact; round ones are some percent too large."""

# Normals closer than this are one face, cut into triangles.
_SAME_FACE = 1e-4

# Directions spread over the sphere for what the faces' own normals leave open; of a slice.
_SPREAD, _SPREAD_SLICE = 38, 24

# Faces that a plane stands for: those whose normals are within 35 degrees of its own, this part of the size away.
_LIKE = 0.82
_NEAR = 0.15

# A mesh whose faces lie this part of its size within its hull, in the mean, is hollowed out.
_HOLLOW = 0.02
_SLICES = 4


@dataclass(frozen=True)
class Hull:
    """The planes around a convex body, in its own frame."""

    normals: NDArray[np.float64]
    """(n, 3), outward unit vectors."""
    heights: NDArray[np.float64]
    """(n,), how far each plane is from the origin [m]."""
    bend: NDArray[np.float64]
    """(n, 3, 4): the normal that a point `p` on each plane is lit with is `bend @ (p, 1)`. Where a plane stands for a
    part of a round surface, it is lit as if it were round."""
    bounds: NDArray[np.float64]
    """(2, 3): the middle and half lengths of the box around it."""


@dataclass(frozen=True)
class _Faces:
    """Triangles of a mesh."""

    corners: NDArray[np.float64]
    """(n, 3, 3)"""
    normals: NDArray[np.float64]
    areas: NDArray[np.float64]

    def __getitem__(self, which: NDArray[np.bool_] | NDArray[np.int64]) -> _Faces:
        return _Faces(self.corners[which], self.normals[which], self.areas[which])


def box_hull(size: NDArray[np.float64]) -> Hull:
    """The hull of a box with half lengths (3,)."""
    normals = np.concatenate([np.eye(3), -np.eye(3)])
    return Hull(normals, np.tile(size, 2), _flat(normals), np.array([np.zeros(3), size]))


def mesh_hulls(model: mujoco.MjModel, mesh: int) -> list[Hull]:
    """The hulls that stand for a mesh; one where it is convex."""
    first = model.mesh_vertadr[mesh]
    vertices = model.mesh_vert[first : first + model.mesh_vertnum[mesh]].astype(np.float64)
    first = model.mesh_faceadr[mesh]
    corners = vertices[model.mesh_face[first : first + model.mesh_facenum[mesh]]]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(normals, axis=1)
    some = areas > 1e-12 * areas.max(initial=0)
    faces = _Faces(corners[some], normals[some] / areas[some, None], areas[some])
    sides = np.ptp(vertices, axis=0)
    if len(faces.areas) < MAX_PLANES or not _is_hollow(vertices, faces, sides.max()):
        return [_hull(vertices, faces, np.empty((0, 3)), _SPREAD)]
    axis = int(sides.argmax())
    cuts = np.linspace(vertices[:, axis].min(), vertices[:, axis].max(), _SLICES + 1)
    ends = np.eye(3)[[axis, axis]] * np.array([[1], [-1]])
    hulls = []
    for low, high in itertools.pairwise(cuts):
        inside = (vertices[:, axis] >= low) & (vertices[:, axis] <= high)
        points = np.concatenate([vertices[inside], *(_crossings(faces.corners, axis, cut) for cut in (low, high))])
        reaches = (faces.corners[:, :, axis].max(axis=1) >= low) & (faces.corners[:, :, axis].min(axis=1) <= high)
        if len(points) >= 4:
            hulls.append(_hull(points, faces[reaches], ends, _SPREAD_SLICE))
    return hulls


def _is_hollow(vertices: NDArray[np.float64], faces: _Faces, size: float) -> bool:
    """Whether the faces lie deep inside the hull; of many, some are tried."""
    some = faces[np.unique(np.linspace(0, len(faces.areas) - 1, 400).astype(np.int64))]
    depth = (vertices @ some.normals.T).max(axis=0) - np.einsum("ni,ni->n", some.corners.mean(axis=1), some.normals)
    return bool(depth @ some.areas > _HOLLOW * size * some.areas.sum())


def _crossings(corners: NDArray[np.float64], axis: int, cut: float) -> NDArray[np.float64]:
    """Where the sides of triangles cross a plane, (n, 3)."""
    one, two = corners.reshape(-1, 3), np.roll(corners, -1, axis=1).reshape(-1, 3)
    crosses = (one[:, axis] < cut) != (two[:, axis] < cut)
    one, two = one[crosses], two[crosses]
    share = (cut - one[:, axis]) / (two[:, axis] - one[:, axis])
    points: NDArray[np.float64] = one + share[:, None] * (two - one)
    return points


def _hull(vertices: NDArray[np.float64], faces: _Faces, always: NDArray[np.float64], spread: int) -> Hull:
    """The hull of points.

    Each plane touches the hull, so no part of it is cut off. The largest faces that lie on the hull come first; where
    there are too many, or they leave something open, directions that are spread evenly join them.

    Args:
        vertices: the points, (n, 3).
        faces: the triangles between them.
        always: directions that are taken in any case, (n, 3).
        spread: how many directions there are that are spread evenly.
    """
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    size = (high - low).max()
    directions, complete = _merge(faces)
    # Every direction supports the hull somewhere, but only where its faces lie on the hull are they faces of it.
    reach = (vertices @ directions.T).max(axis=0)
    on_hull = _reach_of_faces(faces, directions) > reach - 1e-4 * size
    chosen = directions[on_hull]
    if len(chosen) > MAX_PLANES or not complete or not on_hull.all() or len(always):
        chosen = chosen[: spread // 2]
        chosen = np.concatenate([always, chosen, np.eye(3), -np.eye(3), _spread(spread)])
    heights = (vertices @ chosen.T).max(axis=0)
    bend = _bend(faces, chosen, heights, size, len(always))
    return Hull(chosen, heights, bend, np.array([(high + low) / 2, (high - low) / 2]))


def _flat(normals: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate([np.zeros((len(normals), 3, 3)), normals[:, :, None]], axis=2)


def _bend(
    faces: _Faces, planes: NDArray[np.float64], heights: NDArray[np.float64], size: float, cuts: int
) -> NDArray[np.float64]:
    """The affine map, by least squares, from the faces near each plane to their normals.

    The first `cuts` planes are none of the mesh: what shows of them is lit as the surface around them.
    """
    bend = _flat(planes)
    centers = faces.corners.mean(axis=1)
    point = np.concatenate([centers / size, np.ones((len(centers), 1))], axis=1)
    for index, (plane, height) in enumerate(zip(planes, heights, strict=True)):
        near = centers @ plane > height - _NEAR * size
        if index >= cuts:
            near &= faces.normals @ plane > _LIKE
        if near.sum() < 8:
            continue
        weight = (faces.areas[near] / faces.areas[near].sum())[:, None]
        # Pulled to the plane's own normal where the faces leave it open.
        left = point[near].T @ (weight * point[near]) + np.diag([1e-3, 1e-3, 1e-3, 1e-9])
        right = point[near].T @ (weight * (faces.normals[near] - plane))
        bend[index] += np.linalg.solve(left, right).T / [size, size, size, 1]
    return bend


def _merge(faces: _Faces) -> tuple[NDArray[np.float64], bool]:
    """The different normals, (n, 3), those of the largest area first, and whether these are all."""
    rounded = np.round(faces.normals / _SAME_FACE)
    _, which, back = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(-np.bincount(back.ravel(), faces.areas))
    kept: list[NDArray[np.float64]] = []
    for normal in faces.normals[which[order]]:
        # Rounding puts some normals of one face on both sides of a limit.
        if not kept or (np.array(kept) @ normal).max() < 1 - 2 * _SAME_FACE**2:
            if len(kept) == 4 * MAX_PLANES:
                return np.array(kept), False
            kept.append(normal)
    return np.array(kept).reshape(-1, 3), True


def _reach_of_faces(faces: _Faces, directions: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far out the faces of each direction lie, (n,)."""
    out = np.full(len(directions), -np.inf)
    for index, direction in enumerate(directions):
        same = faces.normals @ direction > 1 - 1e-6
        out[index] = (faces.corners[same] @ direction).max(initial=-np.inf)
    return out


def _spread(count: int) -> NDArray[np.float64]:
    """Unit vectors spread evenly, (count, 3): a Fibonacci lattice (Gonzalez 2010, Measurement of areas on a sphere)."""
    index = np.arange(count) + 0.5
    height = 1 - 2 * index / count
    angle = np.pi * (1 + 5**0.5) * index
    radius = np.sqrt(1 - height**2)
    return np.array([radius * np.cos(angle), radius * np.sin(angle), height]).T
