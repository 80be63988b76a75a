"""One picture's geometry: the rays of the pixels, and where on the screen an object can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from simreel.render.schematic.canvas import Box
    from simreel.render.view import Eye

__all__ = ["Boxes", "Frame", "union"]

# How far from the eye an orthographic view is taken, in multiples of the depth of what it can see. Its rays are then
# parallel to 1 part in that many, and float32 still resolves the depth.
_ORTHOGRAPHIC_DISTANCE = 300.0


class Boxes:
    """Where objects can be on the screen.

    Args:
        edges: first row, row after the last, first column, column after the last; (n, 4).
        middles: a row and column of the picture near the middle of each, (n, 2).
        seen: whether an object can be in the picture at all, (n,).
        cut: whether the near plane may cut it, (n,).
    """

    def __init__(
        self,
        edges: NDArray[np.int64],
        middles: NDArray[np.int64],
        seen: NDArray[np.bool_],
        cut: NDArray[np.bool_],
    ) -> None:
        self.edges, self.middles, self.seen, self.cut = edges, middles, seen, cut

    def __getitem__(self, which: slice) -> Boxes:
        return Boxes(self.edges[which], self.middles[which], self.seen[which], self.cut[which])

    def __len__(self) -> int:
        return len(self.edges)

    def each(self, ready: NDArray[np.bool_] | None = None) -> Iterator[tuple[int, Box, tuple[int, int], bool]]:
        """The number, box, middle and `cut` of each object that can be seen, and is ready."""
        which = np.flatnonzero(self.seen if ready is None else self.seen & ready)
        lists = (which, self.edges[which], self.middles[which], self.cut[which])
        for index, box, middle, cut in zip(*(one.tolist() for one in lists), strict=True):
            yield index, tuple(box), tuple(middle), cut

    def around(self) -> Box | None:
        """The least box around all that can be seen."""
        some = self.edges[self.seen]
        if not len(some):
            return None
        (top, _, left, _), (_, bottom, _, right) = some.min(axis=0).tolist(), some.max(axis=0).tolist()
        return top, bottom, left, right


class Frame:
    """The eye, with its rays: the pixel in column `j` and row `i` looks along `rays @ (j, i, 1)`.

    Args:
        eye: where the picture is taken from.
        size: width and height [pixels].
        reach: how far from the eye an orthographic view has anything to see [m].
    """

    def __init__(self, eye: Eye, size: tuple[int, int], reach: float) -> None:
        left, right, bottom, top = eye.span
        near, far = eye.clip
        self.offset = 0.0
        """What to take from a depth to have it from the near side of the view, not from the eye [m]."""
        pos = eye.pos
        if eye.orthographic:
            # Seen from far away through a narrow picture.
            self.offset = distance = _ORTHOGRAPHIC_DISTANCE * reach
            left, right, bottom, top = (edge / distance for edge in (left, right, bottom, top))
            near, far, pos = near + distance, far + distance, pos - distance * eye.axes[2]
        self.pos, self.axes, self.near, self.far = pos, eye.axes, near, far
        self.size = width, height = size
        self._step = ((right - left) / width, (top - bottom) / height)
        self._corner = (left + self._step[0] / 2, top - self._step[1] / 2)
        pixels = np.array([[self._step[0], 0, self._corner[0]], [0, -self._step[1], self._corner[1]], [0, 0, 1]])
        self.rays: NDArray[np.float64] = self.axes.T @ pixels
        # For edges: top, bottom, left, right.
        self._origin = np.array([-self._corner[1], -self._corner[1], self._corner[0], self._corner[0]])[:, None]
        self._scale = np.array([self._step[1], self._step[1], self._step[0], self._step[0]])[:, None]
        self._limit = np.array([height, height, width, width])[:, None]

    def rays_at(self, center: NDArray[np.int64]) -> NDArray[np.float64]:
        """The rays, (n, 3, 3), in columns and rows that are counted from each of the pixels (n, 2) of (row, column)."""
        rays = np.empty((len(center), 3, 3))
        rays[:] = self.rays
        rays[:, :, 2] += center @ self.rays[:, 1::-1].T
        return rays

    def around_points(self, points: NDArray[np.float64]) -> Boxes:
        """The boxes of convex objects.

        Args:
            points: (n, k, 3) relative to the eye, whose hulls hold the objects.
        """
        x, y, z = (points @ self.axes.T).transpose(2, 0, 1)
        low, high = z.min(axis=1), z.max(axis=1)
        # Points behind the eye have no place on the screen: such an object may be anywhere on it.
        whole = low <= 1e-3 * self.near
        z = np.where(whole[:, None], 1.0, z)
        x, y = x / z, y / z
        return self._boxes(x.min(1), x.max(1), y.min(1), y.max(1), low, high, whole)

    def around_balls(self, centers: NDArray[np.float64], radii: NDArray[np.float64]) -> NDArray[np.float64]:
        """The exact bounds of balls at unit depth; infinite where the eye's own plane cuts the ball.

        The lines through the eye that touch a ball, seen from the side, are the roots of a quadratic.

        Args:
            centers: (n, 3), relative to the eye.
            radii: (n,).

        Returns:
            (6, n): least x, y and depth, then the largest with their signs turned: joined by the least of each.
        """
        x, y, z = (centers @ self.axes.T).T
        square = z * z - radii**2
        whole = z <= radii
        square[whole] = 1.0
        sides = np.array([x, y])
        root = radii * np.sqrt(np.maximum(sides * sides + square, 0))
        middle = sides * z
        bounds = np.empty((6, len(centers)))
        bounds[0:2], bounds[3:5] = (middle - root) / square, (-middle - root) / square
        bounds[2], bounds[5] = z - radii, -z - radii
        if whole.any():
            bounds[:2, whole] = bounds[3:5, whole] = -np.inf
        return bounds

    def boxes(self, bounds: NDArray[np.float64]) -> Boxes:
        """The boxes of bounds as `around_balls` gives them."""
        left, bottom, low, right, top, high = bounds
        whole = np.isneginf(left)
        if whole.any():
            left, bottom, right, top = (np.where(whole, 0.0, one) for one in (left, bottom, right, top))
        return self._boxes(left, -right, bottom, -top, low, -high, whole)

    def _boxes(
        self,
        left: NDArray[np.float64],
        right: NDArray[np.float64],
        bottom: NDArray[np.float64],
        top: NDArray[np.float64],
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        whole: NDArray[np.bool_],
    ) -> Boxes:
        width, height = self.size
        # Of pixel centers; a pixel more on each side keeps rounding errors out.
        edges = np.array([-top, -bottom, left, right])
        edges -= self._origin
        edges /= self._scale
        edges[1::2] += 2
        np.clip(edges, 0, self._limit, out=edges)
        if whole.any():
            edges[:, whole] = [[0], [height], [0], [width]]
        whole_edges = edges.astype(np.int64)
        middles = (whole_edges[::2] + whole_edges[1::2]) // 2
        np.minimum(middles, [[height - 1], [width - 1]], out=middles)
        seen = (high > self.near) & (low < self.far) & (whole_edges[::2] < whole_edges[1::2]).all(axis=0)
        return Boxes(whole_edges.T, middles.T, seen, low < self.near)


def union(first: Box | None, second: Box) -> Box:
    """The least box around two."""
    if first is None:
        return second
    return (
        min(first[0], second[0]),
        max(first[1], second[1]),
        min(first[2], second[2]),
        max(first[3], second[3]),
    )
