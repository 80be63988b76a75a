"""Pictures, drawn by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from simreel.recorders.plots.plotter import Plotter, Samples

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["MPLImage"]


class MPLImage(Plotter):
    """Numbers with a colour bar, or colours; the first row at the top, the pixels square."""

    def setup(self, surface: Figure, first: Samples) -> None:
        """Makes the picture."""
        pixels = _flat(first.newest)
        axes = surface.add_subplot()
        axes.set_axis_off()
        if self.options.title:
            axes.set_title(self.options.title)
        self._image = axes.imshow(pixels, cmap="viridis", origin="upper", animated=True)
        self._is_scaled = pixels.ndim == 2
        self._limits: tuple[float, float] | None = None
        if self._is_scaled:
            surface.colorbar(self._image, ax=axes)
        elif not self.options.title:
            # Colours alone: no margin around them.
            surface.set_layout_engine("none")
            axes.set_position((0, 0, 1, 1))

    def draw(self, samples: Samples) -> None:
        """Changes the pixels, and their limits where they must."""
        pixels = _flat(samples.newest)
        self._image.set_data(pixels if pixels.dtype == np.uint8 else np.nan_to_num(pixels, nan=np.nan))
        if self._is_scaled:
            limits = tuple(self.options.clim or _range(pixels))
            if limits != self._limits:
                self._limits = limits
                self._image.set_clim(*limits)

    def restart(self) -> None:
        """Nothing stays of an episode."""


def _flat(pixels: Any) -> Any:
    return pixels[..., 0] if pixels.ndim == 3 and pixels.shape[2] == 1 else pixels


def _range(pixels: Any) -> tuple[float, float]:
    finite = pixels[np.isfinite(pixels)]
    if not finite.size:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    return (low, high) if low < high else (low, low + 1.0)
