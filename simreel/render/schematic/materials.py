"""The colours of what is drawn, as MuJoCo gives them; a texture counts with its mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Checker", "Look", "Textures", "look_of"]

# The colour of an element that names none: MuJoCo then takes the material's.
_UNSET = (0.5, 0.5, 0.5, 1.0)

# How far apart the corners of a texture may be [of 255] to count as one colour of a checker.
_LIKE = 12


@dataclass(frozen=True)
class Look:
    """How a surface looks."""

    rgba: tuple[float, float, float, float]
    """Without its texture."""
    emission: float = 0.0
    specular: float = 0.5
    texture: int = -1
    repeat: tuple[float, float] = (1.0, 1.0)
    uniform: bool = False
    """Whether the texture repeats per metre, not per object."""


@dataclass(frozen=True)
class Checker:
    """A texture of two by two fields."""

    colors: tuple[NDArray[np.float64], NDArray[np.float64]]
    """Those of the field at the corner and of its neighbours, (3,) in [0, 1]."""


def look_of(model: mujoco.MjModel, material: int, rgba: NDArray[np.float32]) -> Look:
    """The look of an element with that material (-1: none) and colour of its own."""
    own = tuple(map(float, rgba))
    if material < 0:
        return Look(own)  # type: ignore[arg-type]
    color = own if own != _UNSET else tuple(map(float, model.mat_rgba[material]))
    across, down = map(float, model.mat_texrepeat[material])
    return Look(
        color,  # type: ignore[arg-type]
        float(model.mat_emission[material]),
        float(model.mat_specular[material]),
        int(model.mat_texid[material, mujoco.mjtTextureRole.mjTEXROLE_RGB]),
        (across, down),
        bool(model.mat_texuniform[material]),
    )


class Textures:
    """The textures of a model."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model = model
        self._means: dict[int, NDArray[np.float64]] = {}

    def pixels(self, texture: int) -> NDArray[np.uint8]:
        """The pixels, (height, width, 3); a grey texture has three channels too."""
        model = self._model
        height, width = model.tex_height[texture], model.tex_width[texture]
        channels = model.tex_nchannel[texture]
        start = model.tex_adr[texture]
        data = model.tex_data[start : start + height * width * channels].reshape(height, width, channels)
        return np.asarray(data[..., :3] if channels >= 3 else np.repeat(data[..., :1], 3, axis=-1))

    def mean(self, texture: int) -> NDArray[np.float64]:
        """The mean colour, (3,) in [0, 1]; white where there is no texture."""
        if texture < 0:
            return np.ones(3)
        if texture not in self._means:
            self._means[texture] = self.pixels(texture).reshape(-1, 3).mean(axis=0) / 255
        return self._means[texture]

    def checker(self, texture: int) -> Checker | None:
        """The texture as a checker, if it is one: four fields of two colours, as `builtin="checker"` makes them."""
        if texture < 0 or self._model.tex_type[texture] != mujoco.mjtTexture.mjTEXTURE_2D:
            return None
        pixels = self.pixels(texture).astype(np.float64)
        high, wide = pixels.shape[0] // 2, pixels.shape[1] // 2
        if not high or not wide:
            return None
        fields = pixels[: 2 * high, : 2 * wide].reshape(2, high, 2, wide, 3)
        # The median: lines along the edges and random marks are not the field's colour.
        colors = np.median(fields, axis=(1, 3))
        one, two = (colors[0, 0] + colors[1, 1]) / 2, (colors[0, 1] + colors[1, 0]) / 2
        apart = np.abs(colors[0, 0] - colors[1, 1]).max() > _LIKE or np.abs(colors[0, 1] - colors[1, 0]).max() > _LIKE
        if apart or np.abs(one - two).max() <= _LIKE:
            return None
        return Checker((one / 255, two / 255))

    def skybox(self) -> NDArray[np.float64] | None:
        """The colours above, around and below, (3, 3) in [0, 1]; None where the model has no sky."""
        kinds = np.flatnonzero(self._model.tex_type == mujoco.mjtTexture.mjTEXTURE_SKYBOX)
        if not len(kinds):
            return None
        pixels = self.pixels(int(kinds[0])).astype(np.float64) / 255
        side = pixels.shape[1]
        if len(pixels) < 6 * side:  # one face for all
            top, middle, bottom = pixels[0], pixels[side // 2], pixels[side - 1]
        else:
            # Right, left, up, down, front, back.
            faces = pixels[: 6 * side].reshape(6, side, side, 3)
            top, bottom = faces[2].reshape(-1, 3), faces[3].reshape(-1, 3)
            middle = faces[[0, 1, 4, 5], side // 2].reshape(-1, 3)
        return np.array([top.mean(axis=0), middle.mean(axis=0), bottom.mean(axis=0)])
