"""Shadows on the ground, by one light from far away: which of the ground's pixels look at it in the dark.

The ground is a plane, so at each pixel its inverse depth `s` is linear, `s = F.p` with `p = (j, i, 1)`, and `s` times
the ground's point is `d` itself. A ball with center `c` hides the light where the point is less than a radius from the
line through `c` along the light: with `P` that projects along the light, `|P (d - s c)|^2 <= r^2 s^2`, again a
quadratic in the pixel. Cylinders are the shadows of their two ends and of the rectangle between; bodies with planes are
met by lines to the light as they are by rays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simreel.render.schematic.canvas import Canvas, quadratic
from simreel.render.schematic.frame import union

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simreel.render.schematic.canvas import Box
    from simreel.render.schematic.frame import Boxes, Frame

__all__ = ["MIN_SLOPE", "Ground", "Shadows"]

# A light closer to the ground than this (the cosine of its angle to the normal) throws shadows that never end.
MIN_SLOPE = 0.05


@dataclass(frozen=True)
class Ground:
    """What shadows fall on, and the light that throws them."""

    normal: NDArray[np.float64]
    """(3,), unit length."""
    height: float
    """`normal` times a point of it, relative to the eye."""
    light: NDArray[np.float64]
    """(3,), the way the light goes, unit length, into the ground."""

    def along(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Where the light carries points, (..., 3), to."""
        fall = (self.height - points @ self.normal) / (self.light @ self.normal)
        return points + fall[..., None] * self.light


