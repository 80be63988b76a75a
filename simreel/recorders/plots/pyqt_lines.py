"""Lines over time, drawn by pyqtgraph."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import pyqtgraph
from PySide6.QtCore import Qt

from simreel.recorders.plots.lines import History, Series, View, grid, line_style, series_of
from simreel.recorders.plots.plotter import Plotter, Samples

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
# Names in one column of a legend.
_LEGEND_ROWS = 16
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
        if options.title:
            surface.addLabel(escape(options.title), size="12pt", colspan=2 * columns)
            surface.nextRow()
        top = int(bool(options.title))
        for i, one in enumerate(series):
            row, column = top + i % rows, 2 * (i // rows)
            item = surface.addPlot(row, column)
            is_last = i % rows == rows - 1 or i == len(series) - 1
            self._decorate(item, one, is_last=is_last)
            lines = [item.plot(pen=_pen(j), connect="finite") for j in range(len(one.names))]
            if any(one.names):
                legend = surface.addLabel(_legend(one.names), row, column + 1, justify="left")
                surface.ci.layout.setAlignment(legend, Qt.AlignmentFlag.AlignTop)
            history = History(options.history_length, len(lines))
            values = View(_SPARE_VALUES, log=options.y_log_scale)
            self._subplots.append(_Subplot(one, history, item, lines, View(_SPARE_TIME, is_ahead=True), values))

    def _decorate(self, item: PlotItem, series: Series, *, is_last: bool) -> None:
        options = self.options
        item.disableAutoRange()
        item.hideButtons()
        item.showGrid(x=True, y=True, alpha=0.2)
        if series.title:
            item.setTitle(escape(series.title), size="10pt")
        for axis in ("left", "bottom"):
            # A prefix, such as milli, would stand beside a unit that is in the label already.
            item.getAxis(axis).enableAutoSIPrefix(False)
        if options.y_label:
            item.setLabel("left", escape(options.y_label))
        if is_last:
            item.setLabel("bottom", escape(options.x_label) or "time [s]")
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


def _legend(names: tuple[str, ...]) -> str:
    """Names and strokes in columns; pyqtgraph's own legend would lie on the lines."""
    rows = []
    for i in range(min(len(names), _LEGEND_ROWS)):
        cells = []
        for j in range(i, len(names), _LEGEND_ROWS):
            color, style = line_style(j)
            cells.append(
                f'<td style="color:{color}">{_STROKES[style]}</td><td>&nbsp;{escape(names[j])}&nbsp;&nbsp;</td>'
            )
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{''.join(rows)}</table>"


def _pen(index: int) -> Any:
    color, style = line_style(index)
    return pyqtgraph.mkPen(color, width=1.5, style=_STYLES[style])
