"""A scene comes back from what describes it: the same model, entities, names and cameras."""

import json
import os

import mujoco
import numpy as np
import pytest

import simreel as sr
from simreel import models
from simreel.errors import DamagedFileError, ModelError, OptionsError, SceneFileError, SceneStateError, SimreelWarning
from simreel.options.morphs import MJCF, URDF, Box, Capsule, Cylinder, PlanarArm, PlanarLink, Plane, Sphere
from simreel.scene import FunctionEngine
from simreel.scene.description import describe_scene, digest, load_scene, model_from, scene_from
from simreel.scene.description.describe import Description


def of_model(name):
    def make(robot):
        scene = sr.Scene()
        scene.add_entity(MJCF(models.path(name)))
        return scene

    return make


def primitives(robot):
    scene = sr.Scene(sr.SimOptions(dt=0.004, substeps=2, gravity=(0, 0, -1.62), integrator="rk4"))
    scene.add_entity(Plane())
    scene.add_entity(Box(size=(0.1, 0.2, 0.3), pos=(0, 0, 1), quat=(1, 2, 3, 4)), name="../x")
    scene.add_entity(Sphere(radius=0.1, pos=(1, 0, 0.1 + 0.2), mass=1 / 3))
    scene.add_entity(Capsule(radius=0.1, length=0.3, pos=(2, 0, 1), fixed=True))
    scene.add_entity(Cylinder(radius=0.1, length=0.3, pos=(3, 0, 1), rgba=(1, 0, 0, 0.5)))
    scene.add_entity(PlanarArm([PlanarLink(1, 1, inertia=0.1), PlanarLink(0.5, 1, inertia=0.1, limits=(-1, 1))]))
    scene.add_camera("eye", res=(64, 48), pos=(1, 2, 3), fov=30, body="../x")
    return scene


def mixed(robot):
    scene = sr.Scene(sr.SimOptions(dt=0.002, integrator="euler"))
    scene.add_entity(Plane(), name="ground")
    scene.add_entity(MJCF(robot / "main.xml", pos=(0, 1, 0)), name="first")
    scene.add_entity(MJCF(robot / "main.xml", pos=(0, 5, 0)), name="second")
    scene.add_entity(MJCF(models.path("cartpole"), prefix="left/"))
    scene.add_entity(URDF(robot / "urdf" / "r.urdf", fixed=False, pos=(0, 0, 7)))
    return scene


def text(robot):
    scene = sr.Scene()
    absolute = f'<mujoco><compiler meshdir="{robot}/parts/meshes" texturedir="{robot}/tex"/>'
    scene.add_entity(MJCF(f'{absolute}<include file="{robot}/parts/outer.xml"/></mujoco>'))
    return scene


def model_alone(robot):
    spec = mujoco.MjSpec()
    spec.worldbody.add_body(name="ball").add_geom(size=(0.1, 0, 0))
    spec.body("ball").add_freejoint()
    return sr.Scene.from_mujoco(spec.compile(), substeps=3)


SCENES = [*map(of_model, models.names()), primitives, mixed, text, model_alone]
IDS = [*models.names(), "primitives", "mixed", "text", "model alone"]
each_scene = pytest.mark.parametrize("make", SCENES, ids=IDS)


def same(first, second):
    assert digest(first.model) == digest(second.model)
    assert first.dt == second.dt
    assert first.n_envs == second.n_envs
    assert [entity.name for entity in first.entities] == [entity.name for entity in second.entities]
    assert [(camera.name, camera.view) for camera in first.cameras] == [
        (camera.name, camera.view) for camera in second.cameras
    ]
    for a, b in zip(first.entities, second.entities, strict=True):
        assert a.joint_names == b.joint_names
        assert a.body_names == b.body_names
        assert a.actuator_names == b.actuator_names
        for get in ("get_qpos", "get_qvel", "get_ctrl", "get_pos", "get_quat"):
            np.testing.assert_array_equal(getattr(a, get)(), getattr(b, get)())


@each_scene
@pytest.mark.parametrize("n_envs", [0, 3])
def test_a_built_scene_comes_back_built(make, n_envs, robot):
    with make(robot) as scene:
        scene.build(n_envs)
        with scene_from(describe_scene(scene)) as back:
            same(scene, back)
            for _ in range(20):
                scene.step()
                back.step()
            same(scene, back)


@each_scene
def test_the_model_comes_back_from_its_sources_and_from_its_mjb(make, robot):
    with make(robot) as scene:
        scene.build()
        identity = digest(scene.model)
        for embed in ("xml", "mjb", "both"):
            if embed == "xml" and make is model_alone:
                continue
            meta, blobs = describe_scene(scene, embed)
            assert meta["digest"] == identity
            assert ("model.mjb" in blobs) == (embed != "xml")
            assert digest(model_from(meta, blobs)) == identity


@each_scene
@pytest.mark.parametrize("embed", ["both", "mjb", "none"])
def test_no_path_of_the_machine_is_told(make, embed, robot):
    with make(robot) as scene:
        meta, blobs = describe_scene(scene, embed)
        for content in [json.dumps(meta).encode(), *blobs.values(), *map(str.encode, blobs)]:
            for private in (str(robot), "somebody", os.path.dirname(models.__file__), os.path.expanduser("~") + "/"):
                assert private.encode() not in content


