"""The codec for MuJoCo's state: what an integrator computes from other fields is not stored again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simreel.reel.codec.chain import Clock
from simreel.reel.codec.diff1 import Diff1
from simreel.reel.codec.motion import Motion
from simreel.reel.codec.steps import Steps

if TYPE_CHECKING:
    from simreel.reel.codec.family import Family
    from simreel.reel.layout import Field

__all__ = ["Phys1"]


class Phys1(Diff1):
    """Differences, and for the fields `time`, `qpos` and `qvel` the steps of integrators."""

    name = "phys1"

    def _families(self, field: Field) -> list[Family]:
        families = super()._families(field)
        speed, push = self._float_width("qvel"), self._float_width("warmstart")
        has_warmstart = push is not None and push == speed
        if field.name == "time" and self._float_width("time") is not None:
            families.append(Clock(field.width, self.dt))
        elif field.name == "qpos" and self.layout.joints:
            families.append(Motion(self.layout, self.dt, has_warmstart=has_warmstart))
        elif field.name == "qvel" and has_warmstart:
            families.append(Steps(field.width, self.dt))
        return families

    def _float_width(self, name: str) -> int | None:
        """The width of a field of float64; None where there is no such field."""
        for field in self.layout.fields:
            if field.name == name and not field.ragged and field.dtype == np.float64:
                return field.width
        return None
