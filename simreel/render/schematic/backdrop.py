"""What stands behind everything: the planes, checkered, and the sky.

The backdrop is one number per pixel that says which colour it has, and a table of the colours. The number of a
plane's pixel is made of the plane, whether it lies in the shadow, which field of the checker it is, and how near it is:
far away the fields are smaller than pixels and fade into their mean, and an endless plane fades into the haze.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from simreel.render.schematic.materials import Textures, look_of
from simreel.render.schematic.shadows import MIN_SLOPE, Ground

if TYPE_CHECKING:
    import mujoco
    from numpy.typing import NDArray

    from simreel.render.schematic.canvas import Box, Canvas
    from simreel.render.schematic.frame import Frame
    from simreel.render.schematic.lighting import Lights

__all__ = ["SHADOW", "Backdrop"]

_LEVELS = 64  # of nearness, and of the sky from straight down to straight up
_FIELD = 64
SHADOW = 128
"""Added to the number of a plane's pixel that lies in the shadow."""
_PLANE = 256

# The sky of a model that has none: above, around, below.
_SKY = np.array([[0.45, 0.58, 0.72], [0.86, 0.89, 0.92], [0.60, 0.62, 0.65]])

# A plane without a texture gets fields that differ by this much, so that movement over it is seen.
_FAINT = 0.06

# The endless part of a plane is clear up to so many extents of the model, then fades.
_CLEAR = 8.0


@dataclass(frozen=True)
class _Plane:
    geom: int
    colors: NDArray[np.float64]
    """(2, 3), of the two fields."""
    emission: float
    fields: tuple[float, float]
    """How many fields a metre has, along x and y; 0 is one field for all."""
    size: tuple[float, float]
    """Half lengths; 0 is endless."""


