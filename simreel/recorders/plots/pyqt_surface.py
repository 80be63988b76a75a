"""A pyqtgraph window, seen or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyqtgraph
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QImage, QPainter

from simreel.recorders.plots.qt_windows import PlotWindow
from simreel.recorders.plots.surface import Size, Surface

if TYPE_CHECKING:
    from pyqtgraph import GraphicsLayoutWidget

__all__ = ["PyQtSurface"]

pyqtgraph.setConfigOptions(background="w", foreground="k", antialias=True)


class PyQtSurface(Surface):
    """A widget that paints itself when what it shows changes.

    Args:
        size: of the pictures.
        is_fixed: whether the window keeps that size.
    """

    def __init__(self, size: Size, *, is_fixed: bool) -> None:
        self.target: GraphicsLayoutWidget = pyqtgraph.GraphicsLayoutWidget(size=size)
        self._size = size
        self._is_fixed = is_fixed
        self._window: PlotWindow | None = None
        self._has_layout = False

    @property
    def is_seen(self) -> bool:
        """Whether somebody may be looking at the window."""
        return self._window is not None and self._window.is_seen

    def show(self, title: str, on_closed: Callable[[], None]) -> None:
        """Opens the window."""
        self._window = PlotWindow(title, self._size, on_closed, self.target)
        if self._is_fixed:
            self._window.setFixedSize(*self._size)

    def paint(self) -> None:
        """Nothing to do: the widget asks for it itself."""

    def picture(self) -> np.ndarray[Any, Any]:
        """What was drawn, (H, W, 4) uint8, in the size that the window has now."""
        if self._window is None and not self._has_layout:
            # What a window does when it opens: without it, axes do not know their size.
            self.target.resize(*self._size)
            self.target.grab()
            self._has_layout = True
        width, height = self.target.width(), self.target.height()
        # Our own memory: that of an image ends with it.
        pixels = np.empty((height, width, 4), np.uint8)
        image = QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_RGBX8888)
        self._render(image)
        plots = [item for item in self.target.ci.items if isinstance(item, pyqtgraph.PlotItem)]
        if not all(plot.layout.isActivated() for plot in plots):
            # Drawing it has shown that the numbers at an axis need more room.
            QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
            self._render(image)
        return pixels

    def _render(self, image: QImage) -> None:
        image.fill(Qt.GlobalColor.white)
        painter = QPainter(image)
        self.target.render(painter)
        painter.end()

    def close(self) -> None:
        """Closes the window."""
        if self._window is not None:
            self._window.close_quietly()
            self._window = None
