from __future__ import annotations

import numpy as np

from simreel.scene.clock import Clock


def test_a_reset_counts_from_zero_and_leaves_nothing_to_sample_before_a_step() -> None:
    clock = Clock(0.002)
    assert clock.may_sample
    clock.step = 5
    clock.reset()
    assert clock.step == 0
    assert not clock.may_sample
    clock.step += 1
    assert clock.may_sample


def test_an_unstable_state_may_not_be_sampled_until_a_reset() -> None:
    clock = Clock(0.002)
    clock.step = 3
    clock.fail(())
    assert not clock.may_sample
    clock.reset()
    clock.step += 1
    assert clock.may_sample


def test_worlds_that_became_unstable_are_each_to_be_reset() -> None:
    clock = Clock(0.002)
    clock.set_worlds(4)
    clock.step = 3
    clock.fail((1, 3))
    clock.reset(np.array([0, 1]))
    assert not clock.may_sample
    clock.reset(np.array([3]))
    assert clock.may_sample
    assert clock.step == 3
    assert clock.worlds.start.tolist() == [3, 3, 0, 3]
    assert clock.worlds.episode.tolist() == [1, 1, 0, 1]
