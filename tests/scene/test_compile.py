"""Scenes of one file are what MuJoCo makes of it; scenes of many keep each entity as its file has it."""

import importlib.util
import logging
from pathlib import Path

import mujoco
import numpy as np
import pytest

from simreel import models
from simreel.errors import ModelError
from simreel.options import SimOptions
from simreel.options.morphs import MJCF, URDF, Box, Capsule, Cylinder, Plane, Sphere
from simreel.scene.compile import _spans, compile_scene, load_morph
from simreel.scene.messages import collected_messages
from simreel.scene.scene import Scene

SHARED = Path(__file__).resolve().parents[3] / "shared"

BALL = "<geom size='.1'/>"
FALLER = f"<body name='faller' pos='0 0 1'><freejoint name='root'/>{BALL}</body>"

ROBOT = """<robot name="r">
  <link name="base"><inertial><mass value="2"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><box size=".3 .3 .3"/></geometry></visual>
    <collision><geometry><box size=".2 .2 .2"/></geometry></collision></link>
  <link name="mount"><inertial><mass value="1"/>
    <inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="fix" type="fixed"><parent link="base"/><child link="mount"/><origin xyz="0 0 .2"/></joint>
  <link name="arm"><inertial><origin xyz=".1 0 0"/><mass value="1"/>
    <inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="j1" type="revolute"><parent link="mount"/><child link="arm"/><origin xyz="0 0 .2"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="5" velocity="2"/></joint>
</robot>"""


def world(body="", option="", rest="", compiler=""):
    return (
        f"<mujoco><compiler {compiler}/><option {option if '<' not in option else ''}>"
        f"{option if '<' in option else ''}</option><worldbody>{body}</worldbody>{rest}</mujoco>"
    )


def parts(*entities):
    return [(morph.name or f"e{number}", morph, load_morph(morph)) for number, morph in enumerate(entities)]


def compiled(*entities, **options):
    return compile_scene(SimOptions(**options), parts(*entities))


def names(model, kind):
    count = {"body": model.nbody, "joint": model.njnt, "actuator": model.nu, "geom": model.ngeom, "key": model.nkey}
    return [getattr(model, kind)(number).name for number in range(count[kind])]


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


def gymnasium_model(name):
    spec = importlib.util.find_spec("gymnasium")
    if spec is None or spec.origin is None:
        pytest.skip("gymnasium is not installed")
    return Path(spec.origin).parent / "envs" / "mujoco" / "assets" / f"{name}.xml"


def panda():
    file = SHARED / "models" / "franka_emika_panda" / "scene.xml"
    if not file.is_file():
        pytest.skip("the shared models are not here")
    return file


@pytest.fixture(
    params=["ant", "humanoid", "half_cheetah", "hopper", "reacher", "panda", *models.names(), "every_global"]
)
def model_file(request, tmp_path):
    if request.param == "panda":
        return panda()
    if request.param in models.names():
        return models.path(request.param)
    if request.param != "every_global":
        return gymnasium_model(request.param)
    file = tmp_path / "globals.xml"
    file.write_text(
        """<mujoco model="g"><compiler settotalmass="7" boundmass="0.3" boundinertia="0.01" balanceinertia="true"
          fusestatic="true" discardvisual="true" angle="radian" inertiagrouprange="0 1"/>
        <option timestep="0.003" impratio="3" cone="elliptic" solver="CG" iterations="7" density="1.2" wind="1 0 0"
          o_margin="0.1" jacobian="dense" integrator="RK4"><flag energy="enable" contact="disable"/></option>
        <size memory="3M" nuserdata="4" nuser_geom="2"/><statistic extent="5" center="1 2 3" meanmass="3"/>
        <visual><map znear="0.02"/><global offwidth="800" fovy="30"/><rgba haze="1 0 0 1"/></visual>
        <custom><numeric name="n" data="1 2"/><text name="t" data="x"/></custom>
        <worldbody><geom type="plane" size="1 1 .1" contype="0" conaffinity="0"/>
          <body name="still"><geom size=".1"/><body name="moving" pos="0 0 1"><joint name="j" range="-1 1"/>
          <geom size=".1"/><geom size=".2" group="3" contype="0" conaffinity="0"/></body></body></worldbody>
        <keyframe><key name="k" qpos="0.5"/></keyframe></mujoco>""",
        encoding="utf-8",
    )
    return file


