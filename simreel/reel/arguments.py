"""Checks what a caller gave."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simreel.errors import FieldError

__all__ = ["file_path", "integer", "mapping", "positive"]


def file_path(name: str, value: Any) -> Path:
    """The absolute path of a file; `~` at its start is the user's folder.

    Args:
        name: of the argument.
        value: what was given for it.

    Raises:
        FieldError: it is no path.
    """
    if not isinstance(value, str | os.PathLike) or not isinstance(given := os.fspath(value), str):
        raise FieldError(name, f"{value!r:.100}", "the path of a file is needed")
    return Path(os.path.abspath(os.path.expanduser(given)))


def integer(name: str, value: Any, least: int, needed: str) -> int:
    """The integer.

    Args:
        name: of the argument.
        value: what was given for it.
        least: that is allowed.
        needed: what is, in words.

    Raises:
        FieldError: it is none, or smaller, or needs more than 63 bits.
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if not least <= number < 2**63:
        raise FieldError(name, f"{value!r}", f"{needed} is needed")
    return number


def positive(name: str, value: Any, needed: str) -> float:
    """The finite number above 0.

    Args:
        name: of the argument.
        value: what was given for it.
        needed: what is allowed, in words.

    Raises:
        FieldError: it is none.
    """
    try:
        number = math.nan if isinstance(value, (bool, str)) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 < number < math.inf:
        raise FieldError(name, f"{value!r}", f"{needed} is needed")
    return number


def mapping(name: str, value: Any) -> dict[str, Any]:
    """A copy of the mapping, empty for None.

    Raises:
        FieldError: it is none.
    """
    if value is not None and not isinstance(value, Mapping):
        raise FieldError(name, f"{type(value).__name__}", "a dict is needed")
    return dict(value or {})
