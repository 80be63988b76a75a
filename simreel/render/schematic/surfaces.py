"""What is made of triangles: cloth and other flexes, and height fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simreel.render.schematic.triangles import draw_triangles, rasterize, smooth_normals, triangle_normals

if TYPE_CHECKING:
    import mujoco
    from numpy.typing import NDArray

    from simreel.render.schematic.canvas import Canvas
    from simreel.render.schematic.frame import Frame
    from simreel.render.schematic.rounds import Normals
    from simreel.render.schematic.shadows import Shadows

__all__ = ["Fields", "Flexes", "Triangles"]


class Triangles:
    """Triangles in one state, as one picture sees them.

    Args:
        frame: the picture.
        points: the corners, (n, 3), in the world.
        faces: which three make a triangle, (k, 3).
        owner: the item that each belongs to, (k,).
        flat: whether each is lit as a plane, not as part of a smooth surface, (k,); None is no.
    """

    def __init__(
        self,
        frame: Frame,
        points: NDArray[np.float64],
        faces: NDArray[np.int64],
        owner: NDArray[np.int64],
        flat: NDArray[np.bool_] | None = None,
    ) -> None:
        self._frame = frame
        self.owner = owner
        self._corners = self._at_corners = np.empty((0, 3, 3))
        if len(faces):
            points = points - frame.pos
            self._corners = points[faces]
            self._at_corners = smooth_normals(points, faces)[faces]
            if flat is not None and flat.any():
                corner, one, two = self._corners[flat].transpose(1, 0, 2)
                self._at_corners[flat] = np.cross(one - corner, two - corner)[:, None]

    @property
    def normals(self) -> Normals:
        """Of each triangle."""
        return triangle_normals(self._corners, self._at_corners)

    def draw(self, canvas: Canvas, first: int) -> None:
        """Draws all, with parts numbered from `first`."""
        draw_triangles(canvas, self._frame, self._corners, first + np.arange(len(self._corners)))

    def cast(self, shadows: Shadows) -> None:
        """Casts the shadows of those that are above the ground."""
        ground = shadows.ground
        above = (self._corners @ ground.normal > ground.height).any(axis=1)
        for _, row, column, _ in rasterize(self._frame, ground.along(self._corners[above])):
            shadows.pixels(row, column)


class Flexes:
    """The flexes of a model; those of one dimension are bars."""

    def __init__(self, model: mujoco.MjModel, flexes: NDArray[np.int64]) -> None:
        faces, edges = [np.empty((0, 3), np.int64)], [np.empty((0, 2), np.int64)]
        owner: list[NDArray[np.int64]] = []
        bar_owner: list[NDArray[np.int64]] = []
        for item, flex in enumerate(flexes):
            first = model.flex_vertadr[flex]
            dim = model.flex_dim[flex]
            # A solid's outside is its shell; the elements of cloth are triangles themselves.
            if dim == 3:
                start, count, flat = model.flex_shelldataadr[flex], model.flex_shellnum[flex], model.flex_shell
            else:
                start, count, flat = model.flex_elemdataadr[flex], model.flex_elemnum[flex], model.flex_elem
            corners = 2 if dim == 1 else 3
            mine = first + flat[start : start + count * corners].reshape(-1, corners).astype(np.int64)
            (edges if dim == 1 else faces).append(mine)
            (bar_owner if dim == 1 else owner).append(np.full(count, item))
        self.faces = np.concatenate(faces)
        self.face_owner = np.concatenate([np.empty(0, np.int64), *owner])
        self.face_flat = model.flex_dim[flexes[self.face_owner]] == 3
        """Solids have edges; cloth has none."""
        self.edges = np.concatenate(edges)
        self.bar_owner = np.concatenate([np.empty(0, np.int64), *bar_owner])
        self.bar_radius = np.maximum(model.flex_radius[flexes[self.bar_owner]], 1e-9)

    def points(self, data: mujoco.MjData) -> NDArray[np.float64]:
        """The vertices in the world, (n, 3)."""
        return np.asarray(data.flexvert_xpos).reshape(-1, 3)


class Fields:
    """The height fields of a model, with their sides; not their bottoms."""

    def __init__(self, model: mujoco.MjModel, geoms: NDArray[np.int64]) -> None:
        self._geoms = geoms
        self._points = [np.empty((0, 3))]
        faces, owner = [np.empty((0, 3), np.int64)], []
        first = 0
        for item, geom in enumerate(geoms):
            points, face = _field(model, int(model.geom_dataid[geom]))
            self._points.append(points)
            faces.append(first + face)
            owner.append(np.full(len(face), item))
            first += len(points)
        self.faces = np.concatenate(faces)
        self.face_owner = np.concatenate([np.empty(0, np.int64), *owner])

    def points(self, data: mujoco.MjData) -> NDArray[np.float64]:
        """The vertices in the world, (n, 3)."""
        placed = [np.empty((0, 3))]
        for points, geom in zip(self._points[1:], self._geoms, strict=True):
            placed.append(data.geom_xpos[geom] + points @ data.geom_xmat[geom].reshape(3, 3).T)
        return np.concatenate(placed)


def _field(model: mujoco.MjModel, field: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rows, columns = int(model.hfield_nrow[field]), int(model.hfield_ncol[field])
    half_x, half_y, top, base = map(float, model.hfield_size[field])
    start = model.hfield_adr[field]
    height = model.hfield_data[start : start + rows * columns].reshape(rows, columns) * top
    x, y = np.meshgrid(np.linspace(-half_x, half_x, columns), np.linspace(-half_y, half_y, rows))
    points = np.stack([x, y, height], axis=-1).reshape(-1, 3)
    number = np.arange(rows * columns).reshape(rows, columns)
    # Each cell is cut along the same diagonal as MuJoCo's rays cut it.
    here, right, below, across = number[:-1, :-1], number[:-1, 1:], number[1:, :-1], number[1:, 1:]
    tops = [np.stack([here, right, across], -1), np.stack([here, across, below], -1)]
    # Around the edge, down to the base, with points of its own: the edge is sharp.
    rim = np.concatenate([number[0], number[1:, -1], number[-1, -2::-1], number[-2:0:-1, 0]])
    upper, lower = points[rim], points[rim] * (1, 1, 0) - (0, 0, base)
    high = len(points) + np.arange(len(rim))
    low = high + len(rim)
    sides = [np.stack([high, low, np.roll(low, -1)], -1), np.stack([high, np.roll(low, -1), np.roll(high, -1)], -1)]
    faces = np.concatenate([face.reshape(-1, 3) for face in (*tops, *sides)])
    return np.concatenate([points, upper, lower]), faces
