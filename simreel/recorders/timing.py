"""The grid of steps that a recorder samples."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from simreel.errors import SimreelWarning

__all__ = ["Timing"]

# No run gets there; far enough below 2^63 that step numbers stay int64.
_MAX_STRIDE = 2**53


@dataclass(frozen=True)
class Timing:
    """Which steps are sampled and how long a step is: step k is due where `k % stride == 0`, at time `k * dt`."""

    dt: float
    """Time of one step [s]."""

    stride: int
    """Steps from one sample to the next."""

    n_envs: int = 0
    """Worlds; 0 without worlds."""

    @property
    def hz(self) -> float:
        """Samples per simulated second [Hz]."""
        return 1 / (self.stride * self.dt)

    @classmethod
    def at(cls, hz: float | None, dt: float, n_envs: int, label: str, field: str = "hz") -> Timing:
        """The grid nearest to `hz` [Hz], which the user gave as `field`; warns where that is another rate."""
        if hz is None:
            return cls(dt, 1, n_envs)
        steps = 1 / (hz * dt) if hz * dt > 1 / _MAX_STRIDE else _MAX_STRIDE
        timing = cls(dt, max(1, round(steps)), n_envs)
        # Far above what float division loses, far below any rate that somebody would tell apart.
        if abs(timing.hz - hz) > 1e-9 * hz:
            warnings.warn(
                f"{label}: {field}={hz:g} does not divide the steps of dt={dt:g} s evenly; "
                f"it records at {timing.hz:.6g} Hz, each {_ordinal(timing.stride)} step",
                SimreelWarning,
                stacklevel=4,
            )
        return timing


def _ordinal(n: int) -> str:
    ending = "th" if n % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"
