"""Windows of Qt that tell when the user closes them, and whether he may see them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent, QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

if TYPE_CHECKING:
    import numpy as np

    from simreel.recorders.plots.surface import Size

__all__ = ["PictureWindow", "PlotWindow"]

# Nobody sees more than 30 pictures a second [s].
_PERIOD = 1 / 30


class PlotWindow(QWidget):
    """A window.

    Args:
        title: of it.
        size: of its content at first.
        on_closed: called when the user closes it.
        content: what fills it.
    """

    def __init__(self, title: str, size: Size, on_closed: Callable[[], None], content: QWidget | None = None) -> None:
        super().__init__()
        self._on_closed: Callable[[], None] | None = on_closed
        self.setWindowTitle(title)
        if content is not None:
            layout = QVBoxLayout(self)
            layout.setContentsMargins(0, 0, 0, 0)
            layout.addWidget(content)
        self.resize(*size)
        self.show()

    @property
    def is_seen(self) -> bool:
        """Whether somebody may be looking at it: it is neither closed nor minimized nor on another desktop."""
        handle = self.windowHandle()
        return self.isVisible() and not self.isMinimized() and (handle is None or handle.isExposed())

    def closeEvent(self, event: QCloseEvent) -> None:
        """Tells that the user has closed it."""
        event.accept()
        if self._on_closed is not None:
            self._on_closed()

    def close_quietly(self) -> None:
        """Closes it without telling."""
        self._on_closed = None
        self.close()


class PictureWindow(PlotWindow):
    """Shows pictures, scaled to its size."""

    def __init__(self, title: str, size: Size, on_closed: Callable[[], None]) -> None:
        self._image: QImage | None = None
        self._shown_at = 0.0
        super().__init__(title, size, on_closed)

    def show_picture(self, pixels: np.ndarray[Any, Any]) -> None:
        """Shows a picture, (H, W, 4) uint8, unless one was shown just before."""
        now = time.monotonic()
        if now >= self._shown_at + _PERIOD:
            self._shown_at = now
            height, width = pixels.shape[:2]
            self._image = QImage(pixels.tobytes(), width, height, 4 * width, QImage.Format.Format_RGBX8888)
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints the picture, in its proportions."""
        if self._image is None:
            return
        painter = QPainter(self)
        size = self._image.size().scaled(self.size(), Qt.AspectRatioMode.KeepAspectRatio)
        x, y = (self.width() - size.width()) // 2, (self.height() - size.height()) // 2
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(x, y, self._image.scaled(size))
        painter.end()
