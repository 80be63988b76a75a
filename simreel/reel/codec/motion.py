"""Predictors 5 and 6: positions and quaternions of joints from their velocities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simreel.reel.codec.chain import Chain, add_up
from simreel.reel.codec.family import END_VELOCITY, MEAN_VELOCITY, Columns, Family, Operands, Share
from simreel.reel.codec.operands import Floats, clean
from simreel.reel.codec.ordered import Integers, from_ordered
from simreel.reel.codec.quaternion import product, running_product, turns

if TYPE_CHECKING:
    from simreel.reel.layout import Joint, Layout

__all__ = ["Motion"]

_FLOAT = np.dtype("<f8")


class Motion(Family):
    """The columns of `qpos` that belong to joints; semi-implicit integrators move them by the end velocity."""

    predictors = (END_VELOCITY, MEAN_VELOCITY)

    def __init__(self, layout: Layout, dt: float, *, has_warmstart: bool) -> None:
        self.needs = ("qvel", "warmstart") if has_warmstart else ("qvel",)
        width = layout["qpos"].width
        # By column of qpos: the column of qvel that moves it, or the quaternion that it is a part of; else -1.
        self._speed = np.full(width, -1)
        self._quaternion = np.full(width, -1)
        for joint in layout.joints:
            straight = _straight(joint)
            self._speed[joint.qposadr : joint.qposadr + straight] = joint.dofadr + np.arange(straight)
        turning = [joint for joint in layout.joints if joint.nq > joint.nv]
        # By quaternion: its first column of qpos and of qvel.
        self._start = np.array([joint.qposadr + _straight(joint) for joint in turning], np.intp)
        self._angular = np.array([joint.dofadr + _straight(joint) for joint in turning], np.intp)
        self._quaternion[self._start[:, None] + np.arange(4)] = np.arange(len(turning))[:, None]
        self.columns = np.flatnonzero((self._speed >= 0) | (self._quaternion >= 0))
        full, half, twelfth = clean(np.array([dt, 0.5 * dt, (dt * dt) / 12.0]))
        self._steps = _Steps(full, half, twelfth, has_warmstart=has_warmstart)

    def share(self, columns: Columns, chosen: Columns) -> Share:
        """What computes the columns (k,) that have chosen predictors (k,)."""
        parts: list[_Straight | _Turned] = []
        for predictor in self.predictors:
            moved = np.flatnonzero((chosen == predictor) & (self._speed[columns] >= 0))
            if moved.size:
                mine = columns[moved]
                parts.append(_Straight(moved, mine, self._speed[mine], predictor, self._steps))
            turned = np.flatnonzero((chosen == predictor) & (self._quaternion[columns] >= 0))
            if turned.size:
                which, place = np.unique(self._quaternion[columns[turned]], return_inverse=True)
                component = columns[turned] - self._start[which][place]
                start, angular = self._start[which], self._angular[which]
                parts.append(_Turned(turned, (component, place), start, angular, predictor, self._steps))
        return _Motion(columns, parts)


def _straight(joint: Joint) -> int:
    """Coordinates before the quaternion, or all where there is none."""
    return {"free": 3, "ball": 0}.get(joint.type, 1)


class _Motion(Chain):
    def __init__(self, columns: Columns, parts: list[_Straight | _Turned]) -> None:
        super().__init__(columns)
        self._parts = parts

    def path(self, n: int, first: Integers, operands: Operands) -> Floats:
        """The path of each column, (k, n) float64."""
        path = np.empty((len(self._columns), n))
        for part in self._parts:
            path[part.places] = part.path(first, operands)
        return path


@dataclass(frozen=True)
class _Steps:
    """What velocities add in each frame."""

    full: np.float64
    half: np.float64
    twelfth: np.float64
    has_warmstart: bool

    def increments(self, predictor: int, speeds: Columns, operands: Operands) -> Floats:
        """By columns (k,) of qvel: (k, n) float64; that of frame 0 means nothing."""
        velocity = operands("qvel")[speeds]
        if predictor == END_VELOCITY:
            velocity *= self.full
            return velocity
        increments = np.zeros_like(velocity)
        increments[:, 1:] = self.half * (velocity[:, 1:] + velocity[:, :-1])
        if self.has_warmstart:
            acceleration = operands("warmstart")[speeds]
            increments[:, 1:] -= self.twelfth * (acceleration[:, 1:] - acceleration[:, :-1])
        return increments


@dataclass(frozen=True)
class _Straight:
    """Columns that one velocity moves."""

    places: Columns
    columns: Columns
    speeds: Columns
    predictor: int
    steps: _Steps

    def path(self, first: Integers, operands: Operands) -> Floats:
        """(k, n) float64."""
        return add_up(first[self.columns], self.steps.increments(self.predictor, self.speeds, operands))


@dataclass(frozen=True)
class _Turned:
    """Components of quaternions that angular velocities turn."""

    places: Columns
    parts: tuple[Columns, Columns]
    """The component and the quaternion of each column."""

    start: Columns
    angular: Columns
    predictor: int
    steps: _Steps

    def path(self, first: Integers, operands: Operands) -> Floats:
        """(k, n) float64."""
        speeds = (self.angular + np.arange(3)[:, None]).ravel()
        increments = self.steps.increments(self.predictor, speeds, operands)
        increments[:, 0] = 0.0
        turned = running_product(turns(increments.reshape(3, len(self.start), -1)))
        start = clean(from_ordered(first[self.start + np.arange(4)[:, None]], _FLOAT))
        return product(start[:, :, None], turned)[self.parts]
