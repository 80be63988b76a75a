"""The pixels of a view and the polynomials over them, from which all that is drawn is made.

Every ray is `t * d` from the eye, where `d` has length 1 along the optical axis: `t` is the depth. What is kept per
pixel is its inverse `s = 1 / t`: over a plane it is linear in the pixel's column and row, over a sphere, cylinder or
ellipsoid the root of a quadratic whose discriminant is a polynomial of them. So drawing is evaluating polynomials in
the object's box on the screen, and keeping the larger `s`. Coefficients are made in float64 and belong to a pixel near
the object, not to the corner of the picture: float32 is then enough for the pixels.

A polynomial is a (3, 3) matrix C: its value at column `j`, row `i` is `(1, i, i^2) C (j^2, j, 1)^T`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BACKGROUND", "Box", "Canvas", "linear", "quadratic"]

Box = tuple[int, int, int, int]
"""First row, row after the last, first column, column after the last."""

BACKGROUND = -1
"""The part number of a pixel where nothing is."""


class Canvas:
    """Inverse depth and the number of the part that is seen, for each pixel.

    Args:
        size: width and height [pixels].
    """

    def __init__(self, size: tuple[int, int]) -> None:
        self.width, self.height = size
        self.inverse = np.empty((self.height, self.width), np.float32)
        """1 / depth [1/m]."""
        self.part = np.empty((self.height, self.width), np.int32)
        columns, rows = np.arange(1.0 - self.width, self.width), np.arange(1.0 - self.height, self.height)
        self._columns = np.array([columns**2, columns, np.ones_like(columns)], np.float32)
        self._rows = np.array([np.ones_like(rows), rows, rows**2], np.float32).T.copy()

    def forms(self, coefficients: NDArray[np.float32], box: Box, center: tuple[int, int]) -> NDArray[np.float32]:
        """Polynomials at the pixels of a box.

        Args:
            coefficients: (n, 3, 3), in columns and rows counted from `center`.
            box: where.
            center: a row and column of the picture.

        Returns:
            (n, rows, columns).
        """
        top, bottom, left, right = box
        row, column = self.height - 1 - center[0], self.width - 1 - center[1]
        across = np.matmul(coefficients, self._columns[:, column + left : column + right])
        values: NDArray[np.float32] = np.matmul(self._rows[row + top : row + bottom], across)
        return values

    def planes(self, forms: NDArray[np.float32], box: Box, center: tuple[int, int]) -> NDArray[np.float32]:
        """Linear forms `a j + b i + c` at the pixels of a box, (n, rows, columns); `forms` is (n, 3) of (a, b, c)."""
        top, bottom, left, right = box
        across = self._columns[1, self.width - 1 - center[1] + left : self.width - 1 - center[1] + right]
        down = self._rows[self.height - 1 - center[0] + top : self.height - 1 - center[0] + bottom, 1]
        rows = forms[:, 1:2] * down + forms[:, 2:]
        columns = forms[:, :1] * across
        values: NDArray[np.float32] = np.add(rows[:, :, None], columns[:, None, :])
        return values

    def cut(self, box: Box) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """Views of `inverse` and `part` in a box."""
        top, bottom, left, right = box
        return self.inverse[top:bottom, left:right], self.part[top:bottom, left:right]

    def put(
        self, box: Box, s: NDArray[np.float32], seen: NDArray[np.bool_], part: int, limit: float | None = None
    ) -> None:
        """Shows a part where it is seen, at the inverse depths `s`, of which none may reach the limit."""
        inverse, parts = self.cut(box)
        if limit is not None:
            seen &= s < limit
        np.copyto(inverse, s, where=seen)
        np.copyto(parts, part, where=seen)


def linear(forms: NDArray[np.float64]) -> NDArray[np.float32]:
    """The coefficients, (..., 3, 3), of the linear forms `a j + b i + c`, (..., 3)."""
    out = np.zeros((*forms.shape, 3), np.float32)
    out[..., 0, 1], out[..., 1, 2], out[..., 0, 2] = forms[..., 0], forms[..., 1], forms[..., 2]
    return out


def quadratic(forms: NDArray[np.float64]) -> NDArray[np.float32]:
    """The coefficients, (..., 3, 3), of the quadratic forms `p^T Q p` of `p = (j, i, 1)`, Q (..., 3, 3) symmetric."""
    out = np.zeros(forms.shape, np.float32)
    out[..., 0, 0], out[..., 0, 1], out[..., 0, 2] = forms[..., 0, 0], 2 * forms[..., 0, 2], forms[..., 2, 2]
    out[..., 1, 1], out[..., 1, 2], out[..., 2, 2] = 2 * forms[..., 0, 1], 2 * forms[..., 1, 2], forms[..., 1, 1]
    return out
