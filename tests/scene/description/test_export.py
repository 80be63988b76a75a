"""A scene without states in a file of its own."""

import subprocess
import sys
import warnings
from contextlib import suppress

import pytest

import simreel as sr
from simreel import models
from simreel.errors import (
    DamagedFileError,
    MissingFileError,
    SceneFileError,
    SimreelError,
    SimreelWarning,
    TargetExistsError,
)
from simreel.options.morphs import MJCF, Box, Plane
from simreel.reel import Field, Layout, Reel, ReelWriter
from simreel.scene.description import digest

LOAD = """
import sys, simreel as sr
from simreel.scene.description import digest
with sr.Scene.load(sys.argv[1]) as scene:
    scene.build()
    print(digest(scene.model), [entity.name for entity in scene.entities], [camera.name for camera in scene.cameras])
"""


def made(robot):
    scene = sr.Scene(sr.SimOptions(gravity=(0, 0, -3)))
    scene.add_entity(MJCF(robot / "main.xml"), name="dog")
    scene.add_entity(Plane())
    scene.add_camera("eye", body="trunk")
    return scene


@pytest.mark.parametrize("is_built", [False, True])
def test_a_scene_is_saved_and_loaded_in_another_process(is_built, robot, tmp_path):
    path = tmp_path / "scene.reel"
    with made(robot) as scene:
        if is_built:
            scene.build()
        scene.export(path)
        assert scene.is_built == is_built
        if not is_built:
            scene.build()
        identity = digest(scene.model)
    robot.parent.rename(tmp_path / "gone")
    run = subprocess.run([sys.executable, "-W", "error", "-c", LOAD, path], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == f"{identity} ['dog', 'plane'] ['eye']"


def test_a_loaded_scene_is_not_built_and_has_all_that_was_added(robot, tmp_path):
    with made(robot) as scene:
        scene.export(tmp_path / "scene.reel")
    with sr.Scene.load(tmp_path / "scene.reel") as back:
        assert not back.is_built
        assert [entity.name for entity in back.entities] == ["dog", "plane"]
        assert back.entities[0].morph.file.startswith("sources/0/")
        assert back.camera("eye").view.body == "trunk"
        assert back.dt == scene.dt
        back.add_entity(Box(size=(1, 1, 1), pos=(0, 0, 9)))
        back.build(2)
        assert back.n_envs == 2
        assert back.model.opt.gravity[2] == -3


def test_the_file_is_a_reel_of_no_frames_that_tells_what_it_is(robot, tmp_path):
    with made(robot) as scene:
        scene.export(tmp_path / "scene.reel")
    with Reel.open(tmp_path / "scene.reel") as reel:
        assert len(reel) == 0
        assert reel.is_complete
        assert reel.meta["kind"] == "scene"
        assert reel.dt == 0.002
        assert not [name for name in reel.blobs if "somebody" in name]


def test_two_robots_of_one_file_take_the_room_of_one(robot, tmp_path):
    for count in (1, 2):
        with sr.Scene() as scene:
            for _ in range(count):
                scene.add_entity(MJCF(models.path("arm")))
            scene.export(tmp_path / f"{count}.reel")
    sources = []
    for count in (1, 2):
        with Reel.open(tmp_path / f"{count}.reel") as reel:
            sources.append({reel.blobs.info(name).sha256 for name in reel.blobs if name.startswith("sources/")})
    assert sources[0] == sources[1]


def test_a_file_that_is_there_is_kept_unless_it_may_be_replaced(robot, tmp_path):
    path = tmp_path / "scene.reel"
    path.write_bytes(b"mine")
    with made(robot) as scene:
        with pytest.raises(TargetExistsError, match="overwrite"):
            scene.export(path)
        assert path.read_bytes() == b"mine"
        scene.export(path, overwrite=True)
    sr.Scene.load(path).destroy()


def test_what_is_no_scene_is_refused(tmp_path):
    with pytest.raises(MissingFileError):
        sr.Scene.load(tmp_path / "none.reel")
    (tmp_path / "text.reel").write_bytes(b"text")
    with pytest.raises(DamagedFileError):
        sr.Scene.load(tmp_path / "text.reel")
    ReelWriter(tmp_path / "plain.reel", Layout((Field("x", "f8", 1),))).close()
    with pytest.raises(SceneFileError, match=r"scene\.json"):
        sr.Scene.load(tmp_path / "plain.reel")


def test_a_payload_larger_than_allowed_is_not_read(tmp_path, monkeypatch):
    with sr.Scene() as scene:
        scene.export(tmp_path / "scene.reel")
    blobs = {"scene.json": b" " * (8 * 2**20)}
    ReelWriter(tmp_path / "bomb.reel", Layout((Field("x", "f8", 1),)), blobs=blobs).close()
    assert (tmp_path / "bomb.reel").stat().st_size < 10_000
    monkeypatch.setattr("simreel.reel.blob.Blobs.by_sha256", lambda *_: pytest.fail("read"))
    with pytest.raises(SceneFileError, match="8388608 bytes"):
        sr.Scene.load(tmp_path / "bomb.reel")


def test_a_file_with_a_damaged_byte_anywhere_gives_a_scene_or_an_error_of_ours(tmp_path):
    path = tmp_path / "scene.reel"
    with sr.Scene() as scene:
        scene.add_entity(MJCF(models.path("arm")))
        scene.export(path)
    raw = path.read_bytes()
    for at in range(0, len(raw), max(1, len(raw) // 60)):
        path.write_bytes(raw[:at] + bytes([raw[at] ^ 0xFF]) + raw[at + 1 :])
        _load_or_refuse(path)
        path.write_bytes(raw[:at])
        _load_or_refuse(path)


def _load_or_refuse(path):
    with warnings.catch_warnings(), suppress(SimreelError):
        warnings.simplefilter("ignore", SimreelWarning)
        sr.Scene.load(path).destroy()
