"""The pictures of one view: the still part of them is kept while the view stands still too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from simreel.render.schematic.backdrop import SHADOW
from simreel.render.schematic.canvas import BACKGROUND, Canvas
from simreel.render.schematic.frame import Frame
from simreel.render.schematic.lighting import Lights, Surface, lights_of
from simreel.render.schematic.shadows import Ground, Shadows
from simreel.render.schematic.shapes import Shapes
from simreel.render.schematic.surfaces import Triangles
from simreel.render.schematic.world import World, body_objects, objects
from simreel.render.view import Eye, View, eye_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simreel.render.base import Asked
    from simreel.render.schematic.canvas import Box

__all__ = ["Layer"]


@dataclass(frozen=True)
class _Kept:
    """A picture of what stands still."""

    inverse: NDArray[np.float32]
    part: NDArray[np.int32]
    rgb: NDArray[np.uint8]


@dataclass(frozen=True)
class _Light:
    """How one picture is lit."""

    lights: Lights
    table: NDArray[np.uint8]
    """The colours of the backdrop."""
    ground: Ground | None


class Layer:
    """One view of a world."""

    def __init__(self, model: mujoco.MjModel, world: World, view: View) -> None:
        self._model, self._world, self._view = model, world, view
        self._canvas = Canvas(view.size)
        width, height = view.size
        self._whole = (0, height, 0, width)
        pixels = width * height
        self._numbers = np.zeros((height, width), np.intp)
        self._dark = np.zeros((height, width), bool)
        self._row = np.repeat(np.arange(height, dtype=np.float32), width)
        self._column = np.tile(np.arange(width, dtype=np.float32), height)
        self._span: tuple[float, ...] | None = None
        self._slant = np.empty(pixels, np.float32)
        self._dark_part = (slice(0, 0), slice(0, 0))
        self._next_part = 0
        self._still_owner = self._field_owner = np.empty(0, np.int64)
        self._key: bytes | None = None
        self._kept: _Kept | None = None
        self._table_key = b""
        self._table = np.empty((0, 3), np.uint8)
        self._still_colors = world.body_colors(world.still)
        self._moving_colors = world.body_colors(world.moving)
        self._clear_colors = world.body_colors(world.clear)
        self._field_colors = world.field_colors()
        self._flex_colors = world.flex_colors()

    def draw(self, data: mujoco.MjData, asked: Asked) -> tuple[NDArray[np.generic], ...]:
        """The pictures of a state, as `Renderer.render` gives them."""
        model, world, canvas = self._model, self._world, self._canvas
        eye = eye_of(model, data, self._view)
        # An orthographic view has room for what is within its clip range of the model's middle.
        reach = 2 * float(model.stat.extent) + float(np.linalg.norm(eye.pos - model.stat.center))
        frame = Frame(eye, self._view.size, reach)
        self._fit_slant(eye)
        light = self._light(frame, data)

        rgb, first = self._draw_still(eye, frame, data, light)
        ends, radii, bar_colors, bar_objects = world.bars(data)
        moving = Shapes(frame, world.moving, data, (ends, radii))
        flexes = world.cloth
        cloth = Triangles(frame, flexes.points(data), flexes.faces, flexes.face_owner, flexes.face_flat)
        clear = Shapes(frame, world.clear, data)
        second = first + len(moving.owner)
        third = second + len(cloth.owner)
        self._cast(frame, light, moving, cloth)
        box = moving.draw(canvas, first)
        cloth.draw(canvas, second)
        if asked.rgb:
            self._darken(rgb, light)
            self._shade(rgb, frame, light, moving, np.concatenate([self._moving_colors, bar_colors]), first, box)
            self._shade(rgb, frame, light, cloth, self._flex_colors, second, self._whole)
        box = clear.draw(canvas, third)
        if asked.rgb:
            self._shade(rgb, frame, light, clear, self._clear_colors, third, box, world.alphas)

        pictures: list[NDArray[np.generic]] = []
        if asked.rgb:
            pictures.append(rgb)
        if asked.depth:
            depth = 1 / canvas.inverse
            pictures.append(np.minimum(depth - np.float32(frame.offset), np.float32(eye.clip[1])))
        if asked.segmentation:
            things = [*self._still_objects(), np.concatenate([body_objects(world.moving), bar_objects])[moving.owner]]
            things.append(objects(world.flexes[cloth.owner], mujoco.mjtObj.mjOBJ_FLEX))
            things.append(body_objects(world.clear)[clear.owner])
            # The last row is where nothing is: that part is number -1.
            table = np.concatenate([*things, np.full((1, 2), BACKGROUND, np.int32)])
            pictures.append(table[canvas.part])
        return tuple(pictures)

    # What stands still: planes, sky, height fields, and bodies that are fixed to the world.

    def _draw_still(self, eye: Eye, frame: Frame, data: mujoco.MjData, light: _Light) -> tuple[NDArray[np.uint8], int]:
        """Draws it, or takes what is kept. Returns a new picture and the number of the next part."""
        canvas, world = self._canvas, self._world
        fixed = world.still
        key = b"".join(
            np.asarray(value).tobytes()
            for value in (
                *(eye.pos, eye.axes, eye.span, eye.clip),
                *(data.geom_xpos[fixed.geoms], data.geom_xmat[fixed.geoms]),
                *(data.site_xpos[fixed.sites], data.site_xmat[fixed.sites]),
                *(data.geom_xpos[world.backdrop.geoms], data.geom_xmat[world.backdrop.geoms]),
                *(data.geom_xpos[world.field_geoms], data.geom_xmat[world.field_geoms]),
                *(light.lights.toward, light.lights.ambient, light.lights.diffuse),
            )
        )
        if self._kept is not None and key == self._key:
            np.copyto(canvas.inverse, self._kept.inverse)
            np.copyto(canvas.part, self._kept.part)
            return self._kept.rgb.copy(), self._next_part
        canvas.inverse.fill(1 / frame.far)
        canvas.part.fill(BACKGROUND)
        world.backdrop.draw(canvas, frame, data, self._numbers, self._slant)
        first = len(world.backdrop)
        still = Shapes(frame, fixed, data)
        fields = Triangles(frame, world.fields.points(data), world.fields.faces, world.fields.face_owner)
        self._cast(frame, light, still, fields)
        rows, columns = self._dark_part
        dark = self._dark[rows, columns] & (canvas.part[rows, columns] == world.backdrop.ground_part)
        self._numbers[rows, columns] += SHADOW * dark
        self._dark[rows, columns] = False
        still.draw(canvas, first)
        second = first + len(still.owner)
        fields.draw(canvas, second)
        rgb = np.take(light.table, self._numbers, axis=0)
        self._shade(rgb, frame, light, still, self._still_colors, first, self._whole)
        self._shade(rgb, frame, light, fields, self._field_colors, second, self._whole)
        self._next_part = second + len(fields.owner)
        self._still_owner, self._field_owner = still.owner, fields.owner
        # A view that moves all the time is not worth keeping: only the second picture of a place is.
        self._kept = _Kept(canvas.inverse.copy(), canvas.part.copy(), rgb.copy()) if key == self._key else None
        self._key = key
        return rgb, self._next_part

    def _still_objects(self) -> list[NDArray[np.int32]]:
        world = self._world
        return [
            objects(world.backdrop.geoms, mujoco.mjtObj.mjOBJ_GEOM),
            body_objects(world.still)[self._still_owner],
            objects(world.field_geoms[self._field_owner], mujoco.mjtObj.mjOBJ_GEOM),
        ]

    # Light and shadow.

    def _light(self, frame: Frame, data: mujoco.MjData) -> _Light:
        lights = lights_of(self._model, data, frame.axes[2])
        ground = self._world.backdrop.ground(frame, data, lights)
        thrower = -1 if ground is None else ground[1]
        turns = data.geom_xmat[self._world.backdrop.geoms]
        lit = (lights.toward, lights.ambient, lights.diffuse, turns, np.array(thrower))
        key = b"".join(one.tobytes() for one in lit)
        if key != self._table_key:
            self._table_key = key
            self._table = self._world.backdrop.colors(data, lights, thrower)
        return _Light(lights, self._table, None if ground is None else ground[0])

    def _cast(self, frame: Frame, light: _Light, *things: Shapes | Triangles) -> None:
        """Marks in `_dark`, within `_dark_part`, where shadows of things can be seen if the ground can."""
        self._dark_part = (slice(0, 0), slice(0, 0))
        if light.ground is None:
            return
        shadows = Shadows(self._canvas, frame, light.ground, self._dark)
        for thing in things:
            if len(thing.owner):
                thing.cast(shadows)
        if shadows.box is not None:
            self._dark_part = (slice(*shadows.box[:2]), slice(*shadows.box[2:]))

    def _darken(self, rgb: NDArray[np.uint8], light: _Light) -> None:
        """Puts the shadows of what moves on the ground."""
        rows, columns = self._dark_part
        dark = self._dark[rows, columns]
        dark &= self._canvas.part[rows, columns] == self._world.backdrop.ground_part
        row, column = np.nonzero(dark)
        dark[:] = False
        pixels = (row + rows.start) * self._canvas.width + column + columns.start
        rgb.reshape(-1, 3)[pixels] = light.table[self._numbers.ravel()[pixels] | SHADOW]

    def _shade(
        self,
        rgb: NDArray[np.uint8],
        frame: Frame,
        light: _Light,
        thing: Shapes | Triangles,
        colors: NDArray[np.float64],
        first: int,
        box: Box | None,
        alphas: NDArray[np.float64] | None = None,
    ) -> None:
        """Puts the colours of a thing, whose parts are numbered from `first` and seen in `box`, into a picture.

        With `alphas`, one for each of its items, it is blended over what is there.
        """
        if box is None or not len(thing.owner):
            return
        canvas = self._canvas
        part = canvas.cut(box)[1]
        mine = part >= first
        mine &= part < first + len(thing.owner)
        row, column = np.nonzero(mine)
        if not len(row):
            return
        pixels = (row + box[0]) * canvas.width + column + box[2]
        which = canvas.part.ravel()[pixels] - first
        depth = 1 / canvas.inverse.ravel()[pixels]
        # The normals of closed bodies point to the eye wherever they are seen.
        surface = Surface(frame, thing.normals, thing.owner, colors, both_sides=isinstance(thing, Triangles))
        color = surface.shade(which, depth, self._row[pixels], self._column[pixels], light.lights)
        flat = rgb.reshape(-1, 3)
        if alphas is not None:
            alpha = alphas[thing.owner][which].astype(np.float32)[:, None]
            color = (flat[pixels] + (color - flat[pixels].astype(np.float32)) * alpha).astype(np.uint8)
        flat[pixels] = color

    def _fit_slant(self, eye: Eye) -> None:
        """How much shorter than its ray each pixel's depth is; it changes with the lens only."""
        if eye.span != self._span:
            self._span = eye.span
            left, right, bottom, top = (0.0,) * 4 if eye.orthographic else eye.span
            width, height = self._view.size
            x = left + (np.arange(width) + 0.5) * ((right - left) / width)
            y = top - (np.arange(height) + 0.5) * ((top - bottom) / height)
            self._slant = (1 / np.sqrt(1 + x * x + (y * y)[:, None])).astype(np.float32)
