"""Lines over time, drawn by matplotlib."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simreel.recorders.plots.lines import History, Series, View, grid, line_style, series_of
from simreel.recorders.plots.plotter import Plotter, Samples

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

__all__ = ["MPLLines"]

# Names in one column of a legend.
_LEGEND_ROWS = 16
# Room for samples to come, and for greater values.
_SPARE_TIME = 0.25
_SPARE_VALUES = 0.15


@dataclass
class _Subplot:
    series: Series
    history: History
    axes: Axes
    lines: list[Line2D]
    values: View


class MPLLines(Plotter):
    """A subplot for each key, above each other; all with the same time axis."""

    def __init__(self, options: Any) -> None:
        super().__init__(options)
        self._subplots: list[_Subplot] = []
        self._times = View(_SPARE_TIME, is_ahead=True)

    def setup(self, surface: Figure, first: Samples) -> None:
        """Makes the lines, without points."""
        options = self.options
        series = series_of(first, options.labels)
        rows, columns = grid(len(series))
        all_axes = surface.subplots(rows, columns, sharex=True, squeeze=False).T.flat
        if options.title:
            surface.suptitle(options.title)
        for one, axes in zip(series, all_axes, strict=False):
            lines = []
            for i, name in enumerate(one.names):
                color, style = line_style(i)
                lines += axes.plot(
                    [], [], color=color, linestyle=style, linewidth=1.5, label=name or "_", animated=True
                )
            history = History(options.history_length, len(lines))
            view = View(_SPARE_VALUES, log=options.y_log_scale)
            self._subplots.append(_Subplot(one, history, axes, lines, view))
            self._decorate(axes, one)
        for axes in list(all_axes)[len(series) :]:
            axes.remove()
        # In each column of them, the last.
        for plot in self._subplots[rows - 1 :: rows] + self._subplots[-1:]:
            plot.axes.set_xlabel(options.x_label or "time [s]")

    def _decorate(self, axes: Axes, series: Series) -> None:
        options = self.options
        axes.grid(alpha=0.3)
        axes.margins(0)
        axes.set_ylabel(options.y_label)
        if series.title:
            axes.set_title(series.title, loc="left", fontsize="medium")
        if options.y_log_scale:
            axes.set_yscale("log", nonpositive="mask")
        else:
            axes.ticklabel_format(axis="y", useOffset=False)
        if any(series.names):
            # Beside the lines, which move.
            columns = -(-len(series.names) // _LEGEND_ROWS)
            size = "small" if columns == 1 else "x-small"
            axes.legend(loc="upper left", bbox_to_anchor=(1, 1), ncols=columns, fontsize=size, frameon=False)

    def draw(self, samples: Samples) -> None:
        """Moves the lines, and the limits where they must."""
        for plot in self._subplots:
            plot.history.add(samples.times, samples.columns[plot.series.key])
            for line, values in zip(plot.lines, plot.history.values.T, strict=True):
                line.set_data(plot.history.times, values)
            if plot.values.follow(plot.history.values):
                plot.axes.set_ylim(plot.values.limits)
        if self._times.follow(self._subplots[0].history.times):
            # The axes share it.
            self._subplots[0].axes.set_xlim(self._times.limits)

    def restart(self) -> None:
        """Has the lines start anew."""
        self._times.clear()
        for plot in self._subplots:
            plot.history.clear()
            plot.values.clear()
