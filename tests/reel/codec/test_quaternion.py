from __future__ import annotations

import numpy as np
import pytest

from simreel.reel.codec.quaternion import product, running_product, turns


def test_a_turn_is_the_unit_quaternion_of_a_rotation_vector():
    rng = np.random.default_rng(0)
    angles = rng.normal(size=(3, 1, 1000)) * 10.0 ** rng.uniform(-12, -0.5, 1000)
    angles = angles[:, :, (angles**2).sum(axis=0)[0] < 4]
    size = np.sqrt((angles**2).sum(axis=0))
    expected = np.concatenate([np.cos(size / 2)[None], np.sin(size / 2) / size * angles])
    assert angles.shape[2] > 900
    np.testing.assert_allclose(turns(angles), expected, rtol=1e-15)


@pytest.mark.parametrize("angle", [0.0, 2.1, 1e300, 5e-324])
def test_no_turn_stands_for_one_that_is_nothing_or_too_large(angle):
    assert turns(np.full((3, 1, 1), angle)).ravel().tolist() == [1.0, 0.0, 0.0, 0.0]


def test_the_product_is_that_of_quaternions():
    one, i, j, k = np.eye(4)[:, :, None, None]
    for left, right, expected in [(i, j, k), (j, k, i), (k, i, j), (j, i, -k), (i, i, -one), (one, k, k), (k, one, k)]:
        assert (product(left, right) == expected).all()


@pytest.mark.parametrize("n", [1, 2, 3, 16, 17, 100])
def test_the_running_product_is_that_of_all_before(n):
    steps = turns(np.random.default_rng(n).normal(size=(3, 2, n)) * 0.3)
    expected = steps.copy()
    for t in range(1, n):
        expected[:, :, t] = product(expected[:, :, t - 1, None], steps[:, :, t, None])[:, :, 0]
    np.testing.assert_allclose(running_product(steps), expected, atol=1e-14)
