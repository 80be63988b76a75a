"""What a plotter draws on: a matplotlib figure or a pyqtgraph window, seen or not."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Size", "Surface", "make_surface"]

Size = tuple[int, int]
"""Width and height [px]."""


class Surface(ABC):
    """Made empty; `show` gives it a window."""

    target: Any
    """What a plotter is given: a `Figure`, or a `GraphicsLayoutWidget`."""

    @property
    @abstractmethod
    def is_seen(self) -> bool:
        """Whether there is a window that somebody may be looking at."""

    @abstractmethod
    def show(self, title: str, on_closed: Callable[[], None]) -> None:
        """Opens a window.

        Args:
            title: of the window.
            on_closed: called when the user closes it.
        """

    @abstractmethod
    def paint(self) -> None:
        """Has the window show what was drawn."""

    @abstractmethod
    def picture(self) -> np.ndarray[Any, Any]:
        """What was drawn, (H, W, 4) uint8, a view, the alpha of no account; the window shows it too."""

    @abstractmethod
    def close(self) -> None:
        """Closes the window."""


def make_surface(kind: str, size: Size, *, has_window: bool, is_fixed: bool) -> Surface:
    """The surface of a plot.

    Args:
        kind: "matplotlib" or "pyqtgraph".
        size: of the pictures, and of the window at first.
        has_window: whether it will be shown.
        is_fixed: whether all pictures must have that size, whatever becomes of the window.
    """
    if kind == "pyqtgraph":
        from simreel.recorders.plots.pyqt_surface import PyQtSurface

        return PyQtSurface(size, is_fixed=is_fixed)
    if has_window and not is_fixed:
        from simreel.recorders.plots.mpl_window import WindowedFigure

        return WindowedFigure(size)
    from simreel.recorders.plots.mpl_figure import PlainFigure

    return PlainFigure(size)
