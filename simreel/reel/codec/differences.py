"""Predictors 1 to 3: differences of the integers, for every column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simreel.reel.codec.family import (
    FIRST_DIFFERENCE,
    SECOND_DIFFERENCE,
    THIRD_DIFFERENCE,
    Columns,
    Family,
    Operands,
    Share,
)

if TYPE_CHECKING:
    from simreel.reel.codec.ordered import Integers

__all__ = ["Differences", "running_sum"]


class Differences(Family):
    """First, second and third difference of a field of any dtype."""

    predictors = (FIRST_DIFFERENCE, SECOND_DIFFERENCE, THIRD_DIFFERENCE)

    def __init__(self, width: int) -> None:
        super().__init__(np.arange(width))

    def shares(self, columns: Columns, chosen: Columns) -> list[tuple[Columns, Share]]:
        """All together."""
        return [(np.arange(len(columns)), _Differences(columns, chosen))]


class _Differences(Share):
    def __init__(self, columns: Columns, chosen: Columns) -> None:
        self._columns = columns
        # The columns to take differences of a second, and a third time.
        self._again = [
            np.flatnonzero(chosen >= predictor)
            for predictor in (SECOND_DIFFERENCE, THIRD_DIFFERENCE)
            if (chosen >= predictor).any()
        ]

    def residual(self, ordered: Integers, first: Integers, operands: Operands) -> Integers:
        """What the predictors miss, (k, n - 1)."""
        residual: Integers = ordered[:, 1:] - ordered[:, :-1]
        for again in self._again:
            part = residual[again]
            part[:, 1:] -= part[:, :-1].copy()
            residual[again] = part
        return residual

    def restore(self, residual: Integers, first: Integers, operands: Operands) -> Integers:
        """The ordered values (k, n) that have this residual."""
        for again in reversed(self._again):
            residual[again] = running_sum(residual[again])
        ordered: Integers = np.empty((len(residual), residual.shape[1] + 1), residual.dtype)
        ordered[:, 0] = first[self._columns]
        ordered[:, 1:] = residual
        return running_sum(ordered)


def running_sum(values: Integers) -> Integers:
    """The values, each replaced by the sum up to it along the last axis, at their own width."""
    return np.add.accumulate(values, axis=-1, out=values)