def test_a_scene_of_one_file_is_the_model_of_the_file(model_file):
    with collected_messages():
        expected = mujoco.MjModel.from_xml_path(str(model_file))
    assert differences(expected, compiled(MJCF(model_file)).model) == []


def test_a_prefix_changes_nothing_but_the_names(model_file):
    plain = compiled(MJCF(model_file)).model
    prefixed = compiled(MJCF(model_file, prefix="left/")).model
    found = [name for name in differences(plain, prefixed) if not name.startswith("name")]
    assert set(found) <= {"nnames", "nbuffer", "narena"}
    assert all(name.startswith("left/") or not name for name in names(prefixed, "joint"))


def test_a_pose_leaves_the_options_as_the_file_has_them(model_file):
    plain = compiled(MJCF(model_file)).model
    moved = compiled(MJCF(model_file, pos=(1, 2, 3), quat=(1, 0, 0, 1))).model
    assert [name for name in differences(plain, moved) if name.startswith(("opt", "vis", "nuser", "narena"))] == []


def test_an_empty_scene_is_an_empty_world():
    scene = compiled(dt=0.01)
    assert scene.model.nbody == 1
    assert scene.model.opt.timestep == 0.01
    assert scene.entities == ()


def test_primitives_have_the_size_mass_and_place_they_were_given():
    scene = compiled(
        Plane(pos=(0, 0, -1)),
        Box((1, 2, 3), pos=(1, 2, 3), quat=(3, 0, 0, 0), mass=2),
        Sphere(0.5, density=10, rgba=(1, 0, 0, 0.5)),
        Capsule(0.1, 0.4, fixed=True),
        Cylinder(0.1, 0.4, name="walze"),
    )
    model = scene.model
    assert names(model, "body") == ["world", "e1", "e2", "e3", "walze"]
    assert names(model, "joint") == ["e1", "e2", "walze"]
    assert model.geom("e1").size.tolist() == [0.5, 1, 1.5]
    assert model.geom("e3").size[:2].tolist() == [0.1, 0.2]
    assert model.geom("walze").size[:2].tolist() == [0.1, 0.2]
    assert model.geom("e0").bodyid == 0
    assert model.geom("e0").pos.tolist() == [0, 0, -1]
    assert model.body("e1").mass == 2
    assert model.body("e2").mass == pytest.approx(10 * 4 / 3 * np.pi * 0.125)
    assert model.geom("e2").rgba.tolist() == [1, 0, 0, 0.5]
    assert model.qpos0[scene.entities[1].qpos].tolist() == [1, 2, 3, 1, 0, 0, 0]
    plane, _, _, fixed, _ = scene.entities
    assert (plane.base_body, len(plane.body_ids), plane.qpos) == (0, 0, slice(0, 0))
    assert (fixed.base_body, fixed.qpos) == (3, slice(0, 0))


def test_a_box_rests_on_a_plane():
    model = compiled(Plane((2, 2)), Box((0.2, 0.2, 0.2), pos=(0, 0, 0.3))).model
    data = mujoco.MjData(model)
    for _ in range(1000):
        mujoco.mj_step(model, data)
    assert data.qpos[2] == pytest.approx(0.1, abs=1e-3)


def test_the_index_tells_where_each_entity_stands():
    arm = str(models.path("arm"))
    scene = compiled(Box((1, 1, 1)), MJCF(arm), MJCF(arm, pos=(1, 0, 0)), MJCF(arm, prefix="r_", name="right"))
    model = scene.model
    box, first, second, right = scene.entities
    assert [entity.prefix for entity in scene.entities] == ["e0/", "", "e2/", "r_"]
    for entity, joint in ((first, "joint1"), (second, "e2/joint1"), (right, "r_joint1")):
        assert len(entity.joint_ids) == len(entity.actuator_ids) == 7
        assert len(entity.sensor_ids) == 18
        assert model.joint(int(entity.joint_ids[0])).name == joint
        assert model.actuator(int(entity.actuator_ids[0])).name == joint
        assert model.body(entity.base_body).name == entity.prefix + "base"
        assert entity.body_ids[0] == entity.base_body
        assert len(entity.body_ids) == 8
    data = mujoco.MjData(model)
    data.qpos[:] = np.arange(model.nq)
    seen = np.concatenate([data.qpos[entity.qpos] for entity in scene.entities])
    assert sorted(seen.tolist()) == list(range(model.nq))
    assert box.qpos == slice(7, 14)
    assert box.qvel == slice(7, 13)
    assert box.ctrl == slice(0, 0)
    assert sorted(np.concatenate([entity.body_ids for entity in scene.entities]).tolist()) == list(range(1, 26))


