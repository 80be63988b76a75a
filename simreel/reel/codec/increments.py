"""What velocities add to positions in each frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from simreel.reel.codec.operands import Floats, clean

if TYPE_CHECKING:
    from simreel.reel.codec.family import Columns, Operands

__all__ = ["EndVelocity", "Increments", "MeanVelocity"]


class Increments(ABC):
    """A way to integrate velocities."""

    @abstractmethod
    def of(self, speeds: Columns, operands: Operands) -> Floats:
        """By columns (k,) of `qvel`, a new array (k, n) float64; what stands for frame 0 means nothing."""


class EndVelocity(Increments):
    """The step of a semi-implicit integrator."""

    def __init__(self, dt: float) -> None:
        self._full = clean(np.array([dt]))

    def of(self, speeds: Columns, operands: Operands) -> Floats:
        """By columns (k,) of `qvel`, a new array (k, n) float64."""
        return self._full * operands("qvel")[speeds]


class MeanVelocity(Increments):
    """The step of an integrator of higher order, and of frames that are further apart than steps.

    The area below the cubic that has the velocities and the accelerations of both ends; the trapezoid without the
    latter.
    """

    def __init__(self, dt: float, *, has_warmstart: bool) -> None:
        self._half, self._twelfth = clean(np.array([0.5 * dt, (dt * dt) / 12.0]))
        self._has_warmstart = has_warmstart

    def of(self, speeds: Columns, operands: Operands) -> Floats:
        """By columns (k,) of `qvel`, a new array (k, n) float64."""
        velocity = operands("qvel")[speeds]
        increments = np.zeros_like(velocity)
        increments[:, 1:] = self._half * (velocity[:, 1:] + velocity[:, :-1])
        if self._has_warmstart:
            acceleration = operands("warmstart")[speeds]
            increments[:, 1:] -= self._twelfth * (acceleration[:, 1:] - acceleration[:, :-1])
        return increments
