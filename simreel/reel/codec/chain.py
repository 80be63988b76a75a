"""Predictors that follow a path from the first value, made of increments that are known from other fields."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from simreel.reel.codec.differences import running_sum
from simreel.reel.codec.family import CLOCK, Columns, Family, Operands, Share
from simreel.reel.codec.operands import Floats, clean
from simreel.reel.codec.ordered import Integers, from_ordered, to_ordered

__all__ = ["Chain", "Clock", "add_up"]


class Chain(Share):
    """The residual is the change of the distance between values and path.

    Where a simulator adds the same increments in the same order, values and path are one and the residual is 0; and a
    reader needs no loop over frames, because no step of the path depends on a value.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns

    @abstractmethod
    def path(self, n: int, first: Integers, operands: Operands) -> Floats:
        """The path of each column, (k, n) float64."""

    def residual(self, ordered: Integers, first: Integers, operands: Operands) -> Integers:
        """What the predictors miss, (k, n - 1)."""
        distance = ordered - to_ordered(self.path(ordered.shape[1], first, operands))
        return distance[:, 1:] - distance[:, :-1]

    def restore(self, residual: Integers, first: Integers, operands: Operands) -> Integers:
        """The ordered values (k, n) that have this residual."""
        path = to_ordered(self.path(residual.shape[1] + 1, first, operands))
        distance = np.empty_like(path)
        distance[:, 0] = first[self._columns] - path[:, 0]
        distance[:, 1:] = residual
        path += running_sum(distance)
        return path


class Clock(Family):
    """Predictor 4: the time that grows by `dt` with each frame."""

    predictors = (CLOCK,)

    def __init__(self, width: int, dt: float) -> None:
        super().__init__(np.arange(width))
        self._dt = clean(np.array([dt]))

    def shares(self, columns: Columns, chosen: Columns) -> list[tuple[Columns, Share]]:
        """All together."""
        return [(np.arange(len(columns)), _Clock(columns, self._dt))]


class _Clock(Chain):
    def __init__(self, columns: Columns, dt: Floats) -> None:
        super().__init__(columns)
        self._dt = dt

    def path(self, n: int, first: Integers, operands: Operands) -> Floats:
        """The path of each column, (k, n) float64."""
        increments = np.full((len(self._columns), n), self._dt)
        return add_up(first[self._columns], increments)


def add_up(first: Integers, increments: Floats) -> Floats:
    """Each ordered start (k,) plus the increments (k, n) up to each frame, in their place; those of frame 0 are not."""
    increments[:, 0] = clean(from_ordered(first, increments.dtype))
    # Strictly one after another, unlike a sum.
    return np.add.accumulate(increments, axis=1, out=increments)
