"""Predictors 7 to 9: velocities from the warm-start accelerations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from simreel.reel.codec.differences import running_sum
from simreel.reel.codec.family import (
    ACCELERATION,
    ACCELERATION_AND_TREND,
    MEAN_ACCELERATION,
    Columns,
    Family,
    Operands,
    Share,
)
from simreel.reel.codec.operands import Floats, clean
from simreel.reel.codec.ordered import Integers, from_ordered, to_ordered

__all__ = ["Steps"]

# Frames from anchor to anchor. A reader goes through a run frame by frame, but through all runs at once; an anchor
# costs about a byte and a half more than another frame.
_RUN = 16
_FLOAT = np.dtype("<f8")


class Steps(Family):
    """The columns of `qvel`."""

    predictors = (ACCELERATION, MEAN_ACCELERATION, ACCELERATION_AND_TREND)
    needs = ("warmstart",)

    def __init__(self, width: int, dt: float) -> None:
        super().__init__(np.arange(width))
        self._full, self._half = clean(np.array([dt, 0.5 * dt]))

    def shares(self, columns: Columns, chosen: Columns) -> list[tuple[Columns, Share]]:
        """All together."""
        return [(np.arange(len(columns)), _Steps(columns, chosen, self._full, self._half))]


class _Steps(Share):
    """Each prediction starts from the exact values before: a path of sums would drift too far from the values."""

    def __init__(self, columns: Columns, chosen: Columns, full: np.float64, half: np.float64) -> None:
        self._columns = columns
        self._mean = np.flatnonzero(chosen == MEAN_ACCELERATION)
        self._trending = np.flatnonzero(chosen == ACCELERATION_AND_TREND)
        self._weight = (chosen == ACCELERATION_AND_TREND).astype(np.float64)[:, None]
        self._full, self._half = full, half

    def residual(self, ordered: Integers, first: Integers, operands: Operands) -> Integers:
        """What the predictors miss, (k, n - 1)."""
        values = clean(from_ordered(ordered, _FLOAT))
        predicted = values[:, :-1]
        if self._trending.size:
            trend = np.zeros_like(predicted)
            trend[:, 1:] = self._weight * (values[:, 1:-1] - values[:, :-2])
            trend[:, ::_RUN] = 0.0
            predicted = predicted + trend
        residual: Integers = ordered[:, 1:] - to_ordered(predicted + self._gain(operands)[:, 1:])
        residual[:, _RUN - 1 :: _RUN] = ordered[:, _RUN::_RUN] - ordered[:, :-_RUN:_RUN]
        return residual

    def restore(self, residual: Integers, first: Integers, operands: Operands) -> Integers:
        """The ordered values (k, n) that have this residual."""
        k, n = len(residual), residual.shape[1] + 1
        runs = -(-n // _RUN)
        missed: Integers = np.zeros((k, runs * _RUN), np.int64)
        missed[:, 0] = first[self._columns]
        missed[:, 1:n] = residual
        gain = np.zeros((k, runs * _RUN))
        gain[:, :n] = self._gain(operands)
        # Frame of the run, column, run: what is computed together lies together.
        ordered = np.ascontiguousarray(missed.reshape(k, runs, _RUN).transpose(2, 0, 1))
        gain = np.ascontiguousarray(gain.reshape(k, runs, _RUN).transpose(2, 0, 1))
        running_sum(ordered[0])
        # Values that must be cleaned are rare, and each shows in the first result that has one: all before it is right.
        with np.errstate(all="ignore"):
            restored = self._walk(ordered.copy(), gain, _as_it_is)
        values = from_ordered(restored, _FLOAT)
        if not np.array_equal(clean(values).view(np.int64), values.view(np.int64)):
            restored = self._walk(ordered, gain, clean)
        return restored.transpose(1, 2, 0).reshape(k, runs * _RUN)[:, :n]

    def _walk(self, ordered: Integers, gain: Floats, cleaned: Callable[[Floats], Floats]) -> Integers:
        """Makes ordered values of residuals, frame by frame, in their place; (frames of a run, k, runs) as the gain."""
        before = value = cleaned(from_ordered(ordered[0], _FLOAT))
        for now, push in zip(ordered[1:], gain[1:], strict=True):
            predicted = value + self._weight * (value - before) if self._trending.size else value
            now += to_ordered(predicted + push)
            before, value = value, cleaned(from_ordered(now, _FLOAT))
        return ordered

    def _gain(self, operands: Operands) -> Floats:
        """What the accelerations add in each frame, (k, n); that of anchors means nothing."""
        acceleration = operands("warmstart")[self._columns]
        gain: Floats = self._full * acceleration
        if self._mean.size:
            mean = acceleration[self._mean]
            gain[self._mean, 1:] = self._half * (mean[:, 1:] + mean[:, :-1])
        if self._trending.size:
            trending = acceleration[self._trending]
            change = self._full * (trending[:, 1:] - trending[:, :-1])
            # After an anchor there is no trend, and the acceleration counts as a whole.
            change[:, ::_RUN] = gain[self._trending, 1::_RUN]
            gain[self._trending, 1:] = change
        return gain


def _as_it_is(values: Floats) -> Floats:
    return values
