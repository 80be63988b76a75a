"""What differs between a recorded scene and another is told by name."""

import pytest

import simreel as sr
from simreel.errors import SceneDiffersError
from simreel.options.morphs import MJCF
from simreel.scene import FunctionEngine
from simreel.scene.description import describe_scene, differences
from simreel.scene.description.describe import Description

ARM = """<mujoco><option timestep="{dt}"/><worldbody>
<body name="torso" pos="0 0 1"><joint name="hip" type="hinge" damping="{damping}"/><geom name="trunk" size=".1"/>
{more}</body><body name="ball" pos="1 0 1"><joint name="{joint}"/><geom size=".1" mass="{mass}"/></body></worldbody>
<actuator><motor name="{motor}" joint="hip"/></actuator></mujoco>"""
LEG = "<body name='leg' pos='0 1 0'><joint name='knee'/><geom name='shin' size='.1'/></body>"


def scene(n_envs=0, **values):
    defaults = {"dt": 0.002, "damping": 1, "more": "", "joint": "roll", "mass": 3.2, "motor": "drive"}
    made = sr.Scene()
    made.add_entity(MJCF(ARM.format(**defaults | values)))
    made.build(n_envs)
    return made


def told(first, second):
    with first, second:
        return differences(describe_scene(first), second)


def test_the_same_script_gives_no_difference():
    assert told(scene(), scene()) == []
    assert told(scene(3), scene(3)) == []


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({"mass": 3.5}, "body_mass of 'ball': 3.2 recorded, 3.5 here"),
        ({"mass": 3.2 + 1e-15}, "body_mass of 'ball': 3.2 recorded, 3.200000000000001 here"),
        ({"damping": 2}, "dof_damping of 'hip': 1 recorded, 2 here"),
        ({"dt": 0.001}, "dt: 0.002 s recorded, 0.001 s here"),
        ({"n_envs": 4}, "n_envs: 0 recorded, 4 here"),
        ({"joint": "yaw"}, "joint 'roll': recorded, not here"),
        ({"joint": "yaw"}, "joint 'yaw': here, not recorded"),
        ({"motor": "push"}, "actuator 'drive': recorded, not here"),
        ({"more": LEG}, "body 'leg': here, not recorded"),
        ({"more": LEG}, "joint 'knee': here, not recorded"),
        ({"more": LEG, "mass": 3.5}, "body_mass of 'ball': 3.2 recorded, 3.5 here"),
    ],
)
def test_a_difference_is_named(values, line):
    assert line in told(scene(), scene(**values))


def test_what_the_compiler_derives_is_told_last():
    lines = told(scene(), scene(mass=3.5))
    assert "body_mass of 'ball': 3.2 recorded, 3.5 here" in lines[:3]
    assert lines[-1].partition(" ")[0].startswith(("body_invweight0", "stat", "dof_"))


def test_an_edit_of_the_compiled_model_is_told():
    with scene() as first, scene() as second:
        second.model.geom_friction[0, 0] = 0.3
        assert differences(describe_scene(first), second) == ["geom_friction[0] of 'trunk': 1 recorded, 0.3 here"]
        second.model.opt.gravity[2] = -1
        assert "opt.gravity[2]: -9.81 recorded, -1 here" in differences(describe_scene(first), second)


def test_many_differences_are_counted():
    body = "".join(f"<body name='b{k}'><freejoint name='j{k}'/><geom size='.1'/></body>" for k in range(100))
    with scene() as first, sr.Scene() as second:
        second.add_entity(MJCF(f"<mujoco><worldbody>{body}</worldbody></mujoco>"))
        second.build()
        lines = differences(describe_scene(first), second)
        assert len(lines) < 40
        assert lines[-1].startswith("and ")


def test_another_version_of_mujoco_is_told_where_the_models_differ():
    with scene() as first, scene() as same, scene(mass=3.5) as other:
        meta, blobs = describe_scene(first)
        old = Description(meta | {"engine_version": "1.2.3"}, blobs)
        assert differences(old, same) == []
        lines = differences(old, other)
        assert lines[0].startswith("MuJoCo: version 1.2.3 recorded")
        assert "body_mass of 'ball': 3.2 recorded, 3.5 here" in lines


def test_names_are_compared_where_the_recorded_model_cannot_be_loaded():
    with scene() as first, scene(joint="yaw") as second:
        lines = differences(describe_scene(first, "none"), second)
    assert "joint 'roll': recorded, not here" in lines
    assert "cannot be loaded" in lines[-1]


def test_another_engine_is_told():
    with scene() as first, sr.Scene(engine=FunctionEngine(lambda: None, dt=0.002)) as second:
        second.build()
        assert differences(describe_scene(first), second) == ["engine: mujoco recorded, function here"]
        assert differences(describe_scene(second), second) == []


def test_the_error_holds_the_list_and_says_that_they_differ():
    error = SceneDiffersError("run.reel", ["a", "b"])
    assert error.differences == ("a", "b")
    assert "differ" in str(error)
    assert str(error).splitlines()[1:] == ["  a", "  b"]
