"""Frame rates as exact fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simreel.recorders.timing import Timing

__all__ = ["exact", "frame_rate", "simplest"]

# What dt loses as a float, substeps times timestep included.
_DT_TOLERANCE = 1e-12
# What somebody leaves off who types 33.33333333333; a millionth of a second in three hours.
_FPS_TOLERANCE = 1e-10
# The rates of television are these times 1000/1001, and are typed with two or three digits.
_NTSC = (24, 30, 48, 60, 120)
_NTSC_TOLERANCE = 0.005
# FFmpeg's fractions are of 32 bits.
_MAX_TERM = 2**30


def frame_rate(fps: float | None, timing: Timing) -> Fraction:
    """The frames of a second of the video: as asked for, or the exact rate at which samples are taken (None)."""
    if fps is None:
        return _limited(1 / (exact(timing.dt, _DT_TOLERANCE) * timing.stride))
    for nominal in _NTSC:
        rate = Fraction(1000 * nominal, 1001)
        if abs(fps - rate) < _NTSC_TOLERANCE:
            return rate
    return _limited(exact(fps, _FPS_TOLERANCE))


def _limited(rate: Fraction) -> Fraction:
    # A frame in 34 years is as good as one in more; none is no rate.
    return max(rate, Fraction(1, _MAX_TERM)).limit_denominator(max(1, int(_MAX_TERM / max(Fraction(1), rate))))


def exact(value: float, tolerance: float) -> Fraction:
    """The fraction with the smallest terms that is within a relative tolerance of a positive number."""
    middle, width = Fraction(value), Fraction(tolerance)
    return simplest(middle * (1 - width), middle * (1 + width))


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the smallest terms in [low, high], 0 < low <= high."""
    # Continued fractions: the terms that both have in common, then the smaller of the first that differ, rounded up.
    whole = low.numerator // low.denominator
    if whole == low:
        return Fraction(whole)
    if whole + 1 <= high:
        return Fraction(whole + 1)
    return whole + 1 / simplest(1 / (high - whole), 1 / (low - whole))
