"""The samples that lines show, and the limits of their axes."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simreel.recorders.plots.lines import History, View, grid, line_style, series_of
from simreel.recorders.plots.plotter import Samples

ANY = st.floats(allow_nan=True, allow_infinity=True, width=64)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=20), st.integers(2, 20))
def test_a_history_holds_the_newest_samples(counts, length):
    history, k = History(length, 2), 0
    for count in counts:
        numbers = np.arange(k, k + count, dtype=float)
        history.add(numbers / 10, np.stack([numbers, -numbers], 1))
        k += count
    kept = list(range(max(0, k - length), k))
    assert history.values[:, 0].tolist() == kept
    assert history.values[:, 1].tolist() == [-each for each in kept]
    assert history.times.tolist() == [each / 10 for each in kept]
    history.clear()
    assert not len(history.times)
    assert not len(history.values)


def test_what_is_not_finite_is_a_gap():
    history = History(10, 1)
    history.add(np.arange(3.0), np.array([np.inf, 1, -np.inf]))
    assert np.isnan(history.values[[0, 2], 0]).all()


@given(st.lists(st.lists(ANY, min_size=1, max_size=5), min_size=1, max_size=10), st.booleans())
def test_limits_are_finite_apart_and_hold_what_can_be_drawn(batches, log):
    view, history = View(0.1, log=log), History(20, 1)
    for batch in batches:
        history.add(np.zeros(len(batch)), np.array(batch))
        view.follow(history.values)
        low, high = view.limits
        assert np.isfinite([low, high, high - low]).all()
        assert low < high
        values = history.values[~np.isnan(history.values)]
        bound = (1e-99, 1e99) if log else (-1e299, 1e299)
        shown = values[(values > bound[0]) & (values < bound[1])]
        assert ((shown >= low) & (shown <= high)).all()


def test_limits_follow_in_both_directions_and_move_seldom():
    view = View(0.1)
    moves = sum(view.follow(np.sin(np.arange(k, k + 100) / 10)) for k in range(1000))
    assert moves == 1
    assert view.follow(np.array([-5.0, 5.0]))
    assert not view.follow(np.array([-4.0, 4.0]))
    assert view.follow(np.array([-0.1, 0.1]))
    low, high = view.limits
    assert -0.2 < low < high < 0.2


def test_a_time_axis_moves_ahead_of_the_samples():
    view = View(0.25, is_ahead=True)
    moves = [k for k in range(1000) if view.follow(np.arange(max(0, k - 100), k + 1) / 100)]
    assert len(moves) < 70
    assert view.limits[0] <= 8.99
    assert view.limits[1] >= 9.99


def test_adding_costs_the_same_after_a_hundred_thousand_samples():
    history = History(1000, 3)
    took = []
    for k in range(1000):
        start = time.perf_counter()
        history.add(np.arange(100.0) + 100 * k, np.ones((100, 3)))
        took.append(time.perf_counter() - start)
    assert history.values.shape == (1000, 3)
    assert history.times[-1] == 99_999
    # Memory: two arrays of their first size.
    assert history._values.nbytes == 24_000
    assert np.median(took[-100:]) < 20 * np.median(took[100:200])


def test_series_have_names_and_keep_their_order():
    columns = {"z": np.zeros((1, 2)), "a": np.zeros(1), "n/x": np.zeros((1, 3))}
    found = series_of(Samples(np.zeros(1), columns, True), None)
    assert [(each.key, each.title, each.names) for each in found] == [
        ("z", "z", ("0", "1")),
        ("a", "a", ("",)),
        ("n/x", "n/x", ("0", "1", "2")),
    ]
    (bare,) = series_of(Samples(np.zeros(1), {"data": np.zeros((1, 2))}, False), ["p", "q"])
    assert (bare.title, bare.names) == ("", ("p", "q"))
    labelled = series_of(Samples(np.zeros(1), columns, True), {"z": ["p", "q"], "a": ["r"], "n/x": ["s", "t", "u"]})
    assert labelled[1].names == ("r",)


def test_a_sample_is_seen_as_it_was_given():
    samples = Samples(np.array([0.0, 1.0]), {"data": np.array([[1, 2], [3, 4]])}, False)
    assert len(samples) == 2
    assert samples.newest.tolist() == [3, 4]
    keyed = Samples(np.zeros(2), {"a": np.array([1, 2]), "b": np.array([[1], [5]])}, True)
    assert keyed.newest["a"] == 2
    assert keyed.newest["b"].tolist() == [5]


@pytest.mark.parametrize(("count", "shape"), [(1, (1, 1)), (6, (6, 1)), (7, (4, 2)), (50, (6, 9))])
def test_many_plots_stand_in_columns(count, shape):
    assert grid(count) == shape


def test_forty_lines_can_be_told_apart_and_each_plot_begins_anew():
    assert len({line_style(k) for k in range(40)}) == 40
    assert line_style(0) == line_style(40)
