"""Samples become bytes and come back with the same bits; what would lose something is an error."""

import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from simreel.errors import SampleError
from simreel.recorders import Column, Schema

DTYPES = ["f8", "f4", "i8", "i4", "u1", "?"]
KEYS = st.one_of(
    st.sampled_from(["file", "../x", "", "a/b", "a", "timestamp", "0", "ä", "a.npy", "\x00", " ", "日本"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
)
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)


def through(first, *later):
    """What the recorder gets of some samples, by key."""
    schema = Schema.of(first)
    pack = schema.packer()
    return schema.unpack([pack(sample) for sample in (first, *later)])


def refuse(first, later):
    with pytest.raises(SampleError) as caught:
        Schema.of(first).packer()(later)
    return caught.value


def arrays(shape):
    return st.sampled_from(DTYPES).flatmap(lambda dtype: hnp.arrays(dtype, shape))


@given(st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_dict_of_arrays_comes_back_bit_for_bit(data):
    shapes = data.draw(st.dictionaries(KEYS, SHAPES, min_size=1))
    dtypes = {key: data.draw(st.sampled_from(DTYPES)) for key in shapes}
    samples = [
        {key: data.draw(hnp.arrays(dtypes[key], shape)) for key, shape in shapes.items()}
        for _ in range(data.draw(st.integers(1, 4)))
    ]
    shuffled = [dict(sorted(sample.items(), key=lambda item: hash((item[0], i)))) for i, sample in enumerate(samples)]
    columns = through(samples[0], *shuffled[1:])
    assert list(columns) == list(samples[0])
    for key, column in columns.items():
        assert column.dtype == dtypes[key]
        assert column.shape == (len(samples), *shapes[key])
        assert not column.flags.writeable or not column.size
        for row, sample in zip(column, samples, strict=True):
            assert row.tobytes() == sample[key].tobytes()


@given(SHAPES.flatmap(arrays))
@settings(max_examples=60, deadline=None)
def test_an_array_without_a_key_comes_back_as_data(array):
    columns = through(array, array.copy(), array.copy(order="F"))
    assert list(columns) == ["data"]
    assert [row.tobytes() for row in columns["data"]] == [array.tobytes()] * 3


@given(st.lists(st.fixed_dictionaries({"t": st.text(), "x": st.floats(), "u": st.text()}), min_size=1, max_size=5))
@settings(max_examples=60, deadline=None)
def test_text_comes_back_as_it_was(samples):
    if any("\ud800" <= c <= "\udfff" for s in samples for c in s["t"] + s["u"]):
        return
    columns = through(*samples)
    assert columns["t"].tolist() == [s["t"] for s in samples]
    assert columns["u"].tolist() == [s["u"] for s in samples]
    np.testing.assert_array_equal(columns["x"], [s["x"] for s in samples])


@pytest.mark.parametrize(
    ("value", "dtype", "shape"),
    [
        (1, "int64", ()),
        (1.5, "float64", ()),
        (True, "bool", ()),
        (np.float32(1), "float32", ()),
        (np.bool_(1), "bool", ()),
        (np.uint8(1), "uint8", ()),
        (1 + 2j, "complex128", ()),
        ([1, 2.5], "float64", (2,)),
        ((True, False), "bool", (2,)),
        ([[1], [2]], "int64", (2, 1)),
        ([], "float64", (0,)),
        (range(3), "int64", (3,)),
        (np.zeros((2, 0, 3), "f4"), "float32", (2, 0, 3)),
        (np.zeros((2, 3)).T, "float64", (3, 2)),
        (np.arange(6, dtype=">i4")[::2], "int32", (3,)),
        (memoryview(b"abc"), "uint8", (3,)),
        (np.longdouble(1), np.dtype(np.longdouble).name, ()),
        (np.float16(1), "float16", ()),
    ],
)
def test_the_first_sample_fixes_dtype_and_shape(value, dtype, shape):
    (column,) = Schema.of(value).columns
    assert (column.key, column.dtype.name, column.shape) == (None, dtype, shape)
    assert column.dtype.isnative
    np.testing.assert_array_equal(through(value, value)["data"], [np.asarray(value)] * 2)


def test_nested_dicts_are_joined_with_slashes_and_numbers_are_keys():
    data = {"arm": {"q": [1.0, 2.0], 0: {"x": 1}}, 7: True, np.int32(8): 2, "": 3}
    assert list(through(data, data)) == ["arm/q", "arm/0/x", "7", "8", ""]


def test_keys_may_come_in_any_order_also_nested_and_mixed():
    columns = through({"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"d": 3, "c": 2}, "a": 1}, {"b/d": 3, "b/c": 2, "a": 1})
    assert {key: column.tolist() for key, column in columns.items()} == {"a": [1] * 3, "b/c": [2] * 3, "b/d": [3] * 3}


@pytest.mark.parametrize("data", [{"a/b": 1, "a": {"b": 2}}, {"a": {"b": 2}, "a/b": 1}, {0: 1, "0": 2}])
def test_two_keys_that_clash_are_an_error_that_names_the_key(data):
    with pytest.raises(SampleError, match=r"'(a/b|0)'.*twice"):
        Schema.of(data)


def test_a_clash_in_a_later_sample_is_an_error_too():
    assert refuse({"a/b": 1, "c": 2}, {"a/b": 1, "a": {"b": 2}, "c": 2}).key == "a/b"
    assert "clash" not in str(refuse({"0": 1}, {0: 1, "0": 1}))


@pytest.mark.parametrize("key", [None, 1.5, True, (1, 2), b"a"])
def test_keys_of_other_types_are_refused(key):
    with pytest.raises(SampleError, match="keys must be str or int"):
        Schema.of({key: 1})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "NoneType"),
        (b"bytes", "bytes"),
        ("\ud800", "surrogates"),
        ({"a": None}, "'a'"),
        ({"a": ["x", "y"]}, "'a'.*<U1"),
        ({"a": object()}, "'a'.*object"),
        ({"a": 2**64}, "'a'.*object"),
        ({"a": [[1], [1, 2]]}, "'a'.*inhomogeneous"),
        ({"\ud800": 1}, "surrogates"),
        ({}, "empty dict"),
        ({"a": {}}, "empty dict"),
        (np.array(["2020"], "M8[D]"), "datetime64"),
        (np.zeros(1, [("x", "f8")]), "dtype"),
        ((x for x in [1]), "generator"),
        ({1, 2}, "set"),
    ],
)
def test_what_cannot_be_recorded_is_named(value, text):
    with pytest.raises(SampleError, match=text):
        through(value)


# Conversions.


@pytest.mark.parametrize(
    ("first", "later"),
    [
        (1.0, 2),
        (1.0, np.int8(2)),
        (1.0, np.uint64(2**63)),
        (1.0, np.float32(0.1)),
        (1.0, -(2**63)),
        (np.float32(1), 0.5),
        (np.float32(1), float("nan")),
        (np.float32(1), float("-inf")),
        (1, np.uint8(200)),
        (np.uint8(1), 255),
        (np.int32(1), np.int64(-5)),
        (1j, 2.5),
        (1j, 3),
        (np.complex64(1), 0.5),
        ([1.0, 2.0], [1, 2]),
        ([1.0, 2.0], [1, 2.5]),
        (np.zeros(2, "f8"), np.ones(2, ">f8")),
        (np.zeros(2, ">f8"), np.ones(2, "<f8")),
        (np.zeros((0, 2)), np.zeros((0, 2), int)),
        (np.zeros(1, "q"), np.ones(1, "l")),
    ],
)
def test_a_later_value_of_another_dtype_is_converted_where_nothing_is_lost(first, later):
    column = through(first, later)["data"]
    assert column.dtype == np.asarray(first).dtype.newbyteorder("=")
    np.testing.assert_array_equal(column[1], later)


@pytest.mark.parametrize(
    ("first", "later"),
    [
        (1, 2.0),
        (1, True),
        (1.0, True),
        (True, 1),
        (True, 1.0),
        (1.0, 1j),
        (1.0, 2**53 + 1),
        (1.0, 2**63 - 1),
        (1.0, np.uint64(2**64 - 1)),
        (np.float32(1), 0.1),
        (np.float32(1), 1e300),
        (np.float32(1), 2**24 + 1),
        (np.float32(1), np.int32(2**31 - 1)),
        (np.uint8(1), 256),
        (np.uint8(1), -1),
        (np.uint8(1), np.int8(-1)),
        (np.int8(1), np.uint8(255)),
        (1, np.uint64(2**64 - 1)),
        (np.uint64(1), -1),
        (np.int32(1), 2**31),
        (1j, 2**53 + 1),
        (np.complex64(1), 0.1),
        (np.complex64(1), 0.1j),
    ],
)
def test_a_later_value_that_would_change_is_refused(first, later):
    assert refuse({"k": first}, {"k": later}).key == "k"
    assert refuse(first, later).key is None


def test_nan_minus_zero_and_the_largest_integers_keep_their_bits():
    values = [-0.0, float("nan"), float("-inf"), 5e-324, 2.0**53]
    assert through(*values)["data"].tobytes() == np.array(values).tobytes()
    integers = [2**63 - 1, -(2**63), 2**53 + 1]
    assert through(*integers)["data"].tolist() == integers


# Arrays of other libraries.


class Tensor:
    """What torch has: needs `detach` before it becomes an array."""

    def __init__(self, array, on_cpu=False):
        self.array, self.on_cpu = array, on_cpu

    def detach(self):
        return self

    def cpu(self):
        return Tensor(self.array, on_cpu=True)

    def __array__(self, dtype=None, copy=None):
        if not self.on_cpu:
            raise RuntimeError("needs a gradient")
        return self.array


class DLPackOnly:
    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class ArrayOnly:
    def __array__(self, dtype=None, copy=None):
        return np.arange(3)


class Broken:
    def __array__(self, dtype=None, copy=None):
        raise KeyError("broken")


def test_arrays_of_other_libraries_are_accepted_alone_and_by_key():
    a, b = np.arange(3.0), np.arange(3.0) + 1
    for kind in (Tensor, DLPackOnly):
        np.testing.assert_array_equal(through(kind(a), kind(b))["data"], [a, b])
        np.testing.assert_array_equal(through({"x": kind(a)}, {"x": kind(b)})["x"], [a, b])
        np.testing.assert_array_equal(through(a, kind(b))["data"], [a, b])
    assert through(ArrayOnly())["data"].tolist() == [[0, 1, 2]]


def test_an_array_that_cannot_be_read_is_an_error_with_its_cause():
    with pytest.raises(SampleError, match=r"'x'.*Broken.*broken") as caught:
        Schema.of({"x": Broken()})
    assert isinstance(caught.value.__cause__, KeyError)
    # Its KeyError is not taken for a missing key.
    assert "Broken" in str(refuse({"x": 1.0}, {"x": Broken()}))


def test_subclasses_of_arrays_and_of_dicts_are_recorded():
    class Mine(np.ndarray):
        pass

    class Named(dict):
        pass

    array = np.arange(2.0).view(Mine)
    assert through(array, array)["data"].tolist() == [[0, 1]] * 2
    assert through(Named(a=1), Named(a=2))["a"].tolist() == [1, 2]


def test_a_column_tells_its_size():
    schema = Schema.of({"a": np.zeros((2, 3), "f4"), "b": "text", "c": np.zeros((0, 4))})
    assert [column.nbytes for column in schema.columns] == [24, 0, 0]
    assert [column.is_text for column in schema.columns] == [False, True, False]
    assert schema.has_text
    assert not Schema([Column("x", np.dtype("f8"), ())]).has_text


def test_columns_of_zero_bytes_keep_the_number_of_rows():
    columns = through({"a": np.zeros((0, 4))}, {"a": np.zeros((0, 4))})
    assert columns["a"].shape == (2, 0, 4)
    assert through("", "", "")["data"].tolist() == [""] * 3


def test_packing_keeps_no_reference_to_the_data():
    array = np.zeros(3)
    before = sys.getrefcount(array)
    schema = Schema.of(array)
    pack = schema.packer()
    raw = pack(array)
    assert sys.getrefcount(array) == before
    array[:] = 1
    assert schema.unpack([raw])["data"].tolist() == [[0, 0, 0]]
