"""What may enter the arithmetic of a prediction."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

__all__ = ["Floats", "clean"]

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

# Products of two operands, and sums of these, stay far from the subnormal and the infinite numbers, so that neither
# they nor the flush-to-zero mode of the processor have a say. Nothing physical is smaller or larger.
# Arrays: numpy takes twice as long for a Python number.
_LOWEST, _HIGHEST = (np.array(bound).view(np.int64) for bound in (2.0**-300, 2.0**300))
_SPAN = np.array(_HIGHEST - _LOWEST).view(np.uint64)
_MAGNITUDE = np.array(2**63 - 1)


def clean(values: Floats) -> Floats:
    """The values, with 0.0 in place of those that are not in `2^-300 <= |x| < 2^300`."""
    # By integers: a comparison of floats would see a subnormal as 0, or not, depending on the processor's mode.
    magnitude = values.view(np.int64) & _MAGNITUDE
    magnitude -= _LOWEST
    return np.where(magnitude.view(np.uint64) < _SPAN, values, 0.0)
