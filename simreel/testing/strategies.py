"""Hypothesis strategies of what a data function may return, with the names and values that break writers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from simreel.errors import MissingExtraError

try:
    from hypothesis import assume
    from hypothesis import strategies as st
    from hypothesis.extra.numpy import arrays, from_dtype
except ImportError as error:
    raise MissingExtraError("hypothesis", "testing", "simreel.testing.strategies") from error

__all__ = ["samples", "series"]

# Members of archives, columns, folders, and the names that our own writers use.
_HOSTILE_KEYS = (
    "", " ", "file", "../x", "/x", "a/b", "a\\b", "a.npy", "a", "data", "data_0", "data/data", "timestamp", "step",
    "episode", "world", "world_time", "0", 0, -1, "a,b", 'say "a"', "two\nlines", "nan", "\u00e9\u03c9\u732b\U0001f600",
)  # fmt: skip
_DTYPES = ("f8", "f4", "i8", "i4", "u1", "?")
_SHAPES = ((), (0,), (1,), (3,), (2, 0), (2, 3))
_HOSTILE_FLOATS = (float("nan"), -0.0, float("inf"), float("-inf"), 2.0**53, 5e-324, 0.1)
_HOSTILE_INTS = (2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63))
_HOSTILE_TEXTS = ("", "a,b", 'say "a"', "two\nlines", "\r", "\ufeff", "=1+1", "nan", "NULL", "\u732b")
_MAX_KEYS = 4
_MAX_DEPTH = 2

Strategy = st.SearchStrategy[Any]


def samples(*, text: bool = False) -> Strategy:
    """One sample: a number, a bool, an array, a list of numbers, or a dict of these, nested ones included.

    Args:
        text: whether str are among the values; CSVFile records them, NPZFile does not.
    """
    return _schemas(text).flatmap(lambda schema: schema)


def series(n: int, *, text: bool = False) -> Strategy:
    """A list of n samples that have the names, shapes and dtypes of the first, as a recorder needs them.

    Args:
        n: samples; meant for some, not for thousands.
        text: as for `samples`.
    """
    return _schemas(text).flatmap(lambda schema: st.lists(schema, min_size=n, max_size=n))


def _schemas(text: bool) -> st.SearchStrategy[Strategy]:
    """Strategies each of which draws samples of one schema."""
    leaves = _leaves(text)
    return leaves | _trees(leaves, _MAX_DEPTH).map(_checked)


def _leaves(text: bool) -> st.SearchStrategy[Strategy]:
    floats = st.floats() | st.sampled_from(_HOSTILE_FLOATS)
    # What numpy makes int64 of.
    integers = st.integers(-(2**63), 2**63 - 1) | st.sampled_from(_HOSTILE_INTS)
    plain: list[Strategy] = [floats, integers, st.booleans()]
    if text:
        characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
        plain.append(st.text(characters, max_size=8) | st.sampled_from(_HOSTILE_TEXTS))
    lists = st.builds(lambda of, n: st.lists(of, min_size=n, max_size=n), st.sampled_from(plain[:2]), st.integers(1, 3))
    return st.sampled_from(plain) | lists | st.builds(_arrays, st.sampled_from(_DTYPES), st.sampled_from(_SHAPES))


def _arrays(dtype: str, shape: tuple[int, ...]) -> Strategy:
    kind = np.dtype(dtype)
    elements: Strategy = from_dtype(kind)
    if kind.kind == "f":
        exact = [kind.type(value).item() for value in _HOSTILE_FLOATS]
        elements |= st.sampled_from(exact)
    elif dtype == "i8":
        elements |= st.sampled_from(_HOSTILE_INTS)
    return arrays(kind, shape, elements=elements)


@st.composite
def _trees(draw: Callable[[Strategy], Any], leaves: st.SearchStrategy[Strategy], depth: int) -> dict[str | int, Any]:
    """A dict of leaves and of such dicts."""
    random = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
    keys = st.sampled_from(_HOSTILE_KEYS) | random
    values = leaves | _trees(leaves, depth - 1) if depth > 1 else leaves
    names = draw(st.lists(keys, min_size=1, max_size=_MAX_KEYS, unique_by=str))
    return {name: draw(values) for name in names}


def _checked(tree: dict[str | int, Any]) -> Strategy:
    """The samples of a tree, unless two of its joined keys clash, which is an error of the user."""
    names = list(_joined("", tree))
    assume(len(names) == len(set(names)))
    return _dicts(tree)


def _joined(prefix: str, tree: Mapping[str | int, Any]) -> list[str]:
    names = []
    for key, value in tree.items():
        names += _joined(f"{prefix}{key}/", value) if isinstance(value, Mapping) else [f"{prefix}{key}"]
    return names


def _dicts(tree: Mapping[str | int, Any]) -> Strategy:
    return st.fixed_dictionaries(
        {key: _dicts(value) if isinstance(value, Mapping) else value for key, value in tree.items()}
    )
