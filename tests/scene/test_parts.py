"""A morph becomes what it says, and a mistake in a file is told when it is loaded."""

import os

import mujoco
import numpy as np
import pytest

from simreel.errors import MissingFileError, ModelError, SimreelWarning
from simreel.options import SimOptions
from simreel.options.morphs import MJCF, URDF, PlanarArm, PlanarLink
from simreel.scene.compile import compile_scene, load_morph

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


TETRA = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.fixture
def mesh_file(tmp_path):
    folder = tmp_path / "ein ordner ü"
    (folder / "meshes").mkdir(parents=True)
    (folder / "meshes" / "tetra.obj").write_text(TETRA, encoding="utf-8")
    (folder / "assets.xml").write_text(
        "<mujoco><asset><mesh name='t' file='tetra.obj'/></asset></mujoco>", encoding="utf-8"
    )
    (folder / "robot.xml").write_text(
        "<mujoco><compiler meshdir='meshes'/><include file='assets.xml'/><worldbody><body name='b'><freejoint/>"
        "<geom type='mesh' mesh='t'/></body></worldbody></mujoco>",
        encoding="utf-8",
    )
    return folder / "robot.xml"


def test_meshes_and_includes_are_found_from_any_folder(mesh_file, tmp_path, monkeypatch):
    monkeypatch.chdir(mesh_file.parent)
    given = parts(MJCF("robot.xml"), MJCF(os.path.join(".", "robot.xml"), pos=(1, 0, 0)), MJCF("robot.xml", prefix="x"))
    monkeypatch.chdir(tmp_path)
    assert compile_scene(SimOptions(), given).model.nmesh == 3
    monkeypatch.chdir("/")
    assert compiled(MJCF(mesh_file), MJCF(mesh_file)).model.nmesh == 2


def test_meshes_of_a_text_are_found_where_it_was_added(mesh_file, tmp_path, monkeypatch):
    monkeypatch.chdir(mesh_file.parent)
    given = parts(MJCF(mesh_file.read_text(encoding="utf-8")))
    monkeypatch.chdir(tmp_path)
    assert compile_scene(SimOptions(), given).model.nmesh == 1


def test_a_missing_file_is_told_with_its_name_as_it_was_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("nowhere/robot.xml", str(tmp_path), "x" * 5000):
        with pytest.raises(MissingFileError) as caught:
            load_morph(MJCF(name))
        assert str(caught.value).startswith(name)
        assert isinstance(caught.value, FileNotFoundError)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<mujoco", "XML parse error"),
        ("<mujoco><worldbdy/></mujoco>", "'worldbdy'"),
        ("<mujoco><worldbody><body name='b'><joint/></body></worldbody></mujoco>", "mjMINVAL"),
        ("<mujoco><asset><mesh file='nope.stl'/></asset></mujoco>", "nope.stl"),
        ("<mujoco><include file='nope.xml'/></mujoco>", "nope.xml"),
        ("<mujoco><worldbody><geom/></worldbody></mujoco>", "size"),
        ("<html/>", "html"),
        ("<robot name='r'/>", "use morphs.URDF"),
        ("<!-- <mujoco/> --><robot name='r'/>", "use morphs.URDF"),
    ],
)
def test_a_broken_model_is_told_when_it_is_loaded(tmp_path, text, words):
    file = tmp_path / "broken.xml"
    file.write_text(text, encoding="utf-8")
    for given, source in ((str(file), str(file)), (text, "MJCF text")):
        with pytest.raises(ModelError) as caught:
            load_morph(MJCF(given))
        message = str(caught.value)
        assert message.startswith(f"{source}: ")
        assert words in message
        assert "\n" not in message
        assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.fixture
def urdf(tmp_path):
    file = tmp_path / "robot.urdf"
    file.write_text(ROBOT, encoding="utf-8")
    return file


def test_the_base_of_a_urdf_is_fixed_or_free_as_asked(urdf):
    fixed, text, free = (
        compiled(URDF(urdf, pos=(0, 0, 1))),
        compiled(URDF(ROBOT, pos=(0, 0, 1))),
        compiled(URDF(urdf, fixed=False, pos=(0, 0, 1))),
    )
    assert differences(fixed.model, text.model) == []
    for scene, count in ((fixed, 1), (free, 8)):
        (entity,) = scene.entities
        assert scene.model.nq == count
        assert scene.model.body(entity.base_body).name == "base"
        assert scene.model.body(entity.base_body).pos.tolist() == [0, 0, 1]
        assert scene.model.body("base").mass == pytest.approx(3)


