"""State of the user's own through a file and back."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from simreel.errors import FieldError, OptionsError
from simreel.scene.user_state import UserStates

NAMES = st.text(min_size=1).filter(lambda name: "/" not in name and name != "$array")
ARRAYS = st.sampled_from(["f8", "f4", "f2", "i8", "i4", "i2", "u1", "u2", "u4", "u8", "c16", "?", ">f8"]).flatmap(
    lambda dtype: arrays(dtype, array_shapes(min_dims=0, min_side=0, max_side=3))
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text() | ARRAYS,
    lambda values: st.lists(values, max_size=3) | st.dictionaries(NAMES, values, max_size=3),
    max_leaves=6,
)


def through_a_file(value: Any) -> Any:
    got: list[Any] = []
    states = UserStates()
    states.add("mine", lambda: value, got.append)
    values, stored = states.read()
    assert all(array.dtype.str in {"<f8", "<f4", "<i8", "<i4", "|u1", "|b1"} for array in stored.values())
    states.put(json.loads(json.dumps(values)), stored)
    return got[0]


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        little = a.astype(a.dtype.newbyteorder("<"))
        return little.shape == b.shape and little.dtype == b.dtype and little.tobytes() == b.tobytes()
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and repr(a) == repr(b)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(JSON)
def test_json_and_arrays_come_back_as_they_were(value: Any) -> None:
    assert same(value, through_a_file(value))


def test_random_generators_go_on_where_they_were() -> None:
    generator = np.random.Generator(np.random.MT19937(5))
    back = through_a_file(generator.bit_generator.state)
    expected = generator.random(700).tolist()
    generator.bit_generator.state = back
    assert generator.random(700).tolist() == expected
    version, words, gauss = through_a_file(random.Random(3).getstate())
    other = random.Random()
    other.setstate((version, tuple(words), gauss))
    assert other.random() == random.Random(3).random()


def test_numpy_scalars_are_numbers() -> None:
    assert through_a_file({"n": np.int64(3), "x": np.float32(0.5)}) == {"n": 3, "x": 0.5}


@pytest.mark.parametrize("value", [{3: 1}, {"a/b": 1}, {"$array": 1}, np.array(["text"])], ids=repr)
def test_what_cannot_be_stored_is_told_with_its_place(value: Any) -> None:
    with pytest.raises(FieldError, match="state 'mine'"):
        through_a_file(value)


@pytest.mark.parametrize(
    "value",
    [["O", [1]], ["f8", [3]], 3, ["f8", [-1, -1]], ["zz", []]],
    ids=repr,
)
def test_a_damaged_array_is_an_error_of_ours(value: Any) -> None:
    states = UserStates()
    states.add("mine", dict, print)
    for stored in ({}, {"mine": np.zeros(2)}, {"mine": np.zeros(3, np.uint8)}):
        with pytest.raises(FieldError, match="state 'mine'"):
            states.put({"mine": {"$array": value}}, stored)


def test_states_that_the_file_does_not_have_are_left_alone() -> None:
    states = UserStates()
    states.add("mine", dict, lambda _: pytest.fail("called"))
    states.put({"other": 3}, {})


def test_values_wait_for_a_state_that_is_added_later() -> None:
    got: list[Any] = []
    states = UserStates()
    states.wait({"mine": {"$array": ["<f8", [2]]}, "other": 3}, {"mine": np.array([0.5, 1.5])})
    assert len(states) == 0
    states.add("mine", dict, got.append)
    assert len(states) == 1
    assert [each.tolist() for each in got] == [[0.5, 1.5]]


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (("", dict, print), "name = ''"),
        (("a/b", dict, print), "name = 'a/b'"),
        (("a", 3, print), "get = 3"),
        (("a", dict, None), "set = None"),
        (("taken", dict, print), "another state has that name"),
    ],
)
def test_mistakes_are_told(arguments: Any, match: str) -> None:
    states = UserStates()
    states.add("taken", dict, print)
    with pytest.raises(OptionsError, match=match):
        states.add(*arguments)


@pytest.mark.parametrize("value", [np.inf, float("nan"), np.float32("-inf"), 1j, b"a", {1}, np.datetime64("2020")])
def test_what_a_file_cannot_hold_is_named_by_its_path(value: Any) -> None:
    states = UserStates()
    states.add("mine", lambda: {"a": [0, {"b": value}]}, print)
    with pytest.raises(FieldError, match=r"state 'mine/a/1/b': .*JSON values and arrays"):
        states.read()


def test_an_array_may_have_infinity_and_nan() -> None:
    assert np.isinf(through_a_file(np.array(np.inf)))
    assert np.isnan(through_a_file({"a": np.array([np.nan, 1])})["a"][0])
