"""Rows of numbers and text as CSV, each number as the shortest text that reads back to the same bits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import orjson

__all__ = ["format_rows", "quote"]

# orjson holds the interpreter while it writes; this many rows keep a step from waiting more than some microseconds.
_PIECE = 32

_NEEDS_QUOTES = re.compile(r'[",\r\n]')

Array = np.ndarray[Any, Any]


def format_rows(times: Array, columns: Sequence[Array], suffix: bytes) -> Iterator[tuple[bytes, int]]:
    """Pieces of text of whole rows, each with its number of rows.

    Args:
        times: (n,) float64, the first value of each row.
        columns: (n, *shape) arrays of real numbers, bool or text.
        suffix: what each row ends with, the line end included.
    """
    groups = _groups([times, *columns])
    for start in range(0, len(times), _PIECE):
        cells = [_cells(group[start : start + _PIECE]) for group in groups]
        rows = cells[0] if len(cells) == 1 else [b",".join(row) for row in zip(*cells, strict=True)]
        yield suffix.join(rows) + suffix, len(rows)


def quote(text: str) -> str:
    """A text as a CSV field, after RFC 4180."""
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text


def _groups(columns: Sequence[Array]) -> list[Array]:
    """Neighbours of one dtype side by side: (n, values) C-contiguous arrays, none without values."""
    flat = [column.reshape(len(column), -1) for column in columns]
    flat = [column for column in flat if column.shape[1]]
    groups = [list(group) for _, group in groupby(flat, key=lambda column: column.dtype)]
    return [np.ascontiguousarray(np.hstack(group) if len(group) > 1 else group[0]) for group in groups]


def _cells(values: Array) -> list[bytes]:
    """The fields of each row of one group, joined by commas."""
    if isinstance(values.dtype, np.dtypes.StringDType):
        return [",".join(map(quote, row)).encode() for row in values.tolist()]
    if values.dtype.kind == "f" and values.dtype.itemsize not in {4, 8}:
        # orjson knows no long double and writes float16 with the digits of float32; NumPy's text is the shortest too.
        return [",".join(map(str, row)).encode() for row in values]
    text = orjson.dumps(values, option=orjson.OPT_SERIALIZE_NUMPY)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        text = _put_back(text, values[~np.isfinite(values)])
    return text[2:-2].split(b"],[")


def _put_back(text: bytes, values: Array) -> bytes:
    """Replaces each null, which JSON has for them, by nan, inf or -inf in order."""
    pieces = text.split(b"null")
    names = [b"nan" if np.isnan(v) else b"inf" if v > 0 else b"-inf" for v in values]
    return b"".join(piece for pair in zip(pieces, [*names, b""], strict=True) for piece in pair)
