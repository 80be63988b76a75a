"""Lines over time, drawn by matplotlib."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simreel.recorders.plots.lines import History, Series, View, grid, line_style, series_of
from simreel.recorders.plots.mpl_texts import MPLFont, add_legend, add_title
from simreel.recorders.plots.plotter import Plotter, Samples
from simreel.recorders.plots.texts import LEGEND_PART

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

__all__ = ["MPLLines"]

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
        # Column by column.
        all_axes = list(surface.subplots(rows, columns, sharex=True, squeeze=False).T.flat)
        add_title(surface, options.title)
        for one, axes in zip(series, all_axes, strict=False):
            lines = []
            for i in range(len(one.names)):
                color, style = line_style(i)
                lines += axes.plot([], [], color=color, linestyle=style, linewidth=1.5, animated=True)
            history = History(options.history_length, len(lines))
            view = View(_SPARE_VALUES, log=options.y_log_scale)
            self._subplots.append(_Subplot(one, history, axes, lines, view))
            self._decorate(axes)
        for axes in all_axes[len(series) :]:
            axes.remove()
        # In each column of them, the last.
        lowest = self._subplots[rows - 1 :: rows] + self._subplots[-1:]
        for plot in lowest:
            plot.axes.set_xlabel(" ")
            plot.axes.tick_params(labelbottom=True)
        self._write(surface, lowest)

    def _decorate(self, axes: Axes) -> None:
        axes.grid(alpha=0.3)
        axes.margins(0)
        if self.options.y_log_scale:
            axes.set_yscale("log", nonpositive="mask")
        else:
            axes.ticklabel_format(axis="y", useOffset=False)

    def _write(self, surface: Figure, lowest: list[_Subplot]) -> None:
        """Writes what must find room beside the axes."""
        options, font = self.options, MPLFont(surface, "medium")
        for plot in self._subplots:
            plot.axes.set_title(plot.series.title and " ", loc="left", fontsize="medium")
        # All heights are those that stay.
        surface.draw_without_rendering()
        height = min(plot.axes.bbox.height for plot in self._subplots)
        is_shared = not font.fits(options.y_label, height)
        if is_shared:
            surface.supylabel(font.shortened(options.y_label, surface.bbox.height), fontsize="medium")
        rooms = [plot.axes.bbox.width - font.height * bool(options.y_label) for plot in self._subplots]
        for plot, width in zip(self._subplots, rooms, strict=True):
            axes, series = plot.axes, plot.series
            axes.set_title(font.shortened(series.title, width), loc="left", fontsize="medium")
            if not is_shared:
                axes.set_ylabel(options.y_label)
            if any(series.names):
                add_legend(axes, plot.lines, series.names, LEGEND_PART * width)
        for plot in lowest:
            width = plot.axes.bbox.width * (1 - any(plot.series.names) * LEGEND_PART)
            plot.axes.set_xlabel(font.shortened(options.x_label or "time [s]", width))

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
