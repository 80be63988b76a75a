"""Names and numbers of what a scene has."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from simreel.errors import FieldError, OptionsError

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import ArrayLike

    from simreel.recorders.worlds import WorldIds

__all__ = ["count", "free_name", "world_ids"]


def world_ids(call: str, envs_idx: ArrayLike, n_envs: int) -> WorldIds:
    """The numbers of the worlds as they are given, (k,) int.

    Args:
        call: how an error names the call.
        envs_idx: numbers, (k,) int or one int, or a mask, (n_envs,) bool.
        n_envs: the worlds there are.

    Raises:
        FieldError: there is no such world.
    """
    allowed = f"numbers from 0 to {n_envs - 1} or a mask of {n_envs} are allowed"
    if not n_envs:
        allowed = "the scene has one world; leave it out, or build(n_envs=...)"
    try:
        ids = np.atleast_1d(np.asarray(envs_idx))
    except ValueError:  # lists of different lengths
        raise FieldError(f"{call}: envs_idx", repr(envs_idx), allowed) from None
    if ids.dtype == bool and ids.shape == (n_envs,):
        return np.flatnonzero(ids)
    if ids.size == 0 and n_envs:
        return np.empty(0, np.intp)
    if ids.ndim != 1 or ids.dtype.kind not in "iu" or not n_envs or ids.min() < 0 or ids.max() >= n_envs:
        raise FieldError(f"{call}: envs_idx", str(np.asarray(envs_idx).tolist()), allowed)
    return ids.astype(np.intp)


def count(call: str, name: str, value: Any) -> int:
    """A whole number of at least 0.

    Raises:
        OptionsError: it is something else.
    """
    try:
        number = -1 if isinstance(value, (bool, np.bool_)) else operator.index(value)
    except TypeError:
        number = -1
    if number < 0:
        raise OptionsError(call, [f"{name} = {value!r}: a whole number of at least 0 is needed"])
    return number


def free_name(stem: str, names: Collection[str]) -> str:
    """The stem, or with the first number that no name has."""
    name, number = stem, 1
    while name in names:
        number += 1
        name = f"{stem}_{number}"
    return name
