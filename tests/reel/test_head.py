"""HEAD holds what a reader needs, and nothing that it cannot check."""

import json

import numpy as np
import pytest

from simreel.errors import FieldError
from simreel.reel import Field, Layout
from simreel.reel.head import Head

LAYOUT = Layout((Field("x", np.dtype("f8"), 2), Field("c", np.dtype("f4"), 1, ragged=True)))


def head(**values):
    return Head(**{"layout": LAYOUT, "dt": 0.1, "chunk_size": 8, "codec": "phys1", "contract": 1} | values)


def test_a_head_comes_back():
    given = head(meta={"ü": [1, None]}, dt=0.1 + 0.2)
    assert Head.from_json(json.loads(given.to_bytes())) == given
    assert given.streams == 3


def test_keys_of_a_newer_writer_are_ignored():
    values = json.loads(head().to_bytes())
    values |= {"news": 1}
    values["layout"]["news"] = values["codec"]["news"] = 2
    assert Head.from_json(values).layout == LAYOUT


@pytest.mark.parametrize(
    "change",
    [
        {"dt": 0},
        {"dt": -1.0},
        {"dt": 10**400},
        {"dt": "1"},
        {"dt": True},
        {"chunk_size": 0},
        {"chunk_size": 65537},
        {"chunk_size": 8.5},
        {"chunk_size": True},
        {"codec": None},
        {"codec": {"name": 1, "contract": 1}},
        {"layout": []},
        {"layout": {"fields": [{"name": "x", "dtype": "O", "width": 1}]}},
        {"layout": {"fields": [{"name": "x", "dtype": "f8", "width": 2**40}]}},
        {"layout": {"fields": [{"name": "x", "dtype": "f8", "width": 2**26}]}},
        {"layout": {"fields": [{"name": "x", "dtype": "f8", "width": 1}] * 2}},
        {"layout": {"fields": [{"name": str(i), "dtype": "u1", "width": 1} for i in range(4097)]}},
        {"meta": None},
        {"writer": 3},
        {"format": [1]},
        {"format": "1.0"},
        {"format": [1, 0.5]},
    ],
)
def test_a_wrong_value_is_a_value_error(change):
    values = json.loads(head().to_bytes()) | change
    with pytest.raises(ValueError, match=r".+"):
        Head.from_json(values)


def test_a_missing_key_is_a_value_error():
    values = json.loads(head().to_bytes())
    for key in set(values) - {"environment"}:
        with pytest.raises(ValueError, match=key):
            Head.from_json({other: value for other, value in values.items() if other != key})
    for wrong in (None, [], "x", 1):
        with pytest.raises(ValueError, match=r".+"):
            Head.from_json(wrong)


def test_no_path_and_no_name_of_the_machine_stands_in_a_head():
    import platform

    environment = json.loads(head().to_bytes())["environment"]
    assert set(environment) == {"python", "numpy", "system"}
    assert platform.node() not in str(environment) or not platform.node()


def test_rows_larger_than_a_frame_may_be_are_refused():
    with pytest.raises(FieldError, match="rows of"):
        head(layout=Layout((Field("x", np.dtype("f8"), 2**26),)))
