"""Our models are found by name, hold still when nothing moves them, and stay finite whatever is asked of them."""

import mujoco
import numpy as np
import pytest

from simreel import models
from simreel.errors import UnknownNameError

NAMES = ("arm", "cartpole", "cloth", "quadruped")


@pytest.fixture(params=NAMES)
def model(request):
    return mujoco.MjModel.from_xml_path(str(models.path(request.param)))


def test_the_names_are_those_of_the_files():
    assert models.names() == NAMES
    assert all(models.path(name).is_file() for name in NAMES)


@pytest.mark.parametrize("name", ["amr", "", "../models/arm", "arm.xml"])
def test_a_wrong_name_lists_the_models(name):
    with pytest.raises(UnknownNameError, match="cartpole"):
        models.path(name)


def run(model, seconds, control):
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    for step in range(round(seconds / model.opt.timestep)):
        control(step, data)
        mujoco.mj_step(model, data)
    return data


def finite(data):
    return np.isfinite(data.qpos).all() and not any(warning.number for warning in data.warning)


def test_a_model_is_stable_for_ten_seconds_without_control(model):
    data = run(model, 10, lambda _, __: None)
    assert finite(data)


def test_a_model_is_stable_for_ten_seconds_of_random_control(model):
    if not model.nu:
        pytest.skip("nothing to control")
    generator = np.random.default_rng(0)

    def often(_, data):
        data.ctrl[:] = generator.uniform(*model.actuator_ctrlrange.T)

    def seldom(step, data):
        if step % 100 == 0:
            often(step, data)

    assert finite(run(model, 10, often))
    assert finite(run(model, 10, seldom))


def test_a_model_can_be_looked_at(model):
    assert model.camera("side").id >= 0
    assert model.nlight >= 1


def test_the_models_share_their_options_so_that_they_fit_into_one_scene():
    options = [mujoco.MjModel.from_xml_path(str(models.path(name))).opt for name in NAMES]
    assert len({(option.timestep, option.integrator, option.solver, option.cone) for option in options}) == 1


@pytest.mark.parametrize("name", ["arm", "cartpole", "quadruped"])
def test_home_is_within_the_limits_of_the_joints(name):
    model = mujoco.MjModel.from_xml_path(str(models.path(name)))
    home = model.key("home").qpos
    for joint in range(model.njnt):
        if model.jnt_limited[joint]:
            low, high = model.jnt_range[joint]
            for pose in (home, model.qpos0):
                assert low <= pose[model.jnt_qposadr[joint]] <= high


def test_the_arm_has_seven_servos_and_sensors_at_its_hand():
    model = mujoco.MjModel.from_xml_path(str(models.path("arm")))
    assert (model.nq, model.nu) == (7, 7)
    data = run(model, 2, lambda _, data: np.copyto(data.ctrl, model.key("home").ctrl))
    np.testing.assert_allclose(data.qpos, model.key("home").qpos, atol=0.05)
    for name in ("joint1_pos", "joint7_vel", "hand_pos", "hand_gyro", "hand_accel"):
        assert model.sensor(name).id >= 0


def test_the_quadruped_stands_on_its_four_feet():
    model = mujoco.MjModel.from_xml_path(str(models.path("quadruped")))
    assert (model.nq, model.nu) == (19, 12)
    data = run(model, 4, lambda _, __: None)
    assert data.qpos[2] > 0.25
    weight = model.body_mass.sum() * 9.81
    feet = [f"{x}_{y}_touch" for x in ("front", "hind") for y in ("left", "right")]
    forces = [float(data.sensor(foot).data[0]) for foot in feet]
    assert min(forces) > 0.1 * weight
    assert sum(forces) == pytest.approx(weight, rel=0.05)


def test_the_cloth_comes_to_lie_on_the_ball():
    model = mujoco.MjModel.from_xml_path(str(models.path("cloth")))
    data = run(model, 2, lambda _, __: None)
    heights = data.flexvert_xpos[:, 2]
    assert heights.max() > 0.4
    assert heights.min() > -0.02
