"""Predictors 5 and 6: positions and quaternions of joints from their velocities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simreel.reel.codec.chain import Chain, add_up
from simreel.reel.codec.family import END_VELOCITY, MEAN_VELOCITY, Columns, Family, Operands, Share
from simreel.reel.codec.increments import EndVelocity, Increments, MeanVelocity
from simreel.reel.codec.operands import Floats, clean
from simreel.reel.codec.ordered import from_ordered
from simreel.reel.codec.quaternion import product, running_product, turns

if TYPE_CHECKING:
    from simreel.reel.codec.ordered import Integers
    from simreel.reel.layout import Joint, Layout

__all__ = ["Motion"]

_FLOAT = np.dtype("<f8")


class Motion(Family):
    """The columns of `qpos` that belong to joints."""

    predictors = (END_VELOCITY, MEAN_VELOCITY)

    def __init__(self, layout: Layout, dt: float, *, has_warmstart: bool) -> None:
        width = layout["qpos"].width
        # By column of qpos: the column of qvel that moves it, or the first one of its angular velocity; and the first
        # column of its quaternion. -1 where there is none.
        self._speed = np.full(width, -1)
        self._start = np.full(width, -1)
        for joint in layout.joints:
            straight = _straight(joint)
            start, stop = joint.qposadr + straight, joint.qposadr + joint.nq
            self._speed[joint.qposadr : start] = joint.dofadr + np.arange(straight)
            self._speed[start:stop] = joint.dofadr + straight
            self._start[start:stop] = start
        super().__init__(np.flatnonzero(self._speed >= 0))
        self.needs = ("qvel", "warmstart") if has_warmstart else ("qvel",)
        self._increments: dict[int, Increments] = {
            END_VELOCITY: EndVelocity(dt),
            MEAN_VELOCITY: MeanVelocity(dt, has_warmstart=has_warmstart),
        }

    def shares(self, columns: Columns, chosen: Columns) -> list[tuple[Columns, Share]]:
        """Positions and quaternions, by the one predictor and the other."""
        shares: list[tuple[Columns, Share]] = []
        for predictor, increments in self._increments.items():
            straight = np.flatnonzero((chosen == predictor) & (self._start[columns] < 0))
            if straight.size:
                mine = columns[straight]
                shares.append((straight, _Straight(mine, self._speed[mine], increments)))
            turning = np.flatnonzero((chosen == predictor) & (self._start[columns] >= 0))
            if turning.size:
                mine = columns[turning]
                shares.append((turning, _Turning(mine, self._start[mine], self._speed[mine], increments)))
        return shares


def _straight(joint: Joint) -> int:
    """Coordinates before the quaternion, or all where there is none."""
    return {"free": 3, "ball": 0}.get(joint.type, 1)


class _Straight(Chain):
    """Columns that one velocity moves."""

    def __init__(self, columns: Columns, speeds: Columns, increments: Increments) -> None:
        super().__init__(columns)
        self._speeds = speeds
        self._increments = increments

    def path(self, n: int, first: Integers, operands: Operands) -> Floats:
        """The path of each column, (k, n) float64."""
        return add_up(first[self._columns], self._increments.of(self._speeds, operands))


class _Turning(Chain):
    """Components of quaternions that angular velocities turn."""

    def __init__(self, columns: Columns, start: Columns, speeds: Columns, increments: Increments) -> None:
        """Sorts the columns.

        Args:
            columns: (k,) of qpos.
            start: (k,) first column of the quaternion of each.
            speeds: (k,) first column of qvel of its angular velocity.
            increments: what velocities add.
        """
        super().__init__(columns)
        quaternions, leaders, self._which = np.unique(start, return_index=True, return_inverse=True)
        self._component = columns - start
        self._all = quaternions + np.arange(4)[:, None]
        # Axis by axis, for all quaternions.
        self._speeds = (speeds[leaders] + np.arange(3)[:, None]).ravel()
        self._increments = increments

    def path(self, n: int, first: Integers, operands: Operands) -> Floats:
        """The path of each column, (k, n) float64."""
        increments = self._increments.of(self._speeds, operands)
        increments[:, 0] = 0.0
        turned = running_product(turns(increments.reshape(3, -1, n)))
        start = clean(from_ordered(first[self._all], _FLOAT))
        path: Floats = product(start[:, :, None], turned)[self._component, self._which]
        return path
