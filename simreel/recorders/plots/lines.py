"""What both line plotters know of lines: their names, the samples that are shown, and the limits of the axes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from simreel.recorders.plots.plotter import Samples

__all__ = ["COLORS", "History", "Series", "View", "grid", "line_style", "series_of"]

Array = np.ndarray[Any, Any]
Limits = tuple[float, float]

COLORS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf")
STYLES = ("solid", "dashed", "dotted", "dashdot")
# Of an axis, taken by the values.
_LEAST_USED = 0.5
# Limits nearer to each other, as a part of the values, have no room for ticks between them.
_MIN_SPAN = 1e-6
# Beyond it the distance of two limits overflows.
_HUGE = 1e300
# Ticks beyond the limits overflow before the values do.
_MAX_EXPONENT = 100
# Plots above each other, before there is another column of them.
_MAX_ROWS = 6


@dataclass(frozen=True)
class Series:
    """The lines of one plot."""

    key: str
    """Of the column."""
    title: str
    """Empty where there is one plot without a key."""
    names: tuple[str, ...]
    """Of each line; "" where there is one without a name."""


def series_of(samples: Samples, labels: Any) -> list[Series]:
    """The plots of some samples, in the order of their keys.

    Args:
        samples: scalars or 1-D arrays.
        labels: those of the options: names, names by key, or None.
    """
    found = []
    for key, column in samples.columns.items():
        count = int(np.prod(column.shape[1:]))
        given = labels.get(key) if isinstance(labels, dict) else labels
        numbers = ("",) if column.ndim == 1 else tuple(map(str, range(count)))
        found.append(Series(key, key if samples.has_keys else "", tuple(given) if given else numbers))
    return found


def grid(count: int) -> tuple[int, int]:
    """Rows and columns for so many plots."""
    columns = math.ceil(count / _MAX_ROWS)
    return math.ceil(count / columns), columns


def line_style(index: int) -> tuple[str, str]:
    """Colour and style of a line, another for each of 40."""
    return COLORS[index % len(COLORS)], STYLES[index // len(COLORS) % len(STYLES)]


class History:
    """The newest samples of one plot, times and values trimmed together.

    Args:
        length: how many at most.
        count: lines.
    """

    def __init__(self, length: int, count: int) -> None:
        self._times = np.empty(length)
        self._values = np.empty((length, count))
        self._n = 0

    @property
    def times(self) -> Array:
        """(n,) float64 [s]."""
        return self._times[: self._n]

    @property
    def values(self) -> Array:
        """(n, count) float64; what is not finite is NaN, a gap."""
        return self._values[: self._n]

    def clear(self) -> None:
        """Forgets all."""
        self._n = 0

    def add(self, times: Array, values: Array) -> None:
        """Takes some samples, (n,) and (n, ...)."""
        length = len(self._times)
        times, values = times[-length:], values[-length:].reshape(len(times[-length:]), -1)
        n = len(times)
        if self._n + n > length:
            kept = length - n
            self._times[:kept] = self._times[self._n - kept : self._n].copy()
            self._values[:kept] = self._values[self._n - kept : self._n].copy()
            self._n = kept
        stop = self._n + n
        self._times[self._n : stop] = times
        new = self._values[self._n : stop]
        new[...] = values
        new[~np.isfinite(new)] = np.nan
        self._n = stop


class View:
    """The limits of an axis. They move only when they must: a new frame of ticks and numbers costs more than the lines.

    Args:
        spare: room for values to come, as a part of the range of those that are there.
        is_ahead: whether all of it is at the upper end.
        log: whether the axis is logarithmic.
    """

    def __init__(self, spare: float, *, is_ahead: bool = False, log: bool = False) -> None:
        self._spare = spare
        self._is_ahead = is_ahead
        self._log = log
        self.clear()

    def clear(self) -> None:
        """Forgets the limits: the next values get new ones."""
        self._low, self._high = math.nan, math.nan

    @property
    def limits(self) -> Limits:
        """Of a logarithmic axis those of the values, not of their logarithms."""
        return (10.0**self._low, 10.0**self._high) if self._log else (self._low, self._high)

    @property
    def raw_limits(self) -> Limits:
        """Of a logarithmic axis those of the logarithms."""
        return self._low, self._high

    def follow(self, values: Array) -> bool:
        """Whether the limits had to move: values are outside, or take less than half of the axis."""
        values = values[values > 0] if self._log else values[~np.isnan(values)]
        if not values.size:
            low, high = 0.0, 1.0
        else:
            low, high = float(values.min()), float(values.max())
            low, high = (math.log10(low), math.log10(high)) if self._log else (low, high)
        bound = _MAX_EXPONENT if self._log else _HUGE
        low, high = min(max(low, -bound), bound), min(max(high, -bound), bound)
        size = max(abs(low), abs(high))
        least = (0.1 * size or 1.0) if low == high else _MIN_SPAN * size
        span = max(high - low, least)
        if self._low <= low and high <= self._high and span >= _LEAST_USED * (self._high - self._low):
            return False
        if self._is_ahead:
            self._low, self._high = low, low + span * (1 + self._spare)
        else:
            margin = (span - (high - low)) / 2 + span * self._spare
            self._low, self._high = low - margin, high + margin
        return True
