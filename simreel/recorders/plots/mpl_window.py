"""A matplotlib figure in a window of its own, which may be resized."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from matplotlib.backends.backend_qtagg import FigureCanvasQTAgg

from simreel.recorders.plots.mpl_figure import Painter, new_figure
from simreel.recorders.plots.qt_windows import PlotWindow
from simreel.recorders.plots.surface import Size, Surface

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure

__all__ = ["WindowedFigure"]


class WindowedFigure(Surface):
    """A figure that is drawn in the pixels of its window."""

    def __init__(self, size: Size) -> None:
        self.target: Figure = new_figure(size)
        self._canvas = FigureCanvasQTAgg(self.target)  # type: ignore[no-untyped-call]
        self._painter = Painter(self._canvas)
        self._size = size
        self._window: PlotWindow | None = None

    @property
    def is_seen(self) -> bool:
        """Whether somebody may be looking at the window."""
        return self._window is not None and self._window.is_seen

    def show(self, title: str, on_closed: Callable[[], None]) -> None:
        """Opens the window."""
        self._window = PlotWindow(title, self._size, on_closed, self._canvas)

    def paint(self) -> None:
        """Has the window show what was drawn."""
        self._painter.paint()
        self._canvas.update()

    def picture(self) -> np.ndarray[Any, Any]:
        """What was drawn, (H, W, 4) uint8, a view, in the size that the window has now."""
        self.paint()
        return self._painter.pixels()

    def close(self) -> None:
        """Closes the window."""
        if self._window is not None:
            self._window.close_quietly()
            self._window = None
