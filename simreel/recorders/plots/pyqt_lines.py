"""Lines over time, drawn by pyqtgraph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyqtgraph
from PySide6.QtCore import Qt

from simreel.recorders.plots.lines import History, Series, View, grid, line_style, series_of
from simreel.recorders.plots.plotter import Plotter, Samples
from simreel.recorders.plots.pyqt_texts import LeftAxis, QtFont, SideLabel, as_html
from simreel.recorders.plots.texts import LEGEND_PART

if TYPE_CHECKING:
    from pyqtgraph import GraphicsLayoutWidget, PlotDataItem, PlotItem

__all__ = ["PyQtLines"]

_STYLES = {
    "solid": Qt.PenStyle.SolidLine,
    "dashed": Qt.PenStyle.DashLine,
    "dotted": Qt.PenStyle.DotLine,
    "dashdot": Qt.PenStyle.DashDotLine,
}
_STROKES = {"solid": "━━", "dashed": "╍╍", "dotted": "┅┅", "dashdot": "━·"}
# What a column of a legend takes beside its names, and a row beside its letters, about [px].
_STROKE, _ROW_GAP = 40, 3
# Points of the letters.
_TITLE_SIZE, _KEY_SIZE = 12, 10
# What is beside and below the axes of a plot, about [px]: numbers, titles, and the space between plots.
_FRAME, _SPACE = 60, 6
# Room for samples to come, and for greater values.
_SPARE_TIME = 0.25
_SPARE_VALUES = 0.15


@dataclass
class _Subplot:
    series: Series
    history: History
    item: PlotItem
    lines: list[PlotDataItem]
    times: View
    values: View


class PyQtLines(Plotter):
    """A plot for each key, above each other."""

    def __init__(self, options: Any) -> None:
        super().__init__(options)
        self._subplots: list[_Subplot] = []

    def setup(self, surface: GraphicsLayoutWidget, first: Samples) -> None:
        """Makes the lines, without points."""
        options = self.options
        series = series_of(first, options.labels)
        rows, columns = grid(len(series))
        width, height = surface.width() / columns - 2 * _SPACE, float(surface.height())
        if options.title:
            font = QtFont(_TITLE_SIZE)
            title = font.wrapped(options.title, surface.width() - 4 * _SPACE)
            surface.addLabel(as_html(title), size=f"{_TITLE_SIZE}pt", colspan=2 * columns + 1)
            surface.nextRow()
            height -= font.height * len(title.split("\n")) + _SPACE
        top, whole, height = int(bool(options.title)), height, height / rows - 2 * _SPACE
        font = QtFont()
        # Too long for each plot: one for all of them, before the first column.
        y_label, is_shared = options.y_label, not font.fits(options.y_label, height - _FRAME)
        if is_shared:
            surface.addLabel(as_html(font.shortened(y_label, whole - 2 * _SPACE)), top, 0, rowspan=rows, angle=-90)
            y_label = ""
        for i, one in enumerate(series):
            row, column = top + i % rows, is_shared + 2 * (i // rows)
            if row == top:
                left: list[LeftAxis] = []
            item = surface.addPlot(row, column, axisItems={"left": LeftAxis(left)})
            is_last = i % rows == rows - 1 or i == len(series) - 1
            has_legend = any(one.names)
            room = width * (1 - has_legend * LEGEND_PART) - _FRAME
            self._decorate(item, one, y_label, room, is_last=is_last)
            lines = [item.plot(pen=_pen(j), connect="finite") for j in range(len(one.names))]
            if has_legend:
                legend = SideLabel(_legend(one.names, LEGEND_PART * width, height), justify="left")
                surface.addItem(legend, row, column + 1)
                surface.ci.layout.setAlignment(legend, Qt.AlignmentFlag.AlignTop)
            surface.ci.layout.setRowPreferredHeight(row, height)
            history = History(options.history_length, len(lines))
            values = View(_SPARE_VALUES, log=options.y_log_scale)
            self._subplots.append(_Subplot(one, history, item, lines, View(_SPARE_TIME, is_ahead=True), values))

    def _decorate(self, item: PlotItem, series: Series, y_label: str, room: float, *, is_last: bool) -> None:
        options = self.options
        item.disableAutoRange()
        item.hideButtons()
        item.showGrid(x=True, y=True, alpha=0.2)
        if series.title:
            item.setTitle(as_html(QtFont(_KEY_SIZE).shortened(series.title, room)), size=f"{_KEY_SIZE}pt")
        for axis in ("left", "bottom"):
            # A prefix, such as milli, would stand beside a unit that is in the label already.
            item.getAxis(axis).enableAutoSIPrefix(False)
        if y_label:
            item.setLabel("left", as_html(y_label))
        if is_last:
            item.setLabel("bottom", as_html(QtFont().shortened(options.x_label or "time [s]", room)))
        item.setLogMode(y=options.y_log_scale)

    def draw(self, samples: Samples) -> None:
        """Moves the lines, and the limits where they must."""
        for plot in self._subplots:
            plot.history.add(samples.times, samples.columns[plot.series.key])
            for line, values in zip(plot.lines, plot.history.values.T, strict=True):
                line.setData(plot.history.times, values)
            if plot.values.follow(plot.history.values):
                plot.item.setYRange(*plot.values.raw_limits, padding=0)
            if plot.times.follow(plot.history.times):
                plot.item.setXRange(*plot.times.raw_limits, padding=0)

    def restart(self) -> None:
        """Has the lines start anew."""
        for plot in self._subplots:
            plot.history.clear()
            plot.times.clear()
            plot.values.clear()


def _legend(names: tuple[str, ...], width: float, height: float) -> str:
    """Names and strokes in columns; pyqtgraph's own legend would lie on the lines."""
    font = QtFont()
    texts, columns = font.arranged(names, height / (font.height + _ROW_GAP), width, _STROKE)
    count = -(-len(texts) // columns)
    rows = []
    for i in range(count):
        cells = []
        for j in range(i, len(texts), count):
            color, style = line_style(j)
            stroke = "" if j >= len(texts) - 1 < len(names) - 1 else _STROKES[style]
            cells.append(f'<td style="color:{color}">{stroke}</td><td>&nbsp;{as_html(texts[j])}&nbsp;&nbsp;</td>')
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table cellspacing=0>{''.join(rows)}</table>"


def _pen(index: int) -> Any:
    color, style = line_style(index)
    return pyqtgraph.mkPen(color, width=1.5, style=_STYLES[style])