@each_scene
def test_the_sources_may_be_gone(make, robot, tmp_path):
    with make(robot) as scene:
        scene.build()
        identity, described = digest(scene.model), describe_scene(scene)
    robot.parent.rename(tmp_path / "gone")
    with load_scene(described) as back:
        back.build()
        assert digest(back.model) == identity
    with scene_from(described) as back:
        assert digest(back.model) == identity


def test_nothing_is_left_in_the_temporary_folder(robot, tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    with mixed(robot) as scene:
        meta, blobs = describe_scene(scene, "xml")
    model_from(meta, blobs)
    with load_scene(Description(meta, blobs)) as back:
        back.build()
    assert not list(folder.iterdir())


def test_an_edited_model_comes_back_as_it_was_edited(robot):
    with mixed(robot) as scene:
        scene.build()
        scene.model.body_mass[2] *= 2
        described = describe_scene(scene)
        for back in (scene_from(described), load_scene(described)):
            with back:
                if not back.is_built:
                    back.build()
                assert back.model.body_mass[2] == scene.model.body_mass[2]
                same(scene, back)


def test_a_loaded_scene_takes_more_entities_and_can_be_described_again(robot):
    with mixed(robot) as scene:
        described = describe_scene(scene)
    with load_scene(described) as back:
        back.add_entity(Box(size=(1, 1, 1), pos=(9, 9, 9)), name="new")
        back.build(2)
        with scene_from(describe_scene(back)) as again:
            same(back, again)
            assert again.entities[-1].name == "new"


def test_a_loaded_model_takes_no_more_entities(robot):
    with model_alone(robot) as scene:
        described = describe_scene(scene)
    with load_scene(described) as back, pytest.raises(SceneStateError, match="scene of morphs"):
        back.add_entity(Plane())


@pytest.mark.parametrize("embed", ["both", "xml"])
def test_another_version_of_mujoco_compiles_the_sources(embed, robot):
    with mixed(robot) as scene:
        meta, blobs = describe_scene(scene, embed)
        scene.build()
        assert digest(model_from(meta | {"engine_version": "1.2.3"}, blobs)) == digest(scene.model)
        with pytest.warns(SimreelWarning, match=r"MuJoCo 1\.2\.3"):
            model_from(meta | {"engine_version": "1.2.3", "digest": "0" * 64}, blobs)


def test_a_changed_model_and_another_version_of_mujoco_are_warned_of(robot):
    with mixed(robot) as scene:
        scene.build()
        scene.model.body_mass[2] *= 2
        meta, blobs = describe_scene(scene)
    with pytest.warns(SimreelWarning, match="a re-run may differ"):
        model_from(meta | {"engine_version": "1.2.3"}, blobs)


def test_a_file_that_changed_before_it_was_described_is_warned_of_when_it_is_compiled(robot):
    """One whose time of change does not show it."""
    child = robot / "child.xml"
    with mixed(robot) as scene:
        scene.build()
        times = child.stat().st_atime_ns, child.stat().st_mtime_ns
        child.write_text(child.read_text().replace("<geom", "<geom density='9'"))
        os.utime(child, ns=times)
        described = describe_scene(scene, "xml")
    with load_scene(described) as back, pytest.warns(SimreelWarning, match="not to the bit"):
        back.build()


def test_a_model_alone_and_another_version_of_mujoco_are_refused(robot):
    with model_alone(robot) as scene:
        meta, blobs = describe_scene(scene)
    with pytest.raises(SceneFileError, match=rf"MuJoCo 1\.2\.3, and this is {mujoco.__version__}"):
        model_from(meta | {"engine_version": "1.2.3"}, blobs)


def test_a_damaged_mjb_gives_way_to_the_sources(robot):
    with mixed(robot) as scene:
        meta, blobs = describe_scene(scene)
        with pytest.warns(SimreelWarning, match="compiled from its sources"):
            model = model_from(meta, blobs | {"model.mjb": b"damaged"})
    assert digest(model) == meta["digest"]
    with model_alone(robot) as scene:
        meta, blobs = describe_scene(scene)
    with pytest.raises(SceneFileError, match=r"model\.mjb"):
        model_from(meta, blobs | {"model.mjb": b"damaged"})


def test_a_model_that_has_no_sources_is_warned_of_where_only_these_are_wanted(robot):
    with model_alone(robot) as scene, pytest.warns(SimreelWarning, match="embed='both'"):
        _, blobs = describe_scene(scene, "xml")
    assert list(blobs) == ["scene.json"]


def test_none_holds_the_description_alone(robot):
    with mixed(robot) as scene:
        meta, blobs = describe_scene(scene, "none")
    assert list(blobs) == ["scene.json"]
    with pytest.raises(SceneFileError, match="without it"):
        model_from(meta, blobs)


def test_a_wrong_embed_is_refused():
    with sr.Scene() as scene, pytest.raises(OptionsError, match="'zip'"):
        describe_scene(scene, "zip")


def test_sources_larger_than_allowed_are_left_out_with_their_names(monkeypatch, robot):
    monkeypatch.setattr("simreel.scene.description.describe.MAX_TOTAL", 100)
    with mixed(robot) as scene:
        _, blobs = describe_scene(scene)
    assert sorted(blobs) == ["model.mjb", "scene.json"]
    assert b"somebody" not in blobs["scene.json"]


def test_a_large_model_with_sources_is_not_held(tmp_path):
    wide = '<mujoco><asset><texture name="t" type="2d" builtin="flat" width="2500" height="2500"/></asset></mujoco>'
    with sr.Scene() as scene:
        scene.add_entity(MJCF(wide))
        scene.build()
        assert "model.mjb" not in describe_scene(scene).blobs
        scene.model.opt.gravity[2] = -1
        assert "model.mjb" in describe_scene(scene).blobs


def test_the_users_own_engine_is_told_and_not_built():
    with sr.Scene(engine=FunctionEngine(lambda: None, dt=0.1)) as scene:
        scene.add_camera("eye")
        scene.build()
        meta, blobs = describe_scene(scene)
    assert list(blobs) == ["scene.json"]
    assert meta["engine"] == "function"
    assert meta["digest"] is None
    with pytest.raises(SceneFileError, match="give the scene"):
        scene_from(Description(meta, blobs))


CAMERA = {"name": "c", "size": [1, 1], "pos": [0, 0, 1], "lookat": [0, 0, 0], "up": [0, 0, 1], "fov": 45}


def changed(described, **values):
    record = json.loads(described.blobs["scene.json"])
    return Description(described.meta, described.blobs | {"scene.json": json.dumps(record | values).encode()})


@pytest.mark.parametrize(
    "values",
    [
        {"version": 2},
        {"entities": [{"name": "a", "morph": "Options", "options": {}}]},
        {"entities": [{"name": "a", "morph": "Box", "options": {"size": [1, 1]}}]},
        {"entities": [{"name": "a", "morph": "Plane", "options": {}, "bodies": [[0, 999]]}]},
        {"entities": [{"name": "a", "morph": "Plane", "options": {}, "joints": [[3, 2]]}]},
        {"entities": 7},
        {"cameras": [CAMERA | {"size": [0, 1]}]},
        {"cameras": 2 * [CAMERA]},
        {"sim_options": {"dt": -1}},
        {"substeps": 0},
        {"n_envs": 10**9},
        {"engine": "mine"},
    ],
)
def test_a_description_that_cannot_be_is_refused(values, robot):
    with mixed(robot) as scene:
        described = changed(describe_scene(scene), **values)
    with pytest.raises(SceneFileError):
        scene_from(described)


@pytest.mark.parametrize("file", ["/etc/passwd", "<mujoco/>", "sources/0/0/other.xml", "../x"])
def test_a_model_file_that_the_file_does_not_hold_is_refused(file, robot):
    entities = [{"name": "a", "morph": "MJCF", "options": {"file": file}}]
    with mixed(robot) as scene:
        described = changed(describe_scene(scene, "xml"), entities=entities)
    for load in (scene_from, load_scene):
        with pytest.raises(SceneFileError):
            load(described)


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"null", b"\xff", b"{" * 100, b'{"version": 1}', b" " * (5 * 2**20)])
def test_text_that_is_no_description_is_refused(raw):
    with pytest.raises(SceneFileError):
        model_from({}, {"scene.json": raw})
    with pytest.raises(SceneFileError):
        model_from({}, {})


