"""Which predictor a column gets, and how long it keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from simreel.reel.codec.family import Columns, Family, Operands
    from simreel.reel.codec.ordered import Integers

__all__ = ["Choice"]

# Chunks: comparing all predictors takes several times as long as using one.
_KEPT_FOR = 32
# Frames: so many are enough to tell which residual is smaller.
_LOOK_AT_EACH = 4


class Choice:
    """The predictors of the columns of one field, chosen anew now and then."""

    def __init__(self, families: Sequence[Family], width: int) -> None:
        self._families = families
        self._kept = np.zeros(width, np.uint8)
        self._age = 0
        self._frames = 0

    def of(
        self, columns: Columns, ordered: Integers, first: Integers, operands: Operands
    ) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """The predictors (width,) for a chunk in which some columns (k,) vary: 0 for the others.

        Args:
            columns: (k,) those that vary.
            ordered: (k, n) their ordered values.
            first: (width,) ordered values of all columns in frame 0.
            operands: gives the values of other fields.
        """
        n = ordered.shape[1]
        # What a few frames asked for need not hold for many.
        if self._age == 0 or n > 2 * self._frames:
            self._kept[:] = self._families[0].predictors[0]
            self._kept[columns] = self._cheapest(columns, ordered, first, operands)
            self._age, self._frames = 0, n
        self._age = (self._age + 1) % _KEPT_FOR
        predictors = np.zeros_like(self._kept)
        predictors[columns] = self._kept[columns]
        return predictors

    def _cheapest(self, columns: Columns, ordered: Integers, first: Integers, operands: Operands) -> Columns:
        """The predictor (k,) of the smallest residual for each column."""
        cost = np.full(len(columns), np.inf)
        chosen = np.zeros(len(columns), np.intp)
        for family in self._families:
            fit = np.flatnonzero(np.isin(columns, family.columns))
            for predictor in family.predictors if fit.size else ():
                for places, share in family.shares(columns[fit], np.full(len(fit), predictor)):
                    mine = fit[places]
                    bits = _bits(share.residual(ordered[mine], first, operands))
                    smaller = bits < cost[mine]
                    cost[mine[smaller]] = bits[smaller]
                    chosen[mine[smaller]] = predictor
        return chosen


def _bits(residual: Integers) -> np.ndarray[Any, np.dtype[np.intp]]:
    """About the bits that each column (k,) of residuals needs."""
    # The exponent of a float is the bit length of an integer; the sign, a bit each, makes no difference here.
    exponents: np.ndarray[Any, np.dtype[np.intp]] = np.frexp(residual[:, ::_LOOK_AT_EACH].astype(np.float64))[1]
    bits: np.ndarray[Any, np.dtype[np.intp]] = exponents.sum(axis=1)
    return bits
