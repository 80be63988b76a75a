"""Samples of every kind, and our writers on them."""

from __future__ import annotations

import csv
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

import simreel as sr
from simreel.recorders import CSVFile, NPZFile, Schema
from simreel.testing import FakeEngine, strategies

# A machine that is busy with other tests says nothing of ours.
calm = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def flat(sample, prefix=""):
    for key, value in sample.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{key}/")
        else:
            yield f"{prefix}{key}", value


@calm
@given(strategies.samples(text=True))
def test_each_sample_is_legal(sample):
    schema = Schema.of(sample)
    (back,) = [{key: column[0] for key, column in schema.unpack([schema.packer()(sample)]).items()}]
    named = dict(flat(sample)) if isinstance(sample, dict) else {"data": sample}
    assert list(back) == list(named)
    for key, value in named.items():
        np.testing.assert_array_equal(back[key], value)


@calm
@given(st.data())
def test_a_series_has_one_schema(data):
    n = data.draw(st.integers(0, 4))
    series = data.draw(strategies.series(n, text=True))
    assert len(series) == n
    if series:
        schema = Schema.of(series[0])
        pack = schema.packer()
        for sample in series:
            pack(sample)
            # Keys come in any order.
            assert set(Schema.of(sample).columns) == set(schema.columns)


def is_hostile_key(key):
    return lambda sample: isinstance(sample, dict) and key in dict(flat(sample))


@pytest.mark.parametrize(
    "wanted",
    [
        *map(is_hostile_key, ["", "file", "../x", "0", "timestamp", "\u00e9\u03c9\u732b\U0001f600"]),
        lambda sample: isinstance(sample, dict) and any(isinstance(value, dict) for value in sample.values()),
        lambda sample: isinstance(sample, float) and np.isnan(sample),
        lambda sample: isinstance(sample, float) and sample == 0 and np.signbit(sample),
        lambda sample: isinstance(sample, float) and sample == -np.inf,
        lambda sample: isinstance(sample, int) and sample == 2**53 + 1,
        lambda sample: isinstance(sample, np.ndarray) and 2**53 + 1 in sample,
        lambda sample: sample is True,
        lambda sample: isinstance(sample, list),
        *(lambda sample, d=d: isinstance(sample, np.ndarray) and sample.dtype == d for d in strategies._DTYPES),
        lambda sample: isinstance(sample, np.ndarray) and sample.size == 0 and sample.ndim == 2,
        lambda sample: isinstance(sample, np.ndarray) and sample.shape == (),
        lambda sample: isinstance(sample, np.ndarray) and sample.dtype == np.float32 and np.isnan(sample).any(),
        lambda sample: isinstance(sample, str) and sample == "a,b",
    ],
)
def test_what_breaks_writers_is_among_them(wanted):
    # Derandomized: a search by luck would fail one day.
    found = find(
        strategies.samples(text=True), wanted, settings=settings(max_examples=20_000, derandomize=True, database=None)
    )
    assert wanted(found)


@calm
@given(strategies.samples())
def test_text_is_there_only_on_request(sample):
    assert not Schema.of(sample).has_text


def columns_of(series):
    """The values of each key, in the order of the first sample."""
    rows = [dict(flat(sample)) if isinstance(sample, dict) else {"data": sample} for sample in series]
    return [[row[key] for row in rows] for key in rows[0]]


def record(path, options, series):
    engine = FakeEngine()
    scene = sr.Scene(engine=engine)
    rows = iter(series)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SimreelWarning)  # names that meet ours get a prefix
        scene.start_recording(lambda: next(rows), options(path, overwrite=True))
        scene.build()
        scene.step(len(series) - 1)
        scene.stop_recording()


@calm
@given(strategies.series(3))
def test_an_archive_gives_back_each_series_to_the_bit(tmp_path, series):
    record(tmp_path / "run.npz", NPZFile, series)
    with np.load(tmp_path / "run.npz") as file:
        names = [name for name in file.files if name not in {"timestamp", "step", "episode"}]
        columns = [file[name] for name in names]
    for column, values in zip(columns, columns_of(series), strict=True):
        wanted = np.array(values)
        assert (column.dtype, column.shape) == (wanted.dtype, wanted.shape)
        assert column.tobytes() == wanted.tobytes()


@calm
@given(strategies.series(3, text=True))
def test_a_csv_file_has_a_row_for_each_sample_and_a_name_for_each_value(tmp_path, series):
    record(tmp_path / "run.csv", CSVFile, series)
    with open(tmp_path / "run.csv", newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert len(rows) == 3
    assert {len(row) for row in rows} == {len(header)}
    assert len(set(header)) == len(header)
    for text, value in zip(rows[0][1:-1], scalars(series), strict=True):
        if isinstance(value, str):
            assert text == value
        elif isinstance(value, bool):
            assert text == str(value).lower()
        else:
            assert type(value)(text) == pytest.approx(value, rel=1e-7, abs=0, nan_ok=True)


def scalars(series):
    for first, *_ in columns_of(series):
        yield from [first] if isinstance(first, str) else np.ravel(first).tolist()


def test_without_hypothesis_the_room_is_there_and_the_strategies_name_the_extra():
    code = """
import sys
sys.modules["hypothesis"] = sys.modules["pytest"] = None
import simreel.testing
simreel.testing.FakeEngine(dt=0.1)
for name, package in (("strategies", "hypothesis"), ("RecorderContract", "pytest")):
    try:
        getattr(simreel.testing, name)
    except simreel.errors.MissingExtraError as error:
        assert isinstance(error, ImportError)
        assert str(error).startswith(f"simreel.testing.{name} needs {package}, which is not installed")
        assert "pip install 'simreel[testing]'" in str(error)
    else:
        raise AssertionError(name)
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_the_room_loads_neither_hypothesis_nor_pytest_nor_an_engine():
    code = "import sys, simreel.testing; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert not {"hypothesis", "pytest", "mujoco", "numpy"} & set(loaded)


def test_an_unknown_name_gives_the_nearest():
    import simreel.testing

    with pytest.raises(AttributeError, match="Did you mean 'FakeEngine'"):
        simreel.testing.FakeEngin  # noqa: B018
    assert dir(simreel.testing) == ["FakeEngine", "RecorderContract", "strategies"]
