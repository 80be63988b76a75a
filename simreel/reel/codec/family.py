"""The abstract predictor family, and the bytes that name predictors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from simreel.reel.codec.operands import Floats

if TYPE_CHECKING:
    from simreel.reel.codec.ordered import Integers

__all__ = [
    "ACCELERATION",
    "ACCELERATION_AND_TREND",
    "CLOCK",
    "CONSTANT",
    "END_VELOCITY",
    "FIRST_DIFFERENCE",
    "MEAN_ACCELERATION",
    "MEAN_VELOCITY",
    "SECOND_DIFFERENCE",
    "THIRD_DIFFERENCE",
    "Columns",
    "Family",
    "Operands",
    "Share",
]

# The byte that stands in a stream for each column.
CONSTANT = 0
FIRST_DIFFERENCE = 1
SECOND_DIFFERENCE = 2
THIRD_DIFFERENCE = 3
CLOCK = 4
END_VELOCITY = 5
MEAN_VELOCITY = 6
ACCELERATION = 7
MEAN_ACCELERATION = 8
ACCELERATION_AND_TREND = 9

Columns: TypeAlias = np.ndarray[Any, np.dtype[np.intp]]

Operands: TypeAlias = Callable[[str], Floats]
"""By name of a float64 field: its clean values, (width, n) float64."""


class Family(ABC):
    """Predictors of one field that are computed together."""

    predictors: ClassVar[tuple[int, ...]]

    needs: tuple[str, ...] = ()
    """The fields whose values they ask for."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        """The columns of the field that may have them."""

    @abstractmethod
    def shares(self, columns: Columns, chosen: Columns) -> list[tuple[Columns, Share]]:
        """What computes the columns (k,) that have chosen predictors (k,) of this family.

        Returns:
            Shares, each with the places of its columns in `columns`.
        """


class Share(ABC):
    """Some columns of a field with the predictors that they have chosen.

    Made once and used for many chunks, by several threads: whatever depends on the choice alone is computed before.
    """

    @abstractmethod
    def residual(self, ordered: Integers, first: Integers, operands: Operands) -> Integers:
        """What the predictors miss, (k, n - 1).

        Args:
            ordered: (k, n) ordered values of the columns.
            first: (width,) ordered values of all columns of the field in frame 0.
            operands: gives the values of other fields.
        """

    @abstractmethod
    def restore(self, residual: Integers, first: Integers, operands: Operands) -> Integers:
        """The ordered values (k, n) that have this residual (k, n - 1), which may be changed."""
