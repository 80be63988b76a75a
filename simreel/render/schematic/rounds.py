"""Balls, ellipsoids, and the walls and ends of cylinders: all that a quadratic bounds.

With the center `c` relative to the eye, a ball of radius `r` is met where `|t d - c|^2 = r^2`. In the inverse depth:
`k s^2 - 2 (c.d) s + d.d = 0` with `k = c.c - r^2`, so `s = (c.d + sqrt((c.d)^2 - k d.d)) / k` on the near side. Both
`c.d` and what stands under the root are polynomials of the pixel. An ellipsoid is a ball after scaling space, a
cylinder's wall one after projecting along its axis.

Only the near side is drawn: an eye inside an object sees through it, as with MuJoCo's own pictures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simreel.render.schematic.canvas import Canvas, linear, quadratic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simreel.render.schematic.frame import Boxes, Frame

__all__ = ["Normals", "Rounds", "ball_like", "discs", "draw_balls", "draw_discs", "draw_walls", "walls"]


@dataclass(frozen=True)
class Normals:
    """The normals of parts as affine maps of the point, `turn @ point - shift`, not of unit length."""

    turn: NDArray[np.float64]
    """(n, 3, 3)"""
    shift: NDArray[np.float64]
    """(n, 3), for points relative to the eye."""


@dataclass(frozen=True)
class Rounds:
    """Parts of one kind, ready to be drawn."""

    forms: NDArray[np.float32]
    """(n, m, 3, 3) coefficients; what they are is the kind's own."""
    boxes: Boxes
    ready: NDArray[np.bool_]
    """Whether each has a side that the eye can see."""
    limits: list[float]
    """Of walls: the axial coordinate of their center, in half lengths."""
    normals: Normals


def ball_like(
    centers: NDArray[np.float64],
    scale: NDArray[np.float64],
    boxes: Boxes,
    rays: NDArray[np.float64],
) -> Rounds:
    """Balls and ellipsoids: where `|scale @ (point - center)| <= 1`.

    Args:
        centers: (n, 3), relative to the eye.
        scale: (n, 3, 3); the world's unit lengths in radii.
        boxes: where they are.
        rays: those around the middles of the boxes, (n, 3, 3).
    """
    rays = scale @ rays
    center = np.einsum("nij,nj->ni", scale, centers)
    power = np.einsum("ni,ni->n", center, center) - 1
    forms = _near_side(rays, center, power)
    transposed = np.swapaxes(scale, 1, 2)
    normals = Normals(transposed @ scale, np.einsum("nij,nj->ni", transposed, center))
    return Rounds(forms, boxes, power > 0, [], normals)


def walls(
    centers: NDArray[np.float64],
    axes: NDArray[np.float64],
    radii: NDArray[np.float64],
    halves: NDArray[np.float64],
    boxes: Boxes,
    rays: NDArray[np.float64],
) -> Rounds:
    """Walls of cylinders and capsules, of unit `axes` (n, 3) and half lengths (n,)."""
    halves = np.maximum(halves, 1e-12)  # a capsule of no length is its ends
    across = (np.eye(3) - axes[:, :, None] * axes[:, None, :]) / radii[:, None, None]
    center = np.einsum("nij,nj->ni", across, centers)
    power = np.einsum("ni,ni->n", center, center) - 1
    along = np.einsum("ni,nij->nj", axes / halves[:, None], rays)
    forms = np.concatenate([_near_side(across @ rays, center, power), linear(along)[:, None]], axis=1)
    limits = np.einsum("ni,ni->n", axes, centers) / halves
    normals = Normals(across, center)
    return Rounds(forms, boxes, power > 0, limits.tolist(), normals)


def discs(
    centers: NDArray[np.float64],
    outward: NDArray[np.float64],
    radii: NDArray[np.float64],
    boxes: Boxes,
    rays: NDArray[np.float64],
) -> Rounds:
    """Ends of cylinders, seen from outside only; `outward` are their unit normals, (n, 3)."""
    height = np.einsum("ni,ni->n", outward, centers)
    safe = np.where(height < 0, height, -1.0)
    inverse = np.einsum("ni,nij->nj", outward, rays) / safe[:, None]
    # From the center to the point, times s; within the radius where radius^2 s^2 is larger.
    off = rays - centers[:, :, None] * inverse[:, None, :]
    inside = radii[:, None, None] ** 2 * inverse[:, :, None] * inverse[:, None, :] - np.swapaxes(off, 1, 2) @ off
    forms = np.stack([linear(inverse), quadratic(inside)], axis=1)
    normals = Normals(np.zeros((len(centers), 3, 3)), -outward)
    return Rounds(forms, boxes, height < 0, [], normals)


def _near_side(
    rays: NDArray[np.float64], center: NDArray[np.float64], power: NDArray[np.float64]
) -> NDArray[np.float32]:
    """What stands under the root, and before it, divided by `power`; (n, 2, 3, 3)."""
    safe = np.where(power > 0, power, 1.0)[:, None]
    middle = np.einsum("ni,nij->nj", center, rays) / safe
    under = middle[:, :, None] * middle[:, None, :] - np.swapaxes(rays, 1, 2) @ rays / safe[:, :, None]
    return np.stack([quadratic(under), linear(middle)], axis=1)


def draw_balls(canvas: Canvas, frame: Frame, balls: Rounds, first: int) -> None:
    """Draws balls and ellipsoids; their parts are numbered from `first`."""
    for index, box, at, cut in balls.boxes.each(balls.ready):
        s, middle = canvas.forms(balls.forms[index], box, at)
        np.sqrt(s, out=s)  # not a number beside the object, which compares as False
        s += middle
        seen = s > canvas.cut(box)[0]
        canvas.put(box, s, seen, first + index, 1 / frame.near if cut else None)


def draw_walls(canvas: Canvas, frame: Frame, parts: Rounds, first: int) -> None:
    """Draws walls of cylinders; their parts are numbered from `first`."""
    for index, box, at, cut in parts.boxes.each(parts.ready):
        s, middle, along = canvas.forms(parts.forms[index], box, at)
        np.sqrt(s, out=s)
        s += middle
        seen = s > canvas.cut(box)[0]
        np.multiply(s, parts.limits[index], out=middle)
        along -= middle
        seen &= np.abs(along, out=along) <= s
        canvas.put(box, s, seen, first + index, 1 / frame.near if cut else None)


def draw_discs(canvas: Canvas, frame: Frame, parts: Rounds, first: int) -> None:
    """Draws ends of cylinders; their parts are numbered from `first`."""
    for index, box, at, cut in parts.boxes.each(parts.ready):
        s, inside = canvas.forms(parts.forms[index], box, at)
        seen = s > canvas.cut(box)[0]
        seen &= inside >= 0
        canvas.put(box, s, seen, first + index, 1 / frame.near if cut else None)