class Backdrop:
    """The planes and the sky of a model."""

    def __init__(self, model: mujoco.MjModel, geoms: NDArray[np.int64], textures: Textures) -> None:
        self._planes = [_plane(model, int(geom), textures) for geom in geoms]
        self.geoms = geoms
        sky = textures.skybox()
        self._sky = _SKY if sky is None else sky
        self._haze = self._sky[1] if sky is None else np.array(model.vis.rgba.haze[:3], np.float64)
        self._room = np.empty((2, 0), np.float32)
        self._whole = np.empty((3, 0), np.int32)
        self._extent = float(model.stat.extent)
        # Shadows fall on the largest plane; of several, on the first.
        size = [np.inf if 0 in plane.size else plane.size[0] * plane.size[1] for plane in self._planes]
        self.ground_part = int(np.argmax(size)) if size else -1
        """The plane that shadows fall on; -1 where there is none."""

    def __len__(self) -> int:
        return len(self._planes)

    def ground(self, frame: Frame, data: mujoco.MjData, lights: Lights) -> tuple[Ground, int] | None:
        """What shadows fall on and the number of the light that throws them; None where there are none."""
        if self.ground_part < 0:
            return None
        geom = self.geoms[self.ground_part]
        normal = data.geom_xmat[geom].reshape(3, 3)[:, 2]
        height = float(normal @ (data.geom_xpos[geom] - frame.pos))
        slope = lights.toward @ normal
        throws = np.flatnonzero(lights.casts & (slope > MIN_SLOPE))
        if height >= 0 or not len(throws):
            return None
        return Ground(normal.copy(), height, -lights.toward[throws[0]]), int(throws[0])

    def colors(self, data: mujoco.MjData, lights: Lights, shadow_light: int) -> NDArray[np.uint8]:
        """The table of colours, (n, 3)."""
        out = np.empty((len(self._planes) * _PLANE + _LEVELS, 3))
        near = np.linspace(0, 1, _LEVELS)[:, None]
        # Fields below a pixel give patterns that are not there; those of some pixels are clear.
        contrast = np.clip((near - 0.4) / 0.6, 0, 1)
        for number, plane in enumerate(self._planes):
            normal = data.geom_xmat[plane.geom].reshape(3, 3)[:, 2]
            mean = plane.colors.mean(axis=0)
            clear = np.minimum(1, 2 * near) if 0 in plane.size else 1.0
            for dark in (False, True):
                light = plane.emission + lights.on(normal, shadow_light if dark else -1)
                for field, color in enumerate(plane.colors):
                    start = number * _PLANE + SHADOW * dark + _FIELD * field
                    lit = np.minimum(light * (mean + (color - mean) * contrast), 1)
                    out[start : start + _LEVELS] = self._haze + (lit - self._haze) * clear
        height = np.linspace(-1, 1, _LEVELS)[:, None]
        end = np.where(height > 0, self._sky[0], self._sky[2])
        out[-_LEVELS:] = self._sky[1] + (end - self._sky[1]) * np.abs(height)
        return np.ascontiguousarray(np.clip(out * 255, 0, 255).astype(np.uint8))

    def draw(
        self,
        canvas: Canvas,
        frame: Frame,
        data: mujoco.MjData,
        numbers: NDArray[np.intp],
        slant: NDArray[np.float32],
    ) -> None:
        """Draws planes, as the parts 0, 1, ..., on an empty canvas, and numbers the colours of all pixels.

        Args:
            canvas: where.
            frame: the picture.
            data: the state.
            numbers: (H, W), into which the numbers go.
            slant: `1 / |d|` of each pixel's ray, (H, W).
        """
        for part, plane in enumerate(self._planes):
            turn = data.geom_xmat[plane.geom].reshape(3, 3)
            self._draw_plane(canvas, frame, plane, part, turn, data.geom_xpos[plane.geom] - frame.pos, numbers)
        open_ = canvas.part < 0
        rows = np.flatnonzero(open_.any(axis=1))
        if len(rows):
            band = slice(int(rows[0]), int(rows[-1]) + 1)
            level = self._form(frame.rays[2], (band.start, band.stop, 0, canvas.width), canvas)
            level *= slant[band]
            level *= (_LEVELS - 1) / 2
            level += len(self._planes) * _PLANE + _LEVELS / 2  # a half more than the middle: cut, it is rounded
            np.copyto(numbers[band], level, where=open_[band], casting="unsafe")

    def _draw_plane(
        self,
        canvas: Canvas,
        frame: Frame,
        plane: _Plane,
        part: int,
        turn: NDArray[np.float64],
        at: NDArray[np.float64],
        numbers: NDArray[np.intp],
    ) -> None:
        height = float(turn[:, 2] @ at)
        if height >= 0:
            return  # from below it is not there
        inverse = turn[:, 2] @ frame.rays / height
        box = _rows_above(inverse, 1 / frame.far, (0, frame.size[1], 0, frame.size[0]))
        if box is None:
            return
        old, parts = canvas.cut(box)
        s = self._form(inverse, box, canvas)
        seen = s > old
        if (close := _rows_above(inverse, 1 / frame.near, box)) is not None:
            here = slice(close[0] - box[0], close[1] - box[0])
            seen[here] &= s[here] < 1 / frame.near
        # Along x and y, from the plane's middle, times s: linear as well.
        local = turn[:, :2].T @ (frame.rays - at[:, None] * inverse)
        for axis in range(2):
            if plane.size[axis]:
                for edge in (plane.size[axis] * inverse + local[axis], plane.size[axis] * inverse - local[axis]):
                    if (beyond := _rows_above(-edge, 0, box)) is not None:
                        here = slice(beyond[0] - box[0], beyond[1] - box[0])
                        seen[here] &= self._form(edge, beyond, canvas, 1) >= 0
        np.copyto(old, s, where=seen)
        np.copyto(parts, part, where=seen)
        number = self._nearness(canvas, frame, plane, s, -height)
        number += part * _PLANE
        if plane.fields[0] and plane.fields[1]:
            self._add_fields(canvas, frame, plane, local, inverse, box, s, number)
        np.copyto(numbers[box[0] : box[1], box[2] : box[3]], number, where=seen)

    def _nearness(
        self, canvas: Canvas, frame: Frame, plane: _Plane, s: NDArray[np.float32], height: float
    ) -> NDArray[np.int32]:
        full = 0.0
        if frame.offset:
            pass  # an orthographic view is as near everywhere
        elif plane.fields[0] and plane.fields[1]:
            # A pixel covers about `step t^2 / height` of the plane, along the line of sight; a field of four pixels
            # is drawn with full contrast.
            step = np.linalg.norm(frame.rays[:, 1])
            full = float(np.sqrt(4 * step * max(plane.fields) / height))
        if 0 in plane.size and not frame.offset:
            full = max(full, 2 / (_CLEAR * self._extent))
        number = _shaped(self._whole[0], s.shape)
        if not full:
            number.fill(_LEVELS - 1)
            return number
        level = np.multiply(s, np.float32(_LEVELS / full), out=_shaped(self._room[1], s.shape))
        np.minimum(level, _LEVELS - 1, out=level)
        # Pixels that do not see the plane have numbers without meaning, here and in the fields.
        np.copyto(number, level, casting="unsafe")
        return number

    def _add_fields(
        self,
        canvas: Canvas,
        frame: Frame,
        plane: _Plane,
        local: NDArray[np.float64],
        inverse: NDArray[np.float64],
        box: Box,
        s: NDArray[np.float32],
        number: NDArray[np.int32],
    ) -> None:
        """Adds _FIELD where a pixel is in a field of the second colour. Uses up `s`."""
        np.reciprocal(s, out=s)
        fields = []
        for axis in range(2):
            # Whole numbers are cut towards zero, so the count starts far below, at an even number along one axis and at
            # an odd one along the other: the first field from the middle has the second colour.
            start = 2 * np.ceil(plane.fields[axis] * frame.far) + axis
            if start > 1 << 22:  # float32 has no fields any more
                return
            # In steps of _FIELD, so that its bit says whether the count is odd.
            along = self._form(_FIELD * (plane.fields[axis] * local[axis] + start * inverse), box, canvas, 1)
            along *= s
            fields.append(_shaped(self._whole[1 + axis], s.shape))
            np.copyto(fields[axis], along, casting="unsafe")
        fields[0] ^= fields[1]
        fields[0] &= _FIELD
        number += fields[0]

    def _form(self, form: NDArray[np.float64], box: Box, canvas: Canvas, room: int = 0) -> NDArray[np.float32]:
        """The linear form `a j + b i + c` at the pixels of a box, in memory that is used again."""
        if self._room.shape[1] < canvas.width * canvas.height:
            self._room = np.empty((2, canvas.width * canvas.height), np.float32)
            self._whole = np.empty((3, canvas.width * canvas.height), np.int32)
        top, bottom, left, right = box
        a, b, c = form
        rows = (b * np.arange(top, bottom) + c).astype(np.float32)[:, None]
        columns = (a * np.arange(left, right)).astype(np.float32)
        out = _shaped(self._room[room], (bottom - top, right - left))
        np.add(rows, columns, out=out)
        return out