def test_a_fixed_urdf_moves_as_mujoco_loads_it(urdf):
    ends = []
    for model in (mujoco.MjModel.from_xml_path(str(urdf)), compiled(URDF(urdf)).model):
        data = mujoco.MjData(model)
        for _ in range(500):
            mujoco.mj_step(model, data)
        ends.append(data.qpos.copy())
    np.testing.assert_array_equal(*ends)


def test_a_urdf_that_cannot_be_free_says_why():
    with pytest.raises(ModelError, match=r"use morphs\.MJCF"):
        load_morph(URDF(world(FALLER)))
    anchored = ROBOT.replace('name="base"', 'name="world"').replace('link="base"', 'link="world"')
    anchored = anchored.replace('type="fixed"', 'type="continuous"').replace('<origin xyz="0 0 .2"/>', "")
    with pytest.raises(ModelError, match="already has a joint to the world"):
        load_morph(URDF(anchored, fixed=False))


ARM = PlanarArm([PlanarLink(0.3, 1.0, inertia=0.02), PlanarLink(0.2, 0.5, inertia=0.01, com=(0.05, 0.02))], 0.1)


def test_a_planar_arm_has_its_joints_motors_and_tip_by_name():
    scene = compiled(ARM, ARM.model_copy(update={"pos": (0, 1, 0)}))
    assert names(scene.model, "body") == ["world", "e0", "e0/link1", "e0/link2", "e1", "e1/link1", "e1/link2"]
    assert names(scene.model, "actuator") == ["e0/joint1", "e0/joint2", "e1/joint1", "e1/joint2"]
    first, second = scene.entities
    assert (first.qpos, second.qpos, second.ctrl) == (slice(0, 2), slice(2, 4), slice(2, 4))
    data = mujoco.MjData(scene.model)
    data.qpos[first.qpos] = 0.4, -0.9
    mujoco.mj_kinematics(scene.model, data)
    tip = [0.1 + 0.3 * np.cos(0.4) + 0.2 * np.cos(-0.5), 0.3 * np.sin(0.4) + 0.2 * np.sin(-0.5), 0]
    np.testing.assert_allclose(data.site("e0/tip").xpos, tip, atol=1e-15)
    np.testing.assert_allclose(data.site("e1/tip").xpos, [0.6, 1, 0], atol=1e-15)


def test_a_planar_arm_has_the_mass_matrix_of_two_links_in_a_plane():
    model = compiled(ARM).model
    data = mujoco.MjData(model)
    data.qpos[:] = 0.3, 0.7
    mujoco.mj_forward(model, data)
    mass = np.zeros((2, 2))
    mujoco.mj_fullM(model, data, mass)
    # Energy of the two links: each centre of mass by its Jacobian, each spin by its inertia.
    a, b = 0.3, 1.0
    com1 = 0.15 * np.array([-np.sin(a), np.cos(a)])
    elbow = 0.3 * np.array([-np.sin(a), np.cos(a)])
    x, y = 0.05, 0.02
    com2 = np.array([-x * np.sin(b) - y * np.cos(b), x * np.cos(b) - y * np.sin(b)])
    one, two = np.column_stack([com1, [0, 0]]), np.column_stack([elbow + com2, com2])
    spin = 0.02 * np.outer([1, 0], [1, 0]) + 0.01 * np.outer([1, 1], [1, 1])
    np.testing.assert_allclose(mass, one.T @ one + 0.5 * two.T @ two + spin, atol=1e-15)


def test_an_inertia_of_zero_is_floored_with_one_warning():
    arm = PlanarArm([PlanarLink(0.3, 1.0, inertia=0), PlanarLink(0.3, 1.0, inertia=0)])
    given = parts(arm, ARM)
    with pytest.warns(SimreelWarning, match=r"e0 link 1, e0 link 2: .* 1e-14") as caught:
        scene = compile_scene(SimOptions(), given)
    assert len(caught) == 1
    assert scene.model.body("e0/link1").inertia.tolist() == [1e-14] * 3