def test_hostile_sources_are_refused(robot, tmp_path):
    (tmp_path / "secret.xml").write_text("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")
    with of_model("arm")(robot) as scene:
        meta, blobs = describe_scene(scene, "xml")
    (main,) = (name for name in blobs if name.startswith("sources/"))
    for name in (
        f"{tmp_path}/secret.xml",
        os.path.relpath(f"{tmp_path}/secret.xml"),
        "../" * 30 + f"{tmp_path}/secret.xml",
    ):
        with pytest.raises((SceneFileError, ModelError)) as refusal:
            model_from(meta, blobs | {main: f'<mujoco><include file="{name}"/></mujoco>'.encode()})
        assert "simreel-" not in str(refusal.value)


def test_sources_larger_than_allowed_are_not_read(monkeypatch, robot):
    with of_model("arm")(robot) as scene:
        meta, blobs = describe_scene(scene, "xml")
    monkeypatch.setattr("simreel.scene.description.recorded.MAX_TOTAL", 100)
    with pytest.raises(SceneFileError, match="at most 100"):
        model_from(meta, blobs)


def test_a_payload_that_the_file_lost_is_told(robot):
    class Lost(dict):
        def __getitem__(self, name):
            if name == "model.mjb":
                raise DamagedFileError("run.reel", 7, "damaged")
            return super().__getitem__(name)

    with model_alone(robot) as scene:
        meta, blobs = describe_scene(scene)
    with pytest.raises(DamagedFileError):
        model_from(meta, Lost(blobs))