def test_an_actuator_may_have_several_controls():
    text = """<mujoco><worldbody><body name="b"><joint name="ball" type="ball"/><geom size=".1"/></body>
    <body name="c" pos="1 0 0"><joint name="h" axis="0 1 0"/><geom size=".1"/></body></worldbody><actuator>
    <orientation name="turn" joint="ball" input="quat" kp="10"/><motor name="push" joint="h"/></actuator></mujoco>"""
    scene = Scene()
    first, second = (scene.add_entity(MJCF(file=text, prefix=prefix), prefix) for prefix in "ab")
    scene.build()
    second.set_ctrl([0, 1, 0, 0, 5])
    assert scene.data.ctrl.tolist() == [1, 0, 0, 0, 0, 0, 1, 0, 0, 5]
    assert first.get_ctrl().tolist() == [1, 0, 0, 0, 0]
    assert second.get_ctrl().tolist() == [0, 1, 0, 0, 5]


def test_indices_that_do_not_stand_together_are_an_array():
    # MuJoCo keeps each file together in its tree today; nothing promises that.
    assert _spans(np.array([0, 7]), np.array([4, 2])).tolist() == [0, 1, 2, 3, 7, 8]
    assert _spans(np.array([3]), np.array([7])) == slice(3, 10)


def test_a_free_joint_of_a_file_is_kept_where_the_file_is_placed():
    scene = compiled(MJCF(world(FALLER)), MJCF(world(FALLER), pos=(2, 0, 0)))
    assert scene.model.nq == 14
    assert scene.model.qpos0[scene.entities[1].qpos].tolist() == [2, 0, 1, 1, 0, 0, 0]


KEYED = world(
    FALLER + f"<body name='m' mocap='true'>{BALL}</body>",
    rest="<keyframe><key name='home' qpos='1 0 2 1 0 0 0' qvel='1 0 0 0 0 1' mpos='1 1 1'/>"
    "<key name='bare'/></keyframe>",
)


def test_keyframes_move_with_their_entity_and_leave_the_others_alone():
    scene = compiled(Box((1, 1, 1), pos=(9, 9, 9)), MJCF(KEYED), MJCF(KEYED, pos=(0, 0, 5), quat=(1, 0, 0, 1)))
    model = scene.model
    assert names(model, "key") == ["home", "bare", "e2/home", "e2/bare"]
    box, first, second = scene.entities
    half = np.sqrt(0.5)
    for key, mine, pose, speed in (
        ("home", first, [1, 0, 2, 1, 0, 0, 0], [1, 0, 0, 0, 0, 1]),
        ("bare", first, [0, 0, 1, 1, 0, 0, 0], [0] * 6),
        ("e2/home", second, [0, 1, 7, half, 0, 0, half], [0, 1, 0, 0, 0, 1]),
        ("e2/bare", second, [0, 0, 6, half, 0, 0, half], [0] * 6),
    ):
        qpos, qvel = model.key(key).qpos, model.key(key).qvel
        np.testing.assert_allclose(qpos[mine.qpos], pose, atol=1e-12)
        np.testing.assert_allclose(qvel[mine.qvel], speed, atol=1e-12)
        for other in {box, first, second} - {mine}:
            np.testing.assert_allclose(qpos[other.qpos], model.qpos0[other.qpos])
    np.testing.assert_allclose(model.key("e2/home").mpos, [0, 0, 0, -1, 1, 6], atol=1e-12)


def test_a_total_mass_is_that_of_its_file_alone():
    file = MJCF(world(FALLER, compiler="settotalmass='3'"))
    for entities in ((file, Box((1, 1, 1))), (Box((1, 1, 1)), file), (file, MJCF(world(FALLER))), (MJCF(KEYED), file)):
        scene = compiled(*entities)
        (entity,) = [e for e, morph in zip(scene.entities, entities, strict=True) if morph is file]
        assert scene.model.body(entity.base_body).mass == pytest.approx(3)
        other = next(e for e in scene.entities if e is not entity)
        assert scene.model.body(other.base_body).mass != pytest.approx(3)


