"""What the options of a simulation accept and refuse."""

import subprocess
import sys

import numpy as np
import pytest

from simreel import SimOptions
from simreel.errors import OptionsError


def test_the_defaults_leave_all_to_the_model():
    made = SimOptions()
    assert (made.dt, made.substeps, made.gravity, made.integrator) == (None, 1, None, None)


def test_options_survive_json():
    made = SimOptions(dt=0.004, substeps=2, gravity=[0, 0, -1.62], integrator="implicitfast")
    assert SimOptions.model_validate_json(made.model_dump_json()) == made


def test_every_field_tells_what_it_is():
    for field, info in SimOptions.model_fields.items():
        assert info.description, field


def test_options_load_neither_numpy_nor_mujoco():
    check = "import sys, simreel as sr; sr.SimOptions(dt=1); assert not {'numpy', 'mujoco'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", check], check=True, timeout=60)


def test_numpy_values_and_lists_are_accepted():
    made = SimOptions(dt=np.float32(0.5), substeps=np.int64(3), gravity=np.array([0, 0, -9.81]))
    assert (made.dt, made.substeps, made.gravity) == (0.5, 3, (0.0, 0.0, -9.81))
    assert type(made.gravity[2]) is float
    assert SimOptions(gravity=[np.float32(0), np.float64(1), 2]).gravity == (0.0, 1.0, 2.0)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"dt": 0}, "dt = 0: greater than 0"),
        ({"dt": float("nan")}, "dt = nan: a finite number"),
        ({"dt": float("inf")}, "dt = inf: a finite number"),
        ({"substeps": 0}, "substeps = 0: greater than or equal to 1"),
        ({"substeps": 1.5}, "substeps = 1.5: "),
        ({"gravity": -9.81}, "gravity = -9.81: a valid tuple"),
        ({"gravity": (0, 0)}, "gravity = (0, 0): too few values"),
        ({"gravity": (0, 0, float("nan"))}, "gravity = nan: a finite number"),
        ({"gravity": (0, 0, -9.81, 1)}, "gravity = (0, 0, -9.81, 1): "),
        (
            {"integrator": "rk5"},
            "integrator = 'rk5': 'euler', 'rk4', 'implicit', 'implicitfast' or 'discrete'. Did you mean 'rk4'?",
        ),
        ({"integrator": "RK4"}, "integrator = 'RK4': "),
        ({"timestep": 0.1}, "timestep is not an option."),
        ({"gravty": 1}, "gravty is not an option. Did you mean 'gravity'?"),
    ],
)
def test_a_mistake_is_one_line(values, words):
    with pytest.raises(OptionsError) as caught:
        SimOptions(**values)
    assert str(caught.value).startswith(f"SimOptions: {words}")
    assert "\n" not in str(caught.value)


def test_values_may_be_given_in_order():
    assert SimOptions(0.01, 2) == SimOptions(dt=0.01, substeps=2)
    with pytest.raises(OptionsError, match="allowed without: dt, substeps, gravity, integrator"):
        SimOptions(0.01, 2, (0, 0, 0), "rk4", 5)


def test_options_are_frozen():
    with pytest.raises(OptionsError, match="dt: options are frozen"):
        SimOptions().dt = 1
