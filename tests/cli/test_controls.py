import mujoco
import numpy as np
import pytest

from simreel.cli.controls import control_ranges, drive, smooth_random, zero


@pytest.fixture(scope="module")
def model():
    """Two motors: one from 1 to 3, one without limits."""
    return mujoco.MjModel.from_xml_string(
        """
        <mujoco>
          <worldbody><body><joint name="a"/><geom size=".1"/></body></worldbody>
          <actuator><motor joint="a" ctrlrange="1 3" ctrllimited="true"/><motor joint="a"/></actuator>
        </mujoco>
        """
    )


def test_a_control_without_limits_goes_from_minus_one_to_one(model):
    low, high = control_ranges(model)
    assert (low.tolist(), high.tolist()) == ([1, -1], [3, 1])


def test_random_controls_are_smooth_stay_in_their_range_and_use_it(model):
    ctrl = smooth_random(model, 3)(np.arange(0, 60, 0.01))
    assert ctrl.shape == (6000, 2)
    low, high = control_ranges(model)
    assert (ctrl >= low).all()
    assert (ctrl <= high).all()
    assert (np.ptp(ctrl, axis=0) > 0.6 * (high - low)).all()
    assert (np.abs(np.diff(ctrl, axis=0)).max(axis=0) < 0.06 * (high - low)).all()


def test_a_seed_gives_the_same_controls_and_another_one_others(model):
    times = np.arange(5.0)
    assert np.array_equal(smooth_random(model, 3)(times), smooth_random(model, 3)(times))
    assert not np.array_equal(smooth_random(model, 3)(times), smooth_random(model, 4)(times))


def test_zero_is_no_control(model):
    assert np.array_equal(zero(model)(np.arange(3.0)), np.zeros((3, 2)))


@pytest.mark.parametrize(("first", "last"), [(0, 0), (0, 1), (5, 700), (256, 512)])
def test_each_step_gets_the_controls_of_its_own_time(first, last):
    ctrl, seen = np.zeros(1), []
    drive(lambda: seen.append(ctrl.item()), ctrl, lambda times: times[:, None], 0.5, first, last)
    assert seen == [0.5 * step for step in range(first, last)]
