"""Turning by an angular velocity, with + and * alone."""

from __future__ import annotations

import math

import numpy as np

from simreel.reel.codec.operands import Floats, clean

__all__ = ["product", "running_product", "turns"]

# Exact to the last bit up to a half turn of one radian in one step.
_TERMS = 10
_COSINE = [(-1) ** j / math.factorial(2 * j) for j in range(_TERMS)]
_SINE = [(-1) ** j / math.factorial(2 * j + 1) for j in range(_TERMS)]
_COEFFICIENTS = np.array([_COSINE, _SINE]).T[:, :, None, None]

# With the components of a product as ((w, x), (y, z)): the sign of what each component of the left factor adds to it.
_OF_X = np.array([[-1.0, 1.0], [-1.0, 1.0]])[:, :, None, None]
_OF_Y = np.array([[-1.0, 1.0], [1.0, -1.0]])[:, :, None, None]
_OF_Z = np.array([[-1.0, -1.0], [1.0, 1.0]])[:, :, None, None]


def turns(angles: Floats) -> Floats:
    """The unit quaternions (4, k, n) of rotation vectors (3, k, n) [rad]; none for more than two radians."""
    half = clean(0.5 * angles)
    squares = half * half
    square = (squares[0] + squares[1]) + squares[2]
    far = ~(square <= 1.0)
    square[far] = 0.0
    half[:, far] = 0.0
    series = np.broadcast_to(_COEFFICIENTS[-1], (2, *square.shape))
    for coefficient in _COEFFICIENTS[-2::-1]:
        series = coefficient + square * series
    turned = np.empty((4, *square.shape))
    turned[0] = series[0]
    turned[1:] = clean(series[1] * half)
    return turned


def product(left: Floats, right: Floats) -> Floats:
    """The products of quaternions (4, k, n), or (4, k, 1), and (4, k, n)."""
    factor = right.reshape(2, 2, *right.shape[1:])
    total: Floats = left[0] * factor
    total += (left[1] * _OF_X) * factor[:, ::-1]
    total += (left[2] * _OF_Y) * factor[::-1]
    total += (left[3] * _OF_Z) * factor[::-1, ::-1]
    return total.reshape(right.shape)


def running_product(turned: Floats) -> Floats:
    """The products of the quaternions (4, k, n) up to each frame, made by doubling."""
    total = turned.copy()
    reach = 1
    while reach < total.shape[2]:
        total[:, :, reach:] = clean(product(total[:, :, :-reach], total[:, :, reach:]))
        reach *= 2
    return total
