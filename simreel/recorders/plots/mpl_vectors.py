"""Vector fields, drawn by matplotlib as arrows, and twists as bent ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from simreel.recorders.plots.mpl_texts import MPLFont, add_title
from simreel.recorders.plots.plotter import Plotter, Samples

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure
    from matplotlib.quiver import Quiver

__all__ = ["MPLVectors", "bent_arrows", "plane_of"]

Array = np.ndarray[Any, Any]

# Points of a bent arrow without its head.
_POINTS = 32
# Of the distance to the nearest other position: circles of neighbours do not meet.
_RADIUS = 0.3
# What the numbers and names at the axes of a plot take, about [px].
_FRAME = 80
# More would cover its own start.
_MAX_TURNS = 0.9
# Less would be a dot.
_MIN_TURNS = 0.01


def plane_of(normal: Any) -> Array:
    """The directions to the right and up, (2, 3), of a plane that is seen from where its normal points.

    Up is the z axis, or the y axis where the normal is along z.
    """
    n = np.asarray(normal, float) / np.linalg.norm(normal)
    up = np.array([0.0, 0, 1]) if abs(n[2]) < 0.999 else np.array([0.0, 1, 0])
    up = up - n * (up @ n)
    up /= np.linalg.norm(up)
    return np.array([np.cross(up, n), up])


def bent_arrows(centers: Array, turns: Array, radius: float) -> Array:
    """Arcs around points, counterclockwise where `turns` is above 0, with a head.

    Args:
        centers: (N, 2).
        turns: (N,), how much of a circle each makes.
        radius: of all arcs.

    Returns:
        (N, 35, 2) points; NaN where there is next to no turn.
    """
    turns = np.clip(np.where(np.abs(turns) < _MIN_TURNS, np.nan, turns), -_MAX_TURNS, _MAX_TURNS)[:, None]
    angles = np.pi / 2 + 2 * np.pi * turns * np.linspace(0, 1, _POINTS)
    arcs = radius * np.stack([np.cos(angles), np.sin(angles)], -1)
    # The head grows with the arc, up to a fourth of the radius.
    end, along = angles[:, -1:], np.sign(turns)
    size = 0.35 * radius * np.minimum(1, 8 * np.abs(turns))
    back = end + np.pi / 2 - np.pi * (along > 0)
    wings = [arcs[:, -1] + size * np.hstack([np.cos(back + bend), np.sin(back + bend)]) for bend in (-0.5, 0.5)]
    points = [arcs, wings[0][:, None], arcs[:, -1:], wings[1][:, None]]
    return np.asarray(centers[:, None] + np.concatenate(points, axis=1))


class MPLVectors(Plotter):
    """K plots side by side, in the plane across the normal."""

    def setup(self, surface: Figure, first: Samples) -> None:
        """Makes the arrows."""
        del first
        options = self.options
        self._normal = np.asarray(options.normal, float) / np.linalg.norm(options.normal)
        self._plane = plane_of(options.normal)
        self._points = np.asarray(options.positions, float) @ self._plane.T
        self._radius = _RADIUS * _spacing(self._points)
        self._margin = max(options.scale_factor * options.max_magnitude, 1.5 * self._radius)
        titles = options.subplot_titles or [""]
        rows, columns = _grid(len(titles), np.ptp(self._points, axis=0) + 2 * self._margin, options.window_size)
        if len(titles) == 1 and options.twist_scale_factor is None:
            # It knows of proportions; of more colour bars or plots it cuts the names.
            surface.set_layout_engine("compressed")
        add_title(surface, options.title)
        all_axes = list(surface.subplots(rows, columns, squeeze=False).flat)
        for axes in all_axes[len(titles) :]:
            axes.remove()
        font, room = MPLFont(surface, "large"), surface.bbox.width / columns - _FRAME
        titles = [font.wrapped(title, room) for title in titles]
        self._arrows = [self._make_arrows(axes, title) for axes, title in zip(all_axes, titles, strict=False)]
        shown = all_axes[: len(titles)]
        surface.colorbar(self._arrows[0], ax=shown, label="magnitude", extend="max", shrink=0.8)
        self._bends: list[LineCollection] = []
        if options.twist_scale_factor is not None:
            self._bends = [self._make_bends(axes) for axes in shown]
            surface.colorbar(self._bends[0], ax=shown, label="twist", extend="both", shrink=0.8)

    def _make_arrows(self, axes: Axes, title: str) -> Quiver:
        options, zeros = self.options, np.zeros(len(self._points))
        low, high = self._points.min(0) - self._margin, self._points.max(0) + self._margin
        axes.set_xlim(low[0], high[0])
        axes.set_ylim(low[1], high[1])
        axes.set_aspect("equal")
        axes.set_title(title)
        axes.set_xlabel(_axis_name(self._plane[0]))
        axes.set_ylabel(_axis_name(self._plane[1]))
        # Of both colour maps no part is pale.
        return axes.quiver(
            *self._points.T,
            zeros,
            zeros,
            zeros,
            angles="xy",
            scale_units="xy",
            scale=1 / options.scale_factor,
            clim=(0, options.max_magnitude),
            cmap="turbo",
            width=0.005,
            animated=True,
        )

    def _make_bends(self, axes: Axes) -> LineCollection:
        from matplotlib.collections import LineCollection

        limit = self.options.twist_max_magnitude
        bends = LineCollection([], cmap="berlin", linewidths=1.8, animated=True)
        bends.set_clim(-limit, limit)
        axes.add_collection(bends, autolim=False)
        return bends

    def draw(self, samples: Samples) -> None:
        """Turns the arrows."""
        options = self.options
        data = np.asarray(samples.newest, float)
        vectors, twists = data if self._bends else (data, None)
        vectors = vectors.reshape(-1, len(self._points), 3)
        sizes = np.linalg.norm(vectors, axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            shown = vectors * np.minimum(1, options.max_magnitude / sizes)[..., None]
        flat = np.where(sizes[..., None] > 0, shown, 0) @ self._plane.T
        for arrows, ends, size in zip(self._arrows, flat, sizes, strict=True):
            right, up = np.ma.masked_invalid(ends.T)
            arrows.set_UVC(right, up, size)
        if twists is None:
            return
        around = (twists @ self._normal).reshape(-1, len(self._points))
        limit = options.twist_max_magnitude
        for bends, turns in zip(self._bends, around, strict=True):
            clipped = np.clip(turns, -limit, limit) * options.twist_scale_factor
            bends.set_segments(list(bent_arrows(self._points, clipped, self._radius)))
            bends.set_array(turns)


def _grid(count: int, extent: Array, size: list[int]) -> tuple[int, int]:
    """Rows and columns in which so many plots of that extent are largest in a window."""

    def scale(columns: int) -> float:
        width, height = size[0] / columns - _FRAME, size[1] / -(-count // columns) - _FRAME
        return float(min(width / extent[0], height / extent[1]))

    columns = max(range(1, count + 1), key=scale)
    return -(-count // columns), columns


def _spacing(points: Array) -> float:
    """The median distance of a point to its nearest neighbour, or 1 where there is none."""
    if len(points) < 2:
        return 1.0
    nearest = []
    for i, point in enumerate(points):
        distances = np.linalg.norm(points - point, axis=1)
        distances[i] = np.inf
        nearest.append(distances.min())
    return float(np.median(nearest)) or 1.0


def _axis_name(direction: Array) -> str:
    for name, unit in zip("xyz", np.eye(3), strict=True):
        for sign in (1, -1):
            if np.allclose(direction, sign * unit):
                return f"{'-' * (sign < 0)}{name} [m]"
    return "[m] along (" + ", ".join(f"{part:.2g}" for part in direction) + ")"