def test_flags_of_a_file_do_not_reach_the_other_entities():
    file = MJCF(
        world(
            FALLER,
            compiler="inertiagrouprange='5 5' fusestatic='true' discardvisual='true' boundmass='50' boundinertia='1'",
        )
    )
    ghost = MJCF(world("<body name='ghost'><geom size='.1' contype='0' conaffinity='0'/></body>"), name="ghost")
    scene = compiled(file, Box((0.1, 0.1, 0.1), fixed=True, mass=1), ghost)
    assert names(scene.model, "body") == ["world", "faller", "e1", "ghost/ghost"]
    assert scene.model.body("faller").mass == 50
    assert scene.model.body("e1").mass == 1
    assert scene.model.ngeom == 3


@pytest.mark.parametrize("text", [world(FALLER), None])
def test_parts_can_be_compiled_again(text):
    given = parts(MJCF(text or str(models.path("quadruped"))), Sphere(1), MJCF(world(FALLER), pos=(1, 1, 1)))
    first, second = (compile_scene(SimOptions(), given).model for _ in range(2))
    assert differences(first, second) == []


def test_the_same_part_may_stand_in_a_scene_twice():
    morph = Box((1, 1, 1))
    spec = load_morph(morph)
    model = compile_scene(SimOptions(), [("a", morph, spec), ("b", morph, spec)]).model
    assert names(model, "body") == ["world", "a", "b"]


@pytest.mark.parametrize("entities", [(MJCF(world(FALLER)), MJCF(world(FALLER), prefix="")), (Sphere(1), Sphere(1))])
def test_names_that_collide_are_an_error_that_says_to_give_a_prefix(entities):
    given = [("same", morph, load_morph(morph)) for morph in entities]
    with pytest.raises(ModelError, match=r"repeated name .* prefix"):
        compile_scene(SimOptions(), given)


def test_a_primitive_named_like_a_body_of_a_file_is_an_error():
    with pytest.raises(ModelError, match="repeated name 'faller'"):
        compiled(MJCF(world(FALLER)), Sphere(1, name="faller"))


def test_names_in_any_script_are_kept():
    text = world("<body name='рука/左 手'><joint name='gelenk ü'/><geom size='.1'/></body>")
    scene = compiled(MJCF(text), MJCF(text, name="zweite 手"), Sphere(1, name="μ ball"))
    assert names(scene.model, "body") == ["world", "рука/左 手", "zweite 手/рука/左 手", "μ ball"]
    assert names(scene.model, "joint") == ["gelenk ü", "zweite 手/gelenk ü", "μ ball"]


def test_what_mujoco_warns_of_goes_to_the_logger_only(caplog, capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    caplog.set_level(logging.INFO, "simreel")
    heard = mujoco.get_mju_user_warning()
    compiled(MJCF(world(FALLER, compiler="settotalmass='3'"), prefix="x"), MJCF(world(option="timestep='.1'")), dt=1.0)
    assert "settotalmass" in caplog.text
    assert "timestep" in caplog.text
    assert {record.levelno for record in caplog.records} == {logging.INFO}
    assert capfd.readouterr() == ("", "")
    assert list(tmp_path.iterdir()) == []
    assert mujoco.get_mju_user_warning() is heard


def test_urdfs_and_files_share_a_scene():
    scene = compiled(
        URDF(ROBOT), URDF(ROBOT, fixed=False, pos=(1, 0, 0)), MJCF(world(FALLER)), Box((1, 1, 1), fixed=True)
    )
    expected = ["world", "base", "arm", "e1/base", "e1/arm", "e2/faller", "e3"]
    assert names(scene.model, "body") == expected
    assert [entity.base_body for entity in scene.entities] == [1, 3, 5, 6]


def test_two_pandas_stand_beside_each_other():
    file = panda()
    scene = compiled(MJCF(file), MJCF(file, pos=(0, 1, 0)))
    left, right = scene.entities
    assert (left.qpos, right.qpos) == (slice(0, 9), slice(9, 18))
    data = mujoco.MjData(scene.model)
    mujoco.mj_resetDataKeyframe(scene.model, data, scene.model.key("e1/home").id)
    mujoco.mj_forward(scene.model, data)
    data.qpos[left.qpos] = data.qpos[right.qpos]
    mujoco.mj_forward(scene.model, data)
    np.testing.assert_allclose(data.body("e1/hand").xpos - data.body("hand").xpos, [0, 1, 0], atol=1e-12)
