"""Numbers and text as CSV: the shortest that reads back to the same bits."""

import csv
import io
import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from simreel.recorders.rows import format_rows, quote


def text_of(*columns, times=None, suffix=b"\n"):
    columns = [np.asarray(c) if not isinstance(c, np.ndarray) else c for c in columns]
    times = np.zeros(len(columns[0])) if times is None else times
    return b"".join(piece for piece, _ in format_rows(times, columns, suffix)).decode()


def fields(values):
    """The text of each value of one column."""
    lines = text_of(values).splitlines()
    return [line.split(",", 1)[1] for line in lines]


@pytest.mark.parametrize(
    ("dtype", "value", "text"),
    [
        ("f8", 0.1, "0.1"),
        ("f8", 1 / 3, "0.3333333333333333"),
        ("f8", 1.0, "1.0"),
        ("f8", -0.0, "-0.0"),
        ("f8", 5e-324, "5e-324"),
        ("f8", 1.7976931348623157e308, "1.7976931348623157e308"),
        ("f8", 2.0**53 + 2, "9007199254740994.0"),
        ("f8", np.nan, "nan"),
        ("f8", -np.nan, "nan"),
        ("f8", np.inf, "inf"),
        ("f8", -np.inf, "-inf"),
        ("f4", 0.1, "0.1"),
        ("f4", 1 / 3, "0.33333334"),
        ("f4", 16777216, "16777216.0"),
        ("f4", 1e-45, "1e-45"),
        ("f4", np.inf, "inf"),
        ("f2", 0.1, "0.1"),
        ("f2", 1 / 3, "0.3333"),
        ("f2", 6e-8, "6e-08"),
        ("f2", np.nan, "nan"),
        ("f2", -np.inf, "-inf"),
        ("i8", 2**53 + 1, "9007199254740993"),
        ("i8", -(2**63), "-9223372036854775808"),
        ("u8", 2**64 - 1, "18446744073709551615"),
        ("i1", -128, "-128"),
        ("u1", 255, "255"),
        ("u2", 65535, "65535"),
        ("?", True, "true"),
        ("?", False, "false"),
    ],
)
def test_a_number_has_its_text(dtype, value, text):
    # Older releases of orjson leave out the plus sign of an exponent.
    assert [field.replace("e+", "e") for field in fields(np.array([value], dtype))] == [text]


@pytest.mark.parametrize("code", "bhilqBHILQ")
def test_every_kind_of_whole_number_is_written(code):
    info = np.iinfo(code)
    values = np.array([info.min, 0, info.max], code)
    assert fields(values) == [str(v) for v in values.tolist()]


DTYPES = ["f2", "f4", "f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"]


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(DTYPES).flatmap(lambda d: npst.arrays(d, npst.array_shapes(min_dims=2, max_dims=3, max_side=9))))
def test_every_number_reads_back_to_the_same_bits(values):
    rows = list(csv.reader(io.StringIO(text_of(values), newline="")))
    assert len(rows) == len(values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = np.array([[_parse(t, values.dtype) for t in row[1:]] for row in rows], values.dtype)
    expected = values.reshape(len(values), -1)
    if values.dtype.kind == "f":
        # Text has one nan.
        assert np.array_equal(np.isnan(found), np.isnan(expected))
        found, expected = (np.where(np.isnan(a), a.dtype.type(0), a) for a in (found, expected))
    assert found.tobytes() == expected.tobytes()


def _parse(text, dtype):
    if dtype.kind == "b":
        return {"true": True, "false": False}[text]
    return int(text) if dtype.kind in "iu" else dtype.type(text)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.floats(width=64).map(np.float64), st.floats(width=32).map(np.float32)))
@example(np.float32(9.5367431640625e-07))
@example(np.float64(9007199254740993))
def test_no_shorter_text_would_do(value):
    (text,) = fields(np.array([value]))
    if np.isfinite(value):
        shortest = np.format_float_scientific(value, unique=True, trim="-")
        assert _digits(text) == _digits(shortest)


def _digits(text):
    return text.lower().split("e")[0].replace(".", "").strip("-0")


