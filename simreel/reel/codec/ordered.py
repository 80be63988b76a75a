"""Bit patterns as signed integers in the order of the numbers that they stand for."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

__all__ = ["ONE", "REST", "SIGN", "Integers", "from_ordered", "integer_dtype", "to_ordered"]

Integers: TypeAlias = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]

# By bytes of an integer: its dtype, one, where the sign is, and all other bits. Arrays: numpy takes twice as long for a
# Python number.
_DTYPE = {size: np.dtype(f"<i{size}") for size in (1, 4, 8)}
ONE = {size: np.array(1, dtype) for size, dtype in _DTYPE.items()}
SIGN = {size: np.array(8 * size - 1, dtype) for size, dtype in _DTYPE.items()}
REST = {size: np.array(2 ** (8 * size - 1) - 1, dtype) for size, dtype in _DTYPE.items()}


def integer_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The signed integer of the same size."""
    return _DTYPE[dtype.itemsize]


def to_ordered(values: np.ndarray[Any, Any]) -> Integers:
    """The ordered integers of values, of the same shape and size; a view where the bits are the integer already."""
    bits: Integers = values.view(integer_dtype(values.dtype))
    return _flipped(bits) if values.dtype.kind == "f" else bits


def from_ordered(ordered: Integers, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The values of ordered integers, exact to the bit."""
    return (_flipped(ordered) if dtype.kind == "f" else ordered).view(dtype)


def _flipped(bits: Integers) -> Integers:
    # Negative floats count downwards from -0.0: all bits but the sign are turned. Its own inverse.
    turned: Integers = bits >> SIGN[bits.itemsize]
    turned &= REST[bits.itemsize]
    turned ^= bits
    return turned
