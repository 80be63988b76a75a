from __future__ import annotations

import json
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simreel.errors import FieldError, SimreelError, UnknownNameError
from simreel.reel.layout import Field, Joint, Layout

DTYPES = ("f8", "f4", "i8", "i4", "u1", "bool")
NAMES = ("file", "../x", "/x", " ", "f0", "names", "two\nlines", "a\0b", "\0", "é猫\U0001f600", "qpos", "time")

names = st.one_of(st.sampled_from(NAMES), st.text(st.characters(codec="utf-8"), min_size=1))
fields = st.builds(
    Field,
    name=names,
    dtype=st.sampled_from(DTYPES),
    width=st.integers(0, 300),
    unit=st.sampled_from(["", "m/s"]),
    kind=st.sampled_from(["", "state"]),
    ragged=st.booleans(),
)
layouts = st.lists(fields, max_size=6, unique_by=lambda field: field.name).map(lambda some: Layout(tuple(some)))

ARM = Layout(
    (Field("time", np.dtype("f8"), 1), Field("qpos", np.dtype("f8"), 13), Field("qvel", np.dtype("f8"), 11)),
    (Joint("free", 0, 0), Joint("ball", 7, 6), Joint("slide", 11, 9), Joint("hinge", 12, 10)),
)


@settings(max_examples=50, deadline=None)
@given(layouts)
def test_a_layout_survives_json(layout):
    assert Layout.from_json(json.loads(json.dumps(layout.to_json()))) == layout


def test_joints_survive_json():
    assert Layout.from_json(json.loads(json.dumps(ARM.to_json()))) == ARM


@settings(max_examples=50, deadline=None)
@given(layouts)
def test_a_row_is_packed_and_holds_the_fixed_fields_in_order(layout):
    fixed = [field for field in layout.fields if not field.ragged]
    rows = np.zeros(3, layout.row_dtype)
    assert rows.dtype.itemsize == layout.row_bytes == sum(field.nbytes for field in fixed)
    assert tuple(rows.dtype.names or ()) == tuple(field.name for field in fixed)
    offset = 0
    for field in fixed:
        assert rows.dtype.fields[field.name][1] == offset
        assert rows[field.name].shape == (3, field.width)
        assert rows[field.name].dtype == field.dtype
        offset += field.nbytes


def test_a_row_of_one_dtype_is_uniform():
    assert ARM.is_uniform
    assert not Layout((*ARM.fields, Field("step", np.dtype("i8"), 1))).is_uniform
    assert Layout((*ARM.fields, Field("contact", np.dtype("i8"), 1, ragged=True))).is_uniform
    assert not Layout(()).is_uniform


def test_fields_are_found_by_name():
    assert ARM["qvel"] is ARM.fields[2]
    assert ARM.index("qvel") == 2


def test_an_unknown_name_names_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'qpos'"):
        ARM["qpo"]


def test_any_way_to_name_a_dtype_will_do():
    for dtype in ("f8", "<f8", ">f8", float, np.float64, np.dtype("f8")):
        assert Field("x", dtype, 1).dtype == np.dtype("<f8")
    assert Field("x", bool, 1).dtype == np.dtype("?")


def test_numpy_integers_are_taken_for_numbers():
    assert type(Field("x", "f8", np.int64(3)).width) is int


def test_a_field_does_not_change():
    with pytest.raises(FrozenInstanceError):
        ARM.fields[0].width = 3


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"name": ""}, "empty"),
        ({"name": 3}, "name 3"),
        ({"name": "\ud800"}, "UTF-8"),
        ({"unit": None}, "unit"),
        ({"kind": b"x"}, "kind"),
        ({"dtype": "f2"}, "f8, f4, i8, i4, u1, bool"),
        ({"dtype": "c16"}, "dtype"),
        ({"dtype": "U3"}, "dtype"),
        ({"dtype": object()}, "dtype"),
        ({"dtype": "f8,f8"}, "dtype"),
        ({"width": -1}, "width -1"),
        ({"width": 1.0}, "width 1.0"),
        ({"width": True}, "width True"),
        ({"width": 2**31}, "at most"),
        ({"ragged": 1}, "ragged"),
    ],
)
def test_a_wrong_field_is_refused(values, word):
    with pytest.raises(FieldError, match=word):
        Field(**{"name": "x", "dtype": "f8", "width": 1} | values)


