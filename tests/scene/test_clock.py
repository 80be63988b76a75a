from __future__ import annotations

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
    clock.step, clock.is_stable = 3, False
    assert not clock.may_sample
    clock.reset()
    clock.step += 1
    assert clock.may_sample
