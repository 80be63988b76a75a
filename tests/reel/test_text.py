"""JSON is checked before it is parsed."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simreel.errors import FieldError
from simreel.reel.limits import MAX_JSON
from simreel.reel.text import MAX_DEPTH, dump_json, load_json

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=10,
)


@settings(max_examples=50)
@given(values)
def test_what_json_can_hold_comes_back(value):
    assert load_json(dump_json(value, "x")) == value


@pytest.mark.parametrize("opening", ["[", '{"a":', '["]]]]",'])
def test_depth_is_bounded(opening):
    closing = {"[": "]", "{": "}"}[opening[0]]
    for depth in (MAX_DEPTH, MAX_DEPTH + 1, 10**5):
        text = opening * depth + "1" + closing * depth
        if depth <= MAX_DEPTH:
            assert load_json(text.encode()) is not None
            dump_json(json.loads(text), "x")
        else:
            with pytest.raises(ValueError, match=f"nested {depth} deep, at most 64"):
                load_json(text.encode())
    with pytest.raises(FieldError, match=r"nested 65 deep"):
        dump_json(json.loads(opening * 65 + "1" + closing * 65), "x")


def test_brackets_in_strings_are_no_depth():
    value = ['[{"' * 500, "\\", '\\"[[[']
    assert load_json(dump_json(value, "x")) == value


def test_size_is_bounded():
    with pytest.raises(ValueError, match="at most"):
        load_json(b" " * (MAX_JSON + 1))
    with pytest.raises(FieldError, match=r"meta: JSON of .* at most"):
        dump_json("x" * MAX_JSON, "meta")


NO_JSON = [b"", b"{", b"NaN", b"[Infinity]", b"\xff", b'"', b'"\\', b"1" * 5000, b"}" * 100, b"\xef\xbb\xbf1"]


@pytest.mark.parametrize("raw", NO_JSON)
def test_what_is_no_json_is_a_value_error(raw):
    with pytest.raises(ValueError, match=r".+"):
        load_json(raw)


def test_what_json_cannot_hold_names_the_argument():
    loop = []
    loop.append(loop)
    for value in ({1, 2}, float("inf"), loop, b"", "\ud800"):
        with pytest.raises(FieldError, match="note: something that JSON cannot hold"):
            dump_json(value, "note")
