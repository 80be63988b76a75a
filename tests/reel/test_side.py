"""JSON and arrays beside the frames."""

import json
import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from simreel.errors import FieldError
from simreel.reel.side import pack_side, unpack_side

arrays = hnp.arrays(
    st.sampled_from(["<f8", "<f4", "<i8", "<i4", "|u1", "|b1"]), hnp.array_shapes(min_dims=0, min_side=0, max_side=4)
)


@settings(max_examples=50)
@given(st.none() | st.text("abü"), st.dictionaries(st.text("ab./ü\0"), arrays, max_size=4), st.integers(0, 2**63))
def test_values_and_arrays_come_back_to_the_bit(same_bits, value, arrays, frame):
    side = unpack_side(b"".join(pack_side(value, arrays, "note")), frame)
    assert (side.frame, side.value, list(side.arrays)) == (frame, value, list(arrays))
    for name, array in arrays.items():
        assert side.arrays[name].shape == array.shape
        assert same_bits(side.arrays[name], array)
        assert side.arrays[name].ctypes.data % array.dtype.itemsize == 0 or not array.size


def test_arrays_of_any_order_are_stored(same_bits):
    given = {"big": np.arange(6, dtype=">f8").reshape(2, 3), "f": np.asfortranarray(np.arange(6.0).reshape(2, 3))}
    side = unpack_side(b"".join(pack_side(None, given, "note")), 0)
    for name, array in given.items():
        assert same_bits(side.arrays[name], array.astype("<f8", order="C"))


@pytest.mark.parametrize("array", [np.array(["a"]), np.array([None]), np.zeros(2, "c16"), np.zeros(2, "u8")])
def test_other_dtypes_are_refused_by_name(array):
    with pytest.raises(FieldError, match="param 'mass': dtype"):
        pack_side(None, {"mass": array}, "param")


@pytest.mark.parametrize("arrays", [{1: np.zeros(2)}, {None: 1.0}, [np.zeros(2)], {"mass": [[1.0], [2.0, 3.0]]}])
def test_what_is_no_array_with_a_name_is_refused(arrays):
    with pytest.raises(FieldError, match="param"):
        pack_side(None, arrays, "param")


def body(values, more=b""):
    raw = json.dumps(values).encode()
    return struct.pack("<I", len(raw)) + raw + more


def entry(**change):
    return {"value": None, "arrays": [{"name": "a", "dtype": "f8", "shape": [2]} | change]}


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff\xff\xff\xff",
        struct.pack("<I", 3) + b"{}",
        body([]),
        body({}),
        body({"value": 1, "arrays": 1}),
        body({"value": 1, "arrays": [1]}),
        body(entry()),
        body(entry(dtype="O"), bytes(64)),
        body(entry(dtype=None), bytes(64)),
        body(entry(dtype=[]), bytes(64)),
        body(entry(name=1), bytes(64)),
        body(entry(shape=[-1]), bytes(64)),
        body(entry(shape=[1.5]), bytes(64)),
        body(entry(shape=[True]), bytes(64)),
        body(entry(shape=[2**40]), bytes(64)),
        body(entry(shape=[2**20] * 20), bytes(64)),
        body(entry(shape=[0] + [2**20] * 20), bytes(64)),
        body(entry(shape=[1] * 65), bytes(64)),
        body(entry(shape=None), bytes(64)),
    ],
)
def test_a_malformed_body_is_a_value_error_and_allocates_nothing(raw):
    tracemalloc.start()
    with pytest.raises(ValueError, match=r".+"):
        unpack_side(raw, 0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200_000
