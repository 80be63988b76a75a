"""What was used last is kept, up to a number of bytes."""

import numpy as np

from simreel.reel.cache import Cache


def test_the_least_recently_used_goes_first():
    cache = Cache(300)
    for i in range(3):
        cache.put((i, 0), np.full(100, i, np.uint8))
    assert cache.get((0, 0))[0] == 0
    cache.put((3, 0), np.full(100, 3, np.uint8))
    assert [i for i in range(4) if cache.get((i, 0)) is not None] == [0, 2, 3]
    assert cache.nbytes == 300


def test_a_value_put_again_counts_once_and_one_that_is_too_large_is_not_kept():
    cache = Cache(300)
    for size in (100, 200, 50):
        cache.put((0, 0), np.zeros(size, np.uint8))
    assert cache.nbytes == 50
    cache.put((1, 0), np.zeros(301, np.uint8))
    assert cache.get((1, 0)) is None
    assert cache.nbytes == 0
    cache.put((1, 0), np.zeros(300, np.uint8))
    cache.reset()
    assert (cache.get((1, 0)), cache.nbytes) == (None, 0)
