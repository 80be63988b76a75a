"""Texts in a matplotlib figure, and a legend beside axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.cbook import is_math_text
from matplotlib.font_manager import FontProperties
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.transforms import Bbox

from simreel.recorders.plots.texts import Font

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["MPLFont", "add_legend", "add_title"]

_LEGEND_SIZE = "small"
# As parts of the size of the letters.
_STROKE, _BESIDE_STROKE, _BETWEEN_COLUMNS, _BETWEEN_ROWS, _PAD = 1.8, 0.5, 1.0, 0.25, 0.5
# At both sides of a title [px].
_MARGIN = 10


class MPLFont(Font):
    """The size of texts in a figure.

    Args:
        figure: with its canvas.
        size: of the letters, as matplotlib names it.
    """

    def __init__(self, figure: Figure, size: str) -> None:
        canvas: Any = figure.canvas
        self._renderer = canvas.get_renderer()
        self._properties = FontProperties(size=size)
        self.size = float(self._renderer.points_to_pixels(self._properties.get_size_in_points()))
        """That of the letters [px]."""
        self.height = float(self._extent("lp")[1])
        """That of a line [px]."""

    def _extent(self, text: str) -> tuple[float, float, float]:
        return self._renderer.get_text_width_height_descent(  # type: ignore[no-any-return]
            text, self._properties, is_math_text(text)
        )

    def width(self, text: str) -> float:
        """How wide one line is [px]."""
        return self._extent(text)[0]

    def shortened(self, text: str, room: float) -> str:
        """As of any font; but a part of a formula is none."""
        return text if is_math_text(text) else super().shortened(text, room)

    def wrapped(self, text: str, room: float) -> str:
        """As of any font; but a part of a formula is none."""
        return text if is_math_text(text) else super().wrapped(text, room)


def add_title(figure: Figure, title: str) -> None:
    """Puts a title above all axes."""
    if title:
        figure.suptitle(MPLFont(figure, "large").wrapped(title, figure.bbox.width - 2 * _MARGIN))


def add_legend(axes: Axes, lines: Sequence[Line2D], names: Sequence[str], room: float) -> None:
    """Puts names beside lines, which move.

    Args:
        axes: as high as they will be.
        lines: of the axes.
        names: of the lines.
        room: the width of the legend [px].
    """
    font = MPLFont(axes.figure.figure, _LEGEND_SIZE)
    row = font.height + _BETWEEN_ROWS * font.size
    stroke = (_STROKE + _BESIDE_STROKE + _BETWEEN_COLUMNS) * font.size
    texts, columns = font.arranged(names, (axes.bbox.height - _PAD * font.size) / row, room, stroke)
    handles = list(lines[: len(texts)])
    if len(texts) < len(names):
        handles[-1] = Line2D([], [], linestyle="none")
    legend = _Beside(
        axes,
        handles,
        texts,
        loc="upper left",
        bbox_to_anchor=(1, 1),
        ncols=columns,
        fontsize=_LEGEND_SIZE,
        frameon=False,
        borderaxespad=_PAD,
        borderpad=0,
        handlelength=_STROKE,
        handletextpad=_BESIDE_STROKE,
        columnspacing=_BETWEEN_COLUMNS,
        labelspacing=_BETWEEN_ROWS,
    )
    axes.add_artist(legend)
    # It would be left out of the layout.
    legend.set_clip_on(False)


class _Beside(Legend):
    """One that takes no height of the layout: that of axes that are lower is their own."""

    def get_tightbbox(self, renderer: Any = None) -> Bbox:
        box, beside = super().get_tightbbox(renderer), self.axes.bbox
        assert box is not None
        return Bbox.from_extents(box.x0, beside.y0, box.x1, beside.y1)
