from __future__ import annotations

import numpy as np
import pytest

from simreel.reel.codec.differences import Differences


def none(name):
    raise LookupError(name)


def residual(values, predictor):
    ordered = np.atleast_2d(values)
    [(places, share)] = Differences(len(ordered)).shares(np.arange(len(ordered)), np.full(len(ordered), predictor))
    assert places.tolist() == list(range(len(ordered)))
    missed = share.residual(ordered, ordered[:, 0], none)
    assert (share.restore(missed.copy(), ordered[:, 0], none) == ordered).all()
    return missed[0].tolist()


def test_the_first_values_take_the_differences_that_they_have():
    cubes = np.arange(8) ** 3
    assert residual(cubes, 1) == [1, 7, 19, 37, 61, 91, 127]
    assert residual(cubes, 2) == [1, 6, 12, 18, 24, 30, 36]
    assert residual(cubes, 3) == [1, 5, 6, 6, 6, 6, 6]


@pytest.mark.parametrize("dtype", ["i1", "i4", "i8"])
@pytest.mark.parametrize("predictor", [1, 2, 3])
def test_differences_wrap_at_the_width_of_the_values(dtype, predictor):
    ends = np.iinfo(dtype)
    values = np.array([ends.min, ends.max, 0, ends.max, ends.min, ends.min, ends.max], dtype)
    residual(values, predictor)


def test_columns_with_different_predictors_do_not_mix():
    values = np.arange(30).reshape(3, 10) ** 2
    [(_, share)] = Differences(5).shares(np.array([0, 2, 4]), np.array([2, 1, 3]))
    first = np.array([values[0, 0], -1, values[1, 0], -1, values[2, 0]])
    missed = share.residual(values, first, none)
    for row, predictor in enumerate([2, 1, 3]):
        assert missed[row].tolist() == residual(values[row], predictor)
    assert (share.restore(missed, first, none) == values).all()
