"""Texts in a pyqtgraph window, and axes that are as wide as their widest."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from pyqtgraph import AxisItem, LabelItem
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QApplication

from simreel.recorders.plots.texts import Font

__all__ = ["LeftAxis", "QtFont", "SideLabel", "as_html"]


class QtFont(Font):
    """The size of texts.

    Args:
        points: size of the letters; None: that of texts without one.
    """

    def __init__(self, points: int | None = None) -> None:
        font = QApplication.font()
        if points is not None:
            font.setPointSize(points)
        self._metrics = QFontMetricsF(font)
        self.height = self._metrics.lineSpacing()
        """That of a line [px]."""

    def width(self, text: str) -> float:
        """How wide one line is [px]."""
        return self._metrics.horizontalAdvance(text)


def as_html(text: str) -> str:
    """Text, of one or more lines, that is shown as it is."""
    return "<br>".join(map(escape, text.split("\n")))


class SideLabel(LabelItem):  # type: ignore[misc]
    """Text beside a plot, which alone says how high its row is."""

    def updateMin(self) -> None:
        """Asks for the width of its text."""
        super().updateMin()
        self.setMinimumHeight(0)
        self.setPreferredHeight(0)


class LeftAxis(AxisItem):  # type: ignore[misc]
    """As wide as the widest of its column: a time is at the same place in all plots.

    Args:
        column: the axes there are already; it joins them.
    """

    _column: Sequence[LeftAxis] = ()
    _needed = 0.0

    def __init__(self, column: list[LeftAxis]) -> None:
        super().__init__("left")
        column.append(self)
        self._column = column
        self.setMinimumWidth(self._needed)

    def setMaximumWidth(self, width: float) -> None:
        """Nothing: `setMinimumWidth` follows."""

    def setMinimumWidth(self, width: float) -> None:
        """Takes what its numbers need, and what others do."""
        self._needed = width
        widest = max((axis._needed for axis in self._column), default=width)
        for axis in self._column:
            super(LeftAxis, axis).setMaximumWidth(widest)
            super(LeftAxis, axis).setMinimumWidth(widest)