def test_all_float16_read_back_with_the_digits_that_numpy_gives_them():
    values = np.arange(2**16, dtype=np.uint16).view(np.float16)
    texts = fields(values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = np.array(texts, np.float16)
    finite = ~np.isnan(values)
    assert found[finite].tobytes() == values[finite].tobytes()
    assert np.isnan(found[~finite]).all()


def test_long_doubles_are_written_in_full():
    value = 1 / np.longdouble(3)
    assert np.longdouble(fields(np.array([value]))[0]) == value


@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 64, 65, 1024])
def test_rows_come_in_pieces_and_none_is_lost(n):
    times = np.arange(n) * 0.1
    pieces = list(format_rows(times, [np.arange(n)], b",7\n"))
    assert sum(rows for _, rows in pieces) == n
    lines = b"".join(piece for piece, _ in pieces).decode().splitlines()
    assert lines == [f"{time!r},{i},7" for i, time in enumerate(times.tolist())]
    assert all(piece.count(b"\n") == rows for piece, rows in pieces)


def test_columns_of_any_kind_stand_side_by_side_in_their_order():
    n = 40
    columns = [
        np.arange(n),
        np.arange(n) * 0.5,
        np.arange(2 * n, dtype=np.float32).reshape(n, 2),
        np.zeros((n, 0)),
        np.zeros((n, 0, 3), bool),
        np.arange(n) % 2 == 0,
        np.array([f"t{i}" for i in range(n)], np.dtypes.StringDType()),
        np.array([f"u,{i}" for i in range(n)], np.dtypes.StringDType()),
        np.arange(4 * n).reshape(n, 2, 2),
    ]
    lines = text_of(*columns).splitlines()
    for i, line in enumerate(lines):
        even = "true" if i % 2 == 0 else "false"
        numbers = ",".join(str(4 * i + k) for k in range(4))
        assert line == f'0.0,{i},{i * 0.5},{2 * i}.0,{2 * i + 1}.0,{even},t{i},"u,{i}",{numbers}'


def test_views_with_any_strides_are_written_as_they_read():
    base = np.arange(60.0).reshape(5, 3, 4)
    for view in (base[:, ::-1], base.transpose(0, 2, 1), base[::-2, :, 1:3], np.asfortranarray(base)):
        rows = [line.split(",")[1:] for line in text_of(view).splitlines()]
        assert np.array(rows, float).tolist() == view.reshape(len(view), -1).tolist()


def test_numbers_that_are_not_finite_stand_in_their_places():
    values = np.array([[np.nan, 1, np.inf], [-np.inf, np.nan, 2], [3, 4, 5], [np.nan] * 3])
    rows = [line.split(",")[1:] for line in text_of(np.tile(values, (20, 1))).splitlines()]
    assert (
        rows
        == [
            ["nan", "1.0", "inf"],
            ["-inf", "nan", "2.0"],
            ["3.0", "4.0", "5.0"],
            ["nan"] * 3,
        ]
        * 20
    )


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", ""),
        ("plain", "plain"),
        (" spaces ", " spaces "),
        ("a,b", '"a,b"'),
        ('say "hi"', '"say ""hi"""'),
        ("two\nlines", '"two\nlines"'),
        ("two\r\nlines", '"two\r\nlines"'),
        ("\r", '"\r"'),
        ("ключ \U0001f600", "ключ \U0001f600"),
        ('"', '""""'),
    ],
)
def test_text_is_quoted_where_rfc_4180_asks_for_it(text, field):
    assert quote(text) == field


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=8), st.text(max_size=8)), min_size=1, max_size=40))
@example([("", "")])
@example([("\x85\u2028", "\x0b\x1c")])
def test_any_text_is_read_back_as_it_was(rows):
    rows = [tuple(t.encode(errors="replace").decode() for t in row) for row in rows]
    columns = [np.array(column, np.dtypes.StringDType()) for column in zip(*rows, strict=True)]
    found = list(csv.reader(io.StringIO(text_of(*columns), newline=""), strict=True))
    assert [tuple(row[1:]) for row in found] == rows
