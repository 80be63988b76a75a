"""Changes of a model are noticed."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import simreel as sr
from simreel.scene.watch import ModelWatch


@pytest.fixture
def watched() -> tuple[mujoco.MjModel, ModelWatch]:
    model = mujoco.MjModel.from_xml_path(str(sr.models.path("quadruped")))
    return model, ModelWatch(model)


# fmt: off
FIELDS = [
    "qpos0", "body_mass", "body_pos", "jnt_range", "dof_damping", "geom_friction", "geom_contype", "site_pos",
    "cam_pos", "light_pos", "mat_rgba", "actuator_gainprm", "actuator_ctrllimited", "sensor_noise", "geom_rgba",
]
# fmt: on


@pytest.mark.parametrize("name", FIELDS)
def test_a_change_of_one_value_is_found_once(watched, name: str) -> None:
    model, watch = watched
    assert watch.changes() == {}
    array = getattr(model, name)
    array.flat[-1] = not array.flat[-1] if array.dtype == bool else array.flat[-1] + 1
    changed = watch.changes()
    assert list(changed) == [name]
    assert np.array_equal(changed[name], array)
    assert not np.shares_memory(changed[name], array)
    assert watch.changes() == {}


@pytest.mark.parametrize("name", [name for name in dir(mujoco.MjOption()) if not name.startswith("_")])
def test_a_change_of_an_option_is_found_once(watched, name: str) -> None:
    model, watch = watched
    value = getattr(model.opt, name)
    if isinstance(value, np.ndarray):
        value[-1] += 1
    else:
        setattr(model.opt, name, value + 1)
    changed = watch.changes()
    assert list(changed) == [f"opt.{name}"]
    assert np.array_equal(changed[f"opt.{name}"], getattr(model.opt, name))
    assert not np.shares_memory(changed[f"opt.{name}"], value)
    assert watch.changes() == {}


def test_what_is_no_option_of_a_step_is_no_change(watched) -> None:
    model, watch = watched
    model.vis.global_.fovy += 1
    model.stat.center[0] += 1
    assert watch.changes() == {}


def test_options_that_are_arrays_are_among_them(watched) -> None:
    model, watch = watched
    model.opt.gravity[1] = 2
    assert watch.changes()["opt.gravity"].tolist() == [0, 2, -9.81]


def test_nan_is_no_change_for_ever(watched) -> None:
    model, watch = watched
    model.body_mass[1] = np.nan
    model.opt.density = np.nan
    assert list(watch.changes()) == ["opt.density", "body_mass"]
    assert watch.changes() == {}


def test_a_value_that_was_put_back_is_no_change(watched) -> None:
    model, watch = watched
    mass = model.body_mass[1]
    model.body_mass[1] = 3
    model.body_mass[1] = mass
    assert watch.changes() == {}


def test_terrain_is_among_them() -> None:
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><asset><hfield name="h" nrow="20" ncol="20" size="1 1 1 .1"/></asset>'
        '<worldbody><geom type="hfield" hfield="h"/></worldbody></mujoco>'
    )
    watch = ModelWatch(model)
    model.hfield_data[7] = 0.5
    assert list(watch.changes()) == ["hfield_data"]


def test_a_step_changes_nothing(watched) -> None:
    model, watch = watched
    data = mujoco.MjData(model)
    for _ in range(100):
        mujoco.mj_step(model, data)
    assert watch.changes() == {}