def test_two_fields_of_one_name_are_refused():
    with pytest.raises(FieldError, match="names must differ"):
        Layout((Field("x", "f8", 1), Field("x", "i4", 2)))


def test_a_row_that_no_array_could_hold_is_refused():
    with pytest.raises(FieldError, match="at most"):
        Layout((Field("a", "f8", 2**27), Field("b", "f8", 2**27)))


@pytest.mark.parametrize(
    "joints",
    [
        (Joint("free", 7, 0),),
        (Joint("hinge", 13, 0),),
        (Joint("hinge", 0, 11),),
        (Joint("free", 0, 0), Joint("hinge", 6, 6)),
        (Joint("free", 0, 0), Joint("hinge", 7, 5)),
    ],
)
def test_joints_outside_of_the_fields_or_over_each_other_are_refused(joints):
    with pytest.raises(FieldError, match="joint"):
        Layout(ARM.fields, joints)


@pytest.mark.parametrize("name", ["qpos", "qvel"])
def test_joints_need_positions_and_velocities_of_float64(name):
    others = tuple(field for field in ARM.fields if field.name != name)
    for field in (None, Field(name, "f4", 13), Field(name, "f8", 13, ragged=True)):
        with pytest.raises(FieldError, match=name):
            Layout(others if field is None else (*others, field), ARM.joints)


@pytest.mark.parametrize("values", [("screw", 0, 0), ("hinge", -1, 0), ("hinge", 0, 0.5), (["hinge"], 0, 0)])
def test_a_wrong_joint_is_refused(values):
    with pytest.raises(FieldError, match="joint"):
        Joint(*values)


@pytest.mark.parametrize("given", [None, Field("x", "f8", 1), ["x"], [None], 3])
def test_what_is_no_sequence_of_fields_or_joints_is_refused(given):
    with pytest.raises(FieldError, match="a sequence of Field"):
        Layout(given)
    with pytest.raises(FieldError, match="a sequence of Joint"):
        Layout(ARM.fields, given)


def test_rows_side_by_side_have_joints_of_their_own():
    layout = Layout(
        (Field("qpos", "f8", 9), Field("qvel", "f8", 8), Field("contacts", "f4", 2, ragged=True)),
        (Joint("free", 0, 0), Joint("hinge", 8, 7)),
    )
    twice = layout.repeated(2)
    assert [field.width for field in twice.fields] == [18, 16, 4]
    assert twice.joints == (*layout.joints, Joint("free", 9, 8), Joint("hinge", 17, 15))
    assert layout.repeated(1) == layout


def test_keys_of_a_newer_writer_are_ignored():
    obj = ARM.to_json() | {"shape": "round"}
    obj["fields"][0]["colour"] = "red"
    obj["joints"][0]["axis"] = [0, 0, 1]
    assert Layout.from_json(obj) == ARM


def _places(obj, path=()):
    """The path of each value in JSON."""
    yield path
    pairs = obj.items() if isinstance(obj, dict) else enumerate(obj) if isinstance(obj, list) else ()
    for key, value in pairs:
        yield from _places(value, (*path, key))


REQUIRED = {"fields", "name", "dtype", "width", "type", "qposadr", "dofadr"}
WRONG = (None, True, 7.5, -3, 2**40, "", "x" * 3, [], [3], {}, {"name": "x"})


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_wrong_json_gives_a_layout_or_our_error(wrong):
    for path in _places(ARM.to_json()):
        obj = ARM.to_json()
        if path:
            owner = obj
            for key in path[:-1]:
                owner = owner[key]
            owner[path[-1]] = wrong
        else:
            obj = wrong
        try:
            layout = Layout.from_json(obj)
        except SimreelError:
            continue
        assert Layout.from_json(layout.to_json()) == layout


@pytest.mark.parametrize("path", [p for p in _places(ARM.to_json()) if p and p[-1] in REQUIRED], ids=repr)
def test_a_missing_key_is_refused(path):
    obj = ARM.to_json()
    owner = obj
    for key in path[:-1]:
        owner = owner[key]
    del owner[path[-1]]
    with pytest.raises(FieldError, match=str(path[-1])):
        Layout.from_json(obj)


def test_a_dtype_of_json_is_one_of_ours_by_our_name():
    obj = ARM.to_json()
    for name in ("float64", "<f8", "(1000000,)f8", "f8,f8", "O"):
        obj["fields"][0]["dtype"] = name
        with pytest.raises(FieldError, match="dtype"):
            Layout.from_json(obj)
