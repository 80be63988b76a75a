"""The first model file decides what a scene has one of; the others may not contradict it."""

import mujoco
import numpy as np
import pytest

from simreel.errors import OptionsConflictError
from simreel.options import SimOptions
from simreel.options.morphs import MJCF, Box
from simreel.scene.compile import compile_scene, load_morph, scene_timestep

BALL = "<geom size='.1'/>"
FALLER = f"<body name='faller' pos='0 0 1'><freejoint name='root'/>{BALL}</body>"


def world(body="", option="", rest="", compiler=""):
    return (
        f"<mujoco><compiler {compiler}/><option {option if '<' not in option else ''}>"
        f"{option if '<' in option else ''}</option><worldbody>{body}</worldbody>{rest}</mujoco>"
    )


def parts(*entities):
    return [(morph.name or f"e{number}", morph, load_morph(morph)) for number, morph in enumerate(entities)]


def compiled(*entities, **options):
    return compile_scene(SimOptions(**options), parts(*entities))


def differences(a, b, skip=()):
    """The fields in which two models differ, those of opt, stat and vis among them."""
    found = []
    for name in dir(a):
        if name.startswith("_") or name in skip:
            continue
        x, y = getattr(a, name), getattr(b, name)
        if callable(x):
            continue
        if isinstance(x, np.ndarray):
            same = x.shape == y.shape and np.array_equal(x, y, equal_nan=x.dtype.kind == "f")
        elif isinstance(x, int | float | str | bytes):
            same = x == y
        else:
            found += [f"{name}.{inner}" for inner in differences(x, y)]
            continue
        if not same:
            found.append(name)
    return found


def test_sizes_are_large_enough_for_all_files():
    first = MJCF(world(FALLER, rest="<size memory='1M' nuserdata='2'/>"))
    second = MJCF(world(FALLER, rest="<size memory='90M' nuserdata='5' nuser_geom='3'/>"))
    model = compiled(first, second).model
    assert model.narena >= 91 * 2**20
    assert model.nuserdata == 5


def test_the_timestep_is_known_before_the_scene_is_built():
    box, first, second = Box((1, 1, 1)), MJCF(world(option="timestep='.004'")), MJCF(world())
    for sim, entities, expected in (
        (SimOptions(), [], 0.002),
        (SimOptions(), [box], 0.002),
        (SimOptions(substeps=4), [box, first], 0.004),
        (SimOptions(), [box, first, second], 0.004),
        (SimOptions(dt=0.01, substeps=4), [first], 0.0025),
    ):
        given = parts(*entities)
        assert scene_timestep(sim, given) == expected
        assert compile_scene(sim, given).model.opt.timestep == expected


def test_options_of_the_scene_go_before_those_of_the_file():
    file = MJCF(world(option="gravity='0 0 -1' integrator='RK4' timestep='.1'"))
    option = compiled(file, dt=0.01, gravity=(1, 2, 3), integrator="discrete").model.opt
    assert option.gravity.tolist() == [1, 2, 3]
    assert option.integrator == mujoco.mjtIntegrator.mjINT_DISCRETE
    assert option.timestep == 0.01
    assert compiled(file).model.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4


@pytest.mark.parametrize("integrator", ["euler", "rk4", "implicit", "implicitfast", "discrete"])
def test_every_integrator_is_known_to_mujoco(integrator):
    assert compiled(integrator=integrator).model.opt.integrator >= 0


CONFLICTS = [
    ("timestep='.001'", "timestep='.003'", "timestep", {"dt": 1.0}),
    ("", "gravity='0 0 0'", "gravity", {"gravity": (0, 0, 0)}),
    ("", "integrator='RK4'", "integrator", {"integrator": "euler"}),
    ("cone='elliptic'", "cone='pyramidal'", "cone", None),
    ("solver='CG'", "solver='PGS'", "solver", None),
    ("jacobian='dense'", "jacobian='sparse'", "jacobian", None),
    ("o_solref='.1 1'", "o_solref='.1 2'", "o_solref", None),
    ("impratio='1'", "impratio='3'", "impratio", None),
    ("", "sdf_iterations='3'", "sdf_iterations", None),
    ("", "actuatorgroupdisable='2 3'", "actuatorgroupdisable", None),
    ("", "<flag contact='disable'/>", "flag contact", None),
    ("<flag contact='disable'/>", "<flag contact='enable'/>", "flag contact", None),
    ("", "<flag energy='enable'/>", "flag energy", None),
]


@pytest.mark.parametrize(("first", "second", "field", "remedy"), CONFLICTS)
def test_two_files_that_differ_in_an_option_are_an_error_that_names_it(first, second, field, remedy):
    entities = MJCF(world(option=first)), Box((1, 1, 1)), MJCF(world(option=second), name="zwei")
    with pytest.raises(OptionsConflictError, match="differ") as caught:
        compiled(*entities)
    assert caught.value.field == field
    assert "zwei" in str(caught.value)
    if remedy:
        assert f"SimOptions({next(iter(remedy))}=" in str(caught.value)
        compiled(*entities, **remedy)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("timestep='.001' cone='elliptic'", ""),
        ("<flag energy='enable' contact='disable'/>", ""),
        ("cone='elliptic' gravity='0 0 -3'", "gravity='0 0 -3' cone='elliptic'"),
        ("", "timestep='.002' solver='Newton'"),
    ],
)
def test_what_a_later_file_does_not_state_or_states_alike_is_no_conflict(first, second):
    option = compiled(MJCF(world(option=first)), MJCF(world(option=second))).model.opt
    alone = compiled(MJCF(world(option=first))).model.opt
    assert differences(option, alone) == []


def test_an_option_of_an_included_file_counts_as_stated(tmp_path):
    (tmp_path / "common.xml").write_text("<mujoco><option cone='elliptic'/></mujoco>", encoding="utf-8")
    (tmp_path / "b.xml").write_text("<mujoco><include file='common.xml'/></mujoco>", encoding="utf-8")
    with pytest.raises(OptionsConflictError, match="cone"):
        compiled(MJCF(world()), MJCF(tmp_path / "b.xml"))


def test_options_of_a_third_file_are_compared_with_the_first_too():
    with pytest.raises(OptionsConflictError, match="cone: e0 has pyramidal, e2 has elliptic"):
        compiled(MJCF(world()), MJCF(world()), MJCF(world(option="cone='elliptic'")))
