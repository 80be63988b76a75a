"""Light: the model's headlight and lights, as OpenGL's fixed pipeline computes them, all from far away.

A surface of colour `c` and unit normal `n` shows `c (emission + ambient + sum diffuse max(0, n.l)) + specular (n.h)^k`
over the lights, where `h` is halfway between the light and the eye (OpenGL 2.1 specification, 2.14.1, with the viewer
at infinity).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import mujoco
    from numpy.typing import NDArray

    from simreel.render.schematic.frame import Frame
    from simreel.render.schematic.rounds import Normals

__all__ = ["Lights", "Surface", "lights_of"]

# A light for models that have none: otherwise they would have no shadows, and nobody sees what stands on the ground.
_SUN = (-0.35, 0.25, -1.0)
_SUN_DIFFUSE = 0.35

# The exponent of the highlights is this power of two: the half of MuJoCo's default shininess of 0.5.
_SQUARINGS = 5


@dataclass(frozen=True)
class Lights:
    """The lights of one picture."""

    ambient: NDArray[np.float64]
    """(3,)"""
    toward: NDArray[np.float64]
    """(n, 3), unit vectors from a surface to each light; the headlight, if any, is the first."""
    diffuse: NDArray[np.float64]
    """(n, 3)"""
    specular: NDArray[np.float64]
    """(n, 3)"""
    casts: NDArray[np.bool_]
    """(n,), whether each throws shadows."""

    def on(self, normal: NDArray[np.float64], without: int = -1) -> NDArray[np.float64]:
        """What arrives at a surface with that normal, (3,); without the light of that number."""
        share = np.maximum(self.toward @ normal, 0)
        if without >= 0:
            share[without] = 0
        out: NDArray[np.float64] = self.ambient + share @ self.diffuse
        return out


def lights_of(model: mujoco.MjModel, data: mujoco.MjData, forward: NDArray[np.float64]) -> Lights:
    """The lights of a state, for an eye that looks along `forward`, (3,)."""
    head = model.vis.headlight
    ambient = np.zeros(3)
    toward: list[NDArray[np.float64]] = []
    diffuse: list[NDArray[np.float32]] = []
    specular: list[NDArray[np.float32]] = []
    casts = []
    if head.active:
        ambient += head.ambient
        toward.append(-forward)
        diffuse.append(head.diffuse)
        specular.append(head.specular)
        casts.append(False)
    for light in np.flatnonzero(model.light_active):
        way = data.light_xdir[light]
        length = np.linalg.norm(way)
        if length > 0:
            ambient += model.light_ambient[light]
            toward.append(-way / length)
            diffuse.append(model.light_diffuse[light])
            specular.append(model.light_specular[light])
            casts.append(bool(model.light_castshadow[light]))
    if not any(casts) and not model.nlight:
        toward.append(-np.array(_SUN) / np.linalg.norm(_SUN))
        diffuse.append(np.full(3, _SUN_DIFFUSE, np.float32))
        specular.append(np.zeros(3, np.float32))
        casts.append(True)
    to, spread, shine = (np.array(value, np.float64).reshape(-1, 3) for value in (toward, diffuse, specular))
    return Lights(ambient, to, spread, shine, np.array(casts, bool))


class Surface:
    """The normals and colours of parts, ready to be looked up by part.

    Args:
        frame: the picture.
        normals: of each part.
        owner: the item that each part belongs to, (n,).
        colors: of the items, (k, 5): red, green, blue in [0, 1], emission, specular.
        both_sides: whether the surfaces are lit from the side that is seen, whichever way their normals point.
    """

    def __init__(
        self,
        frame: Frame,
        normals: Normals,
        owner: NDArray[np.int64],
        colors: NDArray[np.float64],
        *,
        both_sides: bool = False,
    ) -> None:
        self._both_sides = both_sides
        # Over pixels (j, i, 1): normal = depth * turn - shift.
        turn = normals.turn @ frame.rays
        table = np.concatenate([turn.transpose(2, 1, 0).reshape(9, -1), normals.shift.T, colors[owner].T])
        self._table = table.astype(np.float32)
        self._rays = frame.rays.astype(np.float32)
        self._forward = frame.axes[2]

    def shade(
        self,
        parts: NDArray[np.int32],
        depth: NDArray[np.float32],
        row: NDArray[np.float32],
        column: NDArray[np.float32],
        lights: Lights,
    ) -> NDArray[np.uint8]:
        """The colours of pixels.

        Args:
            parts: which part each shows, (n,).
            depth: how far along the optical axis, (n,) [m].
            row: of each pixel, (n,).
            column: of each pixel, (n,).
            lights: of the picture.

        Returns:
            (n, 3) uint8.
        """
        table = np.take(self._table, parts, axis=1)
        normal = table[0:3]
        normal *= column
        table[3:6] *= row
        normal += table[3:6]
        normal += table[6:9]
        normal *= depth
        normal -= table[9:12]
        if self._both_sides:
            ray = self._rays[:, :1] * column + self._rays[:, 1:2] * row + self._rays[:, 2:]
            normal *= np.where(np.einsum("an,an->n", normal, ray) > 0, np.float32(-1), np.float32(1))
        # Light and half vectors of all lights in one product; both grow with the normal's length.
        half = lights.toward - self._forward
        half /= np.maximum(np.linalg.norm(half, axis=1), 1e-9)[:, None]
        count = len(half)
        share = np.concatenate([lights.toward, half]).astype(np.float32) @ normal
        share /= np.sqrt(np.einsum("an,an->n", normal, normal))
        np.maximum(share, 0, out=share)
        shine = share[count:]
        for _ in range(_SQUARINGS):
            shine *= shine
        light = lights.diffuse.T.astype(np.float32) @ share[:count]
        light += table[15]
        light += lights.ambient[:, None].astype(np.float32)
        color = table[12:15]
        color *= light
        glow = lights.specular.T.astype(np.float32) @ shine
        glow *= table[16]
        color += glow
        return _bytes(color)


def _bytes(color: NDArray[np.float32]) -> NDArray[np.uint8]:
    color *= 255
    np.minimum(color, 255, out=color)
    return np.ascontiguousarray(color.T.astype(np.uint8))
