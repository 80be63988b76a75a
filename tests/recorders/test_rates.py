"""Frame rates are exact."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simreel.recorders.rates import exact, frame_rate, simplest
from simreel.recorders.timing import Timing


@pytest.mark.parametrize(
    ("dt", "stride", "fps"),
    [
        (0.01, 1, Fraction(100)),
        (0.01, 3, Fraction(100, 3)),
        (0.002, 20, Fraction(25)),
        (4 * 0.005, 2, Fraction(25)),
        (3 * 0.001, 7, Fraction(1000, 21)),
        (1 / 240, 8, Fraction(30)),
        (1 / 60, 1, Fraction(60)),
        (1001 / 30000, 1, Fraction(30000, 1001)),
        (0.0166, 2, Fraction(2500, 83)),
        (1000.0, 1, Fraction(1, 1000)),
        (1e-6, 1, Fraction(10**6)),
    ],
)
def test_the_rate_of_the_samples_is_exact(dt, stride, fps):
    assert frame_rate(None, Timing(dt, stride)) == fps


@pytest.mark.parametrize(
    ("given_fps", "fps"),
    [
        (25, Fraction(25)),
        (29.97, Fraction(30000, 1001)),
        (30000 / 1001, Fraction(30000, 1001)),
        (23.976, Fraction(24000, 1001)),
        (23.98, Fraction(24000, 1001)),
        (59.94, Fraction(60000, 1001)),
        (119.88, Fraction(120000, 1001)),
        (30.0, Fraction(30)),
        (29.9, Fraction(299, 10)),
        (12.5, Fraction(25, 2)),
        (100 / 3, Fraction(100, 3)),
        (33.333333333333, Fraction(100, 3)),
        (33.33, Fraction(3333, 100)),
        (0.1, Fraction(1, 10)),
        (1e-300, Fraction(1, 2**30)),
    ],
)
def test_a_given_rate_is_the_fraction_that_was_meant(given_fps, fps):
    assert frame_rate(given_fps, Timing(0.01, 1)) == fps


@given(st.integers(1, 10**4), st.integers(1, 10**4))
def test_a_fraction_survives_a_float(numerator, denominator):
    assert exact(numerator / denominator, 1e-12) == Fraction(numerator, denominator)


@given(st.floats(1e-6, 1e6), st.integers(1, 1000))
def test_any_rate_is_a_fraction_that_ffmpeg_can_hold(dt, stride):
    found = frame_rate(None, Timing(dt, stride))
    assert max(found.numerator, found.denominator) <= 2**30
    assert float(found * stride) == pytest.approx(1 / dt, rel=1e-6)


@given(st.fractions("1/100", 100, max_denominator=300), st.fractions(0, 1, max_denominator=300))
def test_the_simplest_fraction_has_the_smallest_terms(low, width):
    found = simplest(low, low + width)
    assert low <= found <= low + width
    for denominator in range(1, found.denominator):
        assert -(-low.numerator * denominator // low.denominator) > (low + width) * denominator