class Shadows:
    """Collects shadows in a mask of the picture."""

    def __init__(self, canvas: Canvas, frame: Frame, ground: Ground, mask: NDArray[np.bool_]) -> None:
        self._canvas = canvas
        self._frame = frame
        self.ground = ground
        self.mask = mask
        self.box: Box | None = None
        """Around all shadows so far."""

    def _ways(
        self, centers: NDArray[np.float64], corners: NDArray[np.float64]
    ) -> tuple[Boxes, NDArray[np.float64], NDArray[np.float64]]:
        """What the shadows of convex objects take.

        Args:
            centers: (n, 3).
            corners: (n, k, 3) points whose shadows hold the objects'.

        Returns:
            The boxes of the shadows, the inverse depth of the ground there, (n, 3), and, multiplied by that, the way
            from the centers to the ground's points, (n, 3, 3).
        """
        boxes = self._frame.around_points(self.ground.along(corners))
        rays = self._frame.rays_at(boxes.middles)
        inverse = self.ground.normal @ rays / self.ground.height
        return boxes, inverse, rays - centers[:, :, None] * inverse[:, None, :]

    def balls(self, centers: NDArray[np.float64], scale: NDArray[np.float64], radii: NDArray[np.float64]) -> None:
        """Casts balls and ellipsoids; arguments as `ball_like`, with the radii (n,) of balls around them."""
        one = perpendicular(self.ground.light)
        two = cross(self.ground.light, one)
        square = np.array([one + two, one - two, -one + two, -one - two])
        boxes, inverse, off = self._ways(centers, centers[:, None] + radii[:, None, None] * square)
        light = scale @ self.ground.light
        light /= np.sqrt(np.einsum("ni,ni->n", light, light))[:, None]
        across = scale - light[:, :, None] * np.einsum("ni,nij->nj", light, scale)[:, None, :]
        self._round(inverse, across @ off, boxes)

    def discs(self, centers: NDArray[np.float64], normals: NDArray[np.float64], radii: NDArray[np.float64]) -> None:
        """Casts discs with unit normals (n, 3)."""
        light = self.ground.light
        slope = normals @ light
        flat = np.abs(slope) > 1e-3  # seen from the edge it throws none
        centers, normals, radii, slope = centers[flat], normals[flat], radii[flat], slope[flat]
        if not len(centers):
            return
        one = perpendicular(normals) * radii[:, None]
        two = cross(normals, one)
        corners = centers[:, None] + np.stack([one + two, one - two, -one + two, -one - two], axis=1)
        boxes, inverse, off = self._ways(centers, corners)
        # Along the light into the disc's plane.
        onto = np.eye(3) - light[:, None] * (normals / slope[:, None])[:, None, :]
        self._round(inverse, onto @ off / radii[:, None, None], boxes)

    def _round(self, inverse: NDArray[np.float64], off: NDArray[np.float64], boxes: Boxes) -> None:
        inside = inverse[:, :, None] * inverse[:, None, :] - np.swapaxes(off, 1, 2) @ off
        self._fill(quadratic(inside)[:, None], boxes)

    def bars(
        self,
        centers: NDArray[np.float64],
        axes: NDArray[np.float64],
        radii: NDArray[np.float64],
        halves: NDArray[np.float64],
    ) -> None:
        """Casts what is between the ends of cylinders and capsules."""
        light = self.ground.light
        along = axes - (axes @ light)[:, None] * light
        length = np.sqrt(np.einsum("ni,ni->n", along, along))
        long = length > 1e-3  # along the light only its ends throw shadows
        centers, along, length, radii, halves = centers[long], along[long], length[long], radii[long], halves[long]
        if not len(centers):
            return
        halves = np.maximum(halves * length, 1e-12)
        along /= length[:, None]
        across = cross(light, along)
        side, end = radii[:, None] * across, halves[:, None] * along
        corners = centers[:, None] + np.stack([side + end, side - end, -side + end, -side - end], axis=1)
        boxes, inverse, off = self._ways(centers, corners)
        # How far the ground's points are from the middle, in radii and in half lengths: both less than one.
        scaled = np.stack([across / radii[:, None], along / halves[:, None]], axis=1)
        way = scaled @ off
        one = inverse[:, None, :, None] * inverse[:, None, None, :]
        self._fill(quadratic(one - way[:, :, :, None] * way[:, :, None, :]), boxes)

    def _fill(self, forms: NDArray[np.float32], boxes: Boxes) -> None:
        """Marks where all polynomials of an object are positive."""
        for index, box, at, _ in boxes.each():
            values = self._canvas.forms(forms[index], box, at)
            least = values[0] if len(values) == 1 else np.minimum(values[0], values[1], out=values[0])
            self.mask[box[0] : box[1], box[2] : box[3]] |= least > 0
        self._widen(boxes)

    def polytopes(
        self,
        normals: NDArray[np.float64],
        heights: NDArray[np.float64],
        first_plane: list[int],
        corners: NDArray[np.float64],
    ) -> None:
        """Casts bodies of planes (n, 3), (n,), with the corners (bodies, 8, 3) of boxes around them."""
        owner = np.repeat(np.arange(len(corners)), np.diff(first_plane))
        boxes, inverse, _ = self._ways(corners[:, 0], corners)
        # A line from the ground to the light crosses a plane at the way `-(g / m)`, measured in units of depth.
        slope = -(normals @ self.ground.light)
        slope = np.where(np.abs(slope) < 1e-9, 1e-9, slope)
        rays = self._frame.rays_at(boxes.middles)[owner]
        outside = np.einsum("ni,nij->nj", normals, rays) - heights[:, None] * inverse[owner]
        forms = (-outside / slope[:, None]).astype(np.float32)
        for index, box, at, _ in boxes.each():
            mine = slice(first_plane[index], first_plane[index + 1])
            leaves = slope[mine] > 0
            if leaves.any() and not leaves.all():
                last = self._canvas.planes(forms[mine][leaves], box, at).min(axis=0)
                dark = self._canvas.planes(forms[mine][~leaves], box, at).max(axis=0) <= last
                dark &= last > 0  # in the ground it throws none
                self.mask[box[0] : box[1], box[2] : box[3]] |= dark
        self._widen(boxes)

    def pixels(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> None:
        """Marks single pixels."""
        if len(rows):
            self.mask[rows, columns] = True
            self.box = union(self.box, (rows.min(), rows.max() + 1, columns.min(), columns.max() + 1))

    def _widen(self, boxes: Boxes) -> None:
        if (around := boxes.around()) is not None:
            self.box = union(self.box, around)


def cross(one: NDArray[np.float64], two: NDArray[np.float64]) -> NDArray[np.float64]:
    """The cross products of vectors, (..., 3): as np.cross, which takes ten times as long for few of them."""
    a, b, c = one[..., 0], one[..., 1], one[..., 2]
    x, y, z = two[..., 0], two[..., 1], two[..., 2]
    return np.stack([b * z - c * y, c * x - a * z, a * y - b * x], axis=-1)


def perpendicular(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """A unit vector across each, (..., 3)."""
    out = cross(vectors, np.eye(3)[np.abs(vectors).argmin(axis=-1)])
    unit: NDArray[np.float64] = out / np.sqrt((out * out).sum(axis=-1, keepdims=True))
    return unit
