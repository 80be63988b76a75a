"""Pictures, drawn by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from simreel.recorders.plots.mpl_texts import MPLFont
from simreel.recorders.plots.plotter import Plotter, Samples

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["MPLImage"]

# With its numbers, about [px].
_BAR_WIDTH = 80


class MPLImage(Plotter):
    """Numbers with a colour bar, or colours; the first row at the top, the pixels square."""

    def setup(self, surface: Figure, first: Samples) -> None:
        """Makes the picture."""
        pixels = _shown(first.newest)
        axes = surface.add_subplot()
        axes.set_axis_off()
        self._is_scaled = pixels.ndim == 2
        # Above the picture, whose middle is that of what the colour bar leaves.
        room = surface.bbox.width - 2 * _BAR_WIDTH * self._is_scaled
        axes.set_title(MPLFont(surface, "large").wrapped(self.options.title, room))
        self._image = axes.imshow(pixels, cmap="viridis", origin="upper", animated=True)
        self._limits: tuple[float, float] | None = None
        if self._is_scaled:
            surface.colorbar(self._image, ax=axes)
        elif not self.options.title:
            # Colours alone: no margin around them.
            surface.set_layout_engine("none")
            axes.set_position((0, 0, 1, 1))

    def draw(self, samples: Samples) -> None:
        """Changes the pixels, and their limits where they must."""
        pixels = _shown(samples.newest)
        self._image.set_data(pixels)
        if self._is_scaled:
            limits = tuple(self.options.clim or _range(pixels))
            if limits != self._limits:
                self._limits = limits
                self._image.set_clim(*limits)

    def restart(self) -> None:
        """Nothing stays of an episode."""


def _shown(pixels: Any) -> Any:
    """Numbers (H, W), or colours within what matplotlib takes."""
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[..., 0]
    if pixels.dtype == np.uint8:
        return pixels
    return np.nan_to_num(pixels, nan=np.nan) if pixels.ndim == 2 else np.clip(pixels, 0, 1)


def _range(pixels: Any) -> tuple[float, float]:
    finite = pixels[np.isfinite(pixels)]
    if not finite.size:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    return (low, high) if low < high else (low, low + 1.0)
