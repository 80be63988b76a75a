from __future__ import annotations

import numpy as np
import pytest

from simreel.reel.codec.ordered import from_ordered, to_ordered


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_the_order_of_numbers_is_the_order_of_integers(dtype):
    numbers = np.array([-np.inf, -1e30, -1.0, -1e-40, -0.0, 0.0, 1e-40, 1.0, np.nextafter(1.0, 2), 1e30, np.inf])
    ordered = to_ordered(numbers.astype(dtype))
    assert ordered.dtype.itemsize == np.dtype(dtype).itemsize
    assert (np.diff(ordered) >= 0).all()
    assert ordered[4] == -1
    assert ordered[5] == 0


def test_neighbours_differ_by_one():
    for start in (1.0, -1.0, 0.0, 1.7e308, -1e-310):
        assert np.diff(to_ordered(np.array([start, np.nextafter(start, np.inf)]))) == 1


@pytest.mark.parametrize(("dtype", "bits"), [("f8", "u8"), ("f4", "u4"), ("i8", "u8"), ("i4", "u4"), ("u1", "u1")])
def test_every_bit_pattern_comes_back(dtype, bits):
    some = np.frombuffer(np.random.default_rng(0).bytes(8000), bits)
    ends = np.array([0, 1, np.iinfo(bits).max, np.iinfo(bits).max // 2, np.iinfo(bits).max // 2 + 1], bits)
    values = np.concatenate([some, ends]).view(dtype)
    assert from_ordered(to_ordered(values), np.dtype(dtype)).tobytes() == values.tobytes()