_Number = TypeVar("_Number", np.float32, np.int32)


def _shaped(memory: NDArray[_Number], shape: tuple[int, ...]) -> NDArray[_Number]:
    return memory[: shape[0] * shape[1]].reshape(shape)


def _plane(model: mujoco.MjModel, geom: int, textures: Textures) -> _Plane:
    look = look_of(model, int(model.geom_matid[geom]), model.geom_rgba[geom])
    size = (float(model.geom_size[geom, 0]), float(model.geom_size[geom, 1]))
    color = np.array(look.rgba[:3], np.float64)
    fields = (0.0, 0.0)
    if (checker := textures.checker(look.texture)) is not None:
        colors = color * np.array(checker.colors)
        # As MuJoCo maps a texture of two by two fields onto a plane: `repeat` times onto two units, or onto half of the
        # plane where it has a size and the texture is not uniform.
        fields = tuple(  # type: ignore[assignment]
            repeat / edge if edge and not look.uniform else repeat
            for repeat, edge in zip(look.repeat, size, strict=True)
        )
    else:
        colors = color * textures.mean(look.texture) * np.array([[1 + _FAINT], [1 - _FAINT]])
        if look.texture < 0:
            # A power of ten, so that a person can count.
            edge = 10.0 ** np.floor(np.log10(max(float(model.stat.extent), 1e-6)))
            fields = (1 / edge, 1 / edge)
    return _Plane(geom, colors, look.emission, fields, size)


def _rows_above(form: NDArray[np.float64], limit: float, box: Box) -> Box | None:
    """The rows of a box in which a linear form exceeds a limit somewhere."""
    top, bottom, left, right = box
    a, b, c = form
    rows = top + np.flatnonzero(b * np.arange(top, bottom) + max(a * left, a * (right - 1)) + c > limit)
    return (int(rows[0]), int(rows[-1]) + 1, left, right) if len(rows) else None
