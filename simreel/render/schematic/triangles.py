"""Triangles of cloth, height fields and other surfaces, many at once.

With the corners as the columns of M (relative to the eye), a ray `d` meets the triangle where all of `M^-1 d` is
positive, and the sum of them is the inverse depth: all linear in the pixel, whether or not a corner lies behind the eye
(Olano and Greer 1997, Triangle scan conversion using 2D homogeneous coordinates).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simreel.render.schematic.rounds import Normals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from simreel.render.schematic.canvas import Canvas
    from simreel.render.schematic.frame import Frame

__all__ = ["draw_triangles", "rasterize", "smooth_normals", "triangle_normals"]

# The most pixels that are tried at once.
_ROOM = 1 << 18


def rasterize(
    frame: Frame, corners: NDArray[np.float64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]]:
    """The pixels that see each triangle, in some order, in pieces.

    Args:
        frame: the picture.
        corners: (n, 3, 3), corner after corner, relative to the eye.

    Yields:
        The triangle, row, column and inverse depth of each, (k,).
    """
    if len(corners) == 0:
        return
    boxes = frame.around_points(corners)
    box, middles = boxes.edges, boxes.middles
    columns = np.swapaxes(corners, 1, 2)
    # From the edge it is a line and is not seen.
    volume = np.abs(np.linalg.det(columns))
    visible = boxes.seen & (volume > 1e-12 * np.prod(np.linalg.norm(corners, axis=2), axis=1))
    size = np.maximum(box[:, 1] - box[:, 0], box[:, 3] - box[:, 2])
    # Triangles of like size are tried together, each on a square that holds it.
    level = np.ceil(np.log2(np.maximum(size, 1))).astype(np.int64)
    for side in np.unique(level[visible]):
        group = np.flatnonzero(visible & (level == side))
        edge = 1 << int(side)
        count = max(1, _ROOM // (edge * edge))
        for start in range(0, len(group), count):
            some = group[start : start + count]
            yield from _try(frame, some, columns[some], middles[some], box[some], edge)


def _try(
    frame: Frame,
    which: NDArray[np.int64],
    columns: NDArray[np.float64],
    middles: NDArray[np.int64],
    box: NDArray[np.int64],
    edge: int,
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]]:
    shares = (np.linalg.inv(columns) @ frame.rays_at(middles)).astype(np.float32)  # (n, 3, 3): corner, (j, i, 1)
    rows = box[:, :1] + np.arange(edge)
    cols = box[:, 2:3] + np.arange(edge)
    i, j = (rows - middles[:, :1]).astype(np.float32), (cols - middles[:, 1:]).astype(np.float32)
    least: NDArray[np.float32] | None = None
    for corner in range(3):
        a, b, c = (shares[:, corner, k, None] for k in range(3))
        value = (b * i + c)[:, :, None] + (a * j)[:, None, :]
        least = value if least is None else np.minimum(least, value, out=least)
    assert least is not None
    inside = least >= 0
    inside &= (rows < box[:, 1:2])[:, :, None]
    inside &= (cols < box[:, 3:4])[:, None, :]
    triangle, row, col = np.nonzero(inside)
    a, b, c = shares.sum(axis=1).T
    s = a[triangle] * j[triangle, col] + b[triangle] * i[triangle, row] + c[triangle]
    yield which[triangle], rows[triangle, row], cols[triangle, col], s


def draw_triangles(canvas: Canvas, frame: Frame, corners: NDArray[np.float64], parts: NDArray[np.int64]) -> None:
    """Draws triangles (n, 3, 3) from both sides, as the parts (n,)."""
    inverse, part = canvas.inverse.ravel(), canvas.part.ravel()
    for triangle, row, column, s in rasterize(frame, corners):
        pixel = row * canvas.width + column
        seen = (s > inverse[pixel]) & (s < 1 / frame.near)
        pixel, triangle, s = pixel[seen], triangle[seen], s[seen]
        nearest = np.argsort(s, kind="stable")  # of several at one pixel, numpy keeps the last
        pixel, triangle, s = pixel[nearest], triangle[nearest], s[nearest]
        inverse[pixel] = s
        part[pixel] = parts[triangle]


def smooth_normals(points: NDArray[np.float64], faces: NDArray[np.int64]) -> NDArray[np.float64]:
    """The normals at the points (n, 3) of a surface with the triangles (k, 3): of their triangles, by area."""
    one, two, three = (points[faces[:, corner]] for corner in range(3))
    normal = np.cross(two - one, three - one)
    out = np.empty_like(points)
    for axis in range(3):
        out[:, axis] = np.bincount(faces.ravel(), np.repeat(normal[:, axis], 3), minlength=len(points))
    length = np.linalg.norm(out, axis=1)
    out[length == 0] = (0, 0, 1)
    return out / np.where(length == 0, 1, length)[:, None]


def triangle_normals(corners: NDArray[np.float64], normals: NDArray[np.float64]) -> Normals:
    """The normals between the corners (n, 3, 3), which have the normals (n, 3, 3): the linear maps that hold there."""
    columns = np.swapaxes(corners, 1, 2)
    volume = np.linalg.det(columns)
    thin = np.abs(volume) < 1e-30
    columns[thin] = np.eye(3)  # not drawn
    return Normals(np.swapaxes(normals, 1, 2) @ np.linalg.inv(columns), np.zeros((len(corners), 3)))
