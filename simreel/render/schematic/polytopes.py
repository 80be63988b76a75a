"""Boxes and the hulls of meshes: what planes bound.

Over the plane with normal `n` through the point `f` (relative to the eye) the inverse depth is `(n.d) / (n.f)`, linear
in the pixel. A ray enters a convex body where it has crossed all planes that face the eye, and has not yet crossed one
that faces away: at the least `s` of the first, if that is not less than the greatest of the others (Kay and Kajiya
1986, Ray tracing complex scenes, with s for t).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simreel.render.schematic.canvas import Box, Canvas
    from simreel.render.schematic.frame import Boxes, Frame

__all__ = ["draw_polytopes", "plane_forms"]

# Closer than this [m] the eye is in a plane.
_LEAST = 1e-12

# The most numbers that the planes of one body take at once; larger boxes are drawn in strips.
_ROOM = 1 << 21


def plane_forms(
    normals: NDArray[np.float64], heights: NDArray[np.float64], rays: NDArray[np.float64]
) -> NDArray[np.float32]:
    """The linear forms (n, 3) of the inverse depth over planes.

    Args:
        normals: (n, 3).
        heights: `n.f` of each, (n,).
        rays: (n, 3, 3), as `Frame.rays_at` gives them.
    """
    # With the eye in the plane itself, all that is before the eye is on one side of it.
    safe = np.where(heights < -_LEAST, heights, np.maximum(heights, _LEAST))
    forms: NDArray[np.float64] = np.einsum("ni,nij->nj", normals, rays) / safe[:, None]
    return forms.astype(np.float32)


def draw_polytopes(
    canvas: Canvas,
    frame: Frame,
    forms: NDArray[np.float32],
    heights: NDArray[np.float64],
    first_plane: list[int],
    boxes: Boxes,
    first: int,
) -> None:
    """Draws bodies.

    Args:
        canvas: where.
        frame: the picture.
        forms: of all planes, (n, 3), body after body.
        heights: as given to `plane_forms`, (n,).
        first_plane: the number of each body's first plane, and of all planes.
        boxes: of the bodies.
        first: the number of the first part; each plane is one.
    """
    for index, (top, bottom, left, right), at, cut in boxes.each():
        begin, end = first_plane[index], first_plane[index + 1]
        near = heights[begin:end] < -_LEAST
        front = np.flatnonzero(near)
        if len(front) == 0:
            continue  # the eye is inside
        mine = forms[begin:end]
        limit = 1 / frame.near if cut else np.inf
        rows = max(1, _ROOM // ((end - begin) * (right - left)))
        for row in range(top, bottom, rows):
            strip = (row, min(row + rows, bottom), left, right)
            _draw(canvas, strip, at, mine[front], mine[~near], first + begin + front, limit)


def _draw(
    canvas: Canvas,
    box: Box,
    center: tuple[int, int],
    front: NDArray[np.float32],
    back: NDArray[np.float32],
    parts: NDArray[np.int64],
    limit: float,
) -> None:
    inverse, part = canvas.cut(box)
    enter = canvas.planes(front, box, center)
    s = enter.min(axis=0)
    seen = s > inverse
    if len(back):
        seen &= s >= canvas.planes(back, box, center).max(axis=0)
    if limit < np.inf:
        seen &= s < limit
    np.copyto(inverse, s, where=seen)
    if len(front) <= 3:
        for number, plane in zip(parts.tolist(), enter, strict=True):
            here = plane == s
            here &= seen
            np.copyto(part, number, where=here)
        return
    pixels = np.flatnonzero(seen)
    part[seen] = parts[enter.reshape(len(front), -1)[:, pixels].argmin(axis=0)]
