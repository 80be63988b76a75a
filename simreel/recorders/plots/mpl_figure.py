"""A matplotlib figure that is drawn in memory, in a window only as a picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from simreel.recorders.plots.surface import Size, Surface

if TYPE_CHECKING:
    from matplotlib.artist import Artist

__all__ = ["Painter", "PlainFigure", "new_figure"]

_DPI = 100


def new_figure(size: Size) -> Figure:
    """An empty figure of that many pixels."""
    return Figure(figsize=(size[0] / _DPI, size[1] / _DPI), dpi=_DPI, layout="constrained")


class Painter:
    """Draws a figure: all of it where something changed, else only its animated artists over the rest.

    Args:
        canvas: of the figure.
    """

    def __init__(self, canvas: FigureCanvasAgg) -> None:
        self._canvas: Any = canvas
        self._background: Any = None
        self._moving: list[Artist] = []
        # Also when a window has it drawn again, in another size.
        canvas.mpl_connect("draw_event", self._finish)

    def paint(self) -> None:
        """Brings the pixels of the canvas up to date."""
        canvas = self._canvas
        if self._background is None or canvas.figure.stale:
            canvas.draw()
        else:
            canvas.restore_region(self._background)
            self._draw_moving()

    def pixels(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """What was drawn last, (H, W, 4) uint8, a view."""
        return np.asarray(self._canvas.buffer_rgba())

    def _finish(self, event: object) -> None:
        figure = self._canvas.figure
        self._moving = sorted(
            figure.findobj(lambda artist: artist.get_animated()), key=lambda artist: artist.get_zorder()
        )
        self._background = self._canvas.copy_from_bbox(figure.bbox) if self._moving else None
        self._draw_moving()

    def _draw_moving(self) -> None:
        for artist in self._moving:
            self._canvas.figure.draw_artist(artist)


class PlainFigure(Surface):
    """Never of another size, whatever becomes of its window."""

    def __init__(self, size: Size) -> None:
        self.target: Figure = new_figure(size)
        self._painter = Painter(FigureCanvasAgg(self.target))
        self._size = size
        self._window: Any = None

    @property
    def is_seen(self) -> bool:
        """Whether there is a window that somebody may be looking at."""
        return self._window is not None and self._window.is_seen

    def show(self, title: str, on_closed: Callable[[], None]) -> None:
        """Opens a window for the pictures."""
        from simreel.recorders.plots.qt_windows import PictureWindow

        self._window = PictureWindow(title, self._size, on_closed)

    def paint(self) -> None:
        """Nothing beside `picture`: its window shows pictures only."""

    def picture(self) -> np.ndarray[Any, Any]:
        """What was drawn, (H, W, 4) uint8, a view; the window shows it too."""
        self._painter.paint()
        pixels = self._painter.pixels()
        if self._window is not None:
            self._window.show_picture(pixels)
        return pixels

    def close(self) -> None:
        """Closes the window."""
        if self._window is not None:
            self._window.close_quietly()
            self._window = None
