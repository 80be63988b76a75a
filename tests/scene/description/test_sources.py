"""All files that a model was made of are found, and their new names tell nothing of the machine."""

import os
import time

import mujoco
import pytest

import simreel as sr
from simreel.options.morphs import MJCF, URDF
from simreel.scene.compile import load_morph
from simreel.scene.description.references import HERE
from simreel.scene.description.sources import collect


def collected(morph, assets=()):
    return collect(morph, load_morph(morph), assets, "sources/0")


def test_a_text_without_files_is_one_file():
    found = collected(MJCF("<mujoco/>"))
    assert found.files == {"sources/0/0/model.xml": b"<mujoco/>"}
    assert found.main == "sources/0/0/model.xml"


def test_includes_attached_models_and_assets_are_found(robot):
    found = collected(MJCF(robot / "main.xml"))
    stem = "sources/0/0/_/"
    names = ["main.xml", "child.xml", "parts/outer.xml", "parts/inner.xml", "parts/meshes/a.stl", "parts/meshes/c.stl"]
    for name in [*names, "tex/t.png", "tex/sides/r.png", "tex/h.png"]:
        assert found.files[stem + name] == (robot / name).read_bytes()
    assert found.files["sources/0/0/shared/b.stl"] == (robot.parent / "shared" / "b.stl").read_bytes()
    assert found.main == f"{stem}main.xml"
    assert str(robot / "tex" / "sides" / "r.png") in found.paths
    assert not found.problem


def test_of_several_places_the_one_that_the_compiler_read_is_taken(robot):
    (robot / "a.stl").write_bytes(b"another")
    paths = [str(robot / "parts" / "meshes" / "a.stl")]
    assert "sources/0/0/_/a.stl" in collected(MJCF(robot / "main.xml")).files
    assert "sources/0/0/_/a.stl" not in collected(MJCF(robot / "main.xml"), paths).files


def test_names_of_folders_above_the_model_are_not_told(robot):
    found = collected(MJCF(robot / "main.xml"))
    assert not [name for name in found.files if "robot" in name or "somebody" in name]


def test_the_files_of_a_urdf_are_found(robot):
    found = collected(URDF(robot / "urdf" / "r.urdf"))
    assert sorted(found.files) == ["sources/0/0/meshes/sub/c.stl", "sources/0/0/r.urdf"]


def test_absolute_names_are_replaced(robot):
    found = collected(
        MJCF(
            f'<mujoco><!-- in {robot} --><include file="{robot}/parts/outer.xml"/></mujoco>'.replace(
                f"<!-- in {robot} -->", f"<compiler meshdir='{robot}/parts/meshes' texturedir='{robot}/tex'/>"
            )
        )
    )
    assert not found.problem
    for content in found.files.values():
        assert str(robot.parent).encode() not in content
    assert HERE.encode() in found.files[found.main]


def test_an_absolute_name_in_a_comment_is_replaced_too():
    found = collected(MJCF('<mujoco><!-- <include file="/home/me/a.xml"/> --></mujoco>'))
    assert b"/home/me" not in found.files[found.main]


def test_text_looks_for_its_files_where_it_was_added(robot, monkeypatch):
    monkeypatch.chdir(robot / "parts" / "meshes")
    morph = MJCF('<mujoco><asset><mesh file="a.stl"/></asset></mujoco>')
    spec = load_morph(morph)
    monkeypatch.undo()
    assert "sources/0/0/a.stl" in collect(morph, spec, (), "sources/0").files


def test_an_archive_is_a_problem(tmp_path):
    (tmp_path / "a.xml").write_text('<mujoco><asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset></mujoco>')
    spec = load_morph(MJCF(tmp_path / "a.xml"))
    (tmp_path / "a.xml").write_bytes(b"PK\3\4")
    found = collect(MJCF(tmp_path / "a.xml"), spec, (), "sources/0")
    assert "archive" in found.problem
    assert not found.files


def test_a_file_that_is_gone_is_a_problem(tmp_path):
    (tmp_path / "a.xml").write_text("<mujoco/>")
    spec = load_morph(MJCF(tmp_path / "a.xml"))
    (tmp_path / "a.xml").unlink()
    assert "not there any more" in collect(MJCF(tmp_path / "a.xml"), spec, (), "sources/0").problem


@pytest.mark.parametrize("name", ["http://x/a.stl", "package://r/a.stl", f"{HERE}a.stl"])
def test_a_name_that_is_no_path_is_a_problem(name):
    spec = mujoco.MjSpec()
    spec.modelfiledir = "/nowhere"
    morph = MJCF(f'<mujoco><asset><mesh file="{name}"/></asset></mujoco>')
    assert name in collect(morph, spec, (), "sources/0").problem


def test_a_file_that_only_a_comment_names_is_not_taken(tmp_path):
    (tmp_path / "id_rsa").write_text("secret")
    (tmp_path / "a.xml").write_text('<mujoco><!-- <mesh file="id_rsa"/> --></mujoco>')
    assert sorted(collected(MJCF(tmp_path / "a.xml")).files) == ["sources/0/0/a.xml"]


def test_a_file_that_was_changed_after_it_was_loaded_is_not_what_it_was(tmp_path):
    (tmp_path / "part.xml").write_text("<mujocoinclude><worldbody/></mujocoinclude>")
    (tmp_path / "a.xml").write_text('<mujoco><include file="part.xml"/></mujoco>')
    morph = MJCF(tmp_path / "a.xml")
    spec, loaded_ns = load_morph(morph), time.time_ns()
    assert not collect(morph, spec, (), "sources/0", loaded_ns).problem
    os.utime(tmp_path / "part.xml", ns=(loaded_ns + 10**9, loaded_ns + 10**9))
    found = collect(morph, spec, (), "sources/0", loaded_ns)
    assert found.problem == "part.xml was changed after it was loaded"
    assert not found.files


def test_a_scene_whose_file_was_changed_after_it_was_loaded_is_exported_as_it_is(tmp_path):
    xml = '<mujoco><worldbody><body><freejoint/><geom size="0.1" mass="{}"/></body></worldbody></mujoco>'
    (tmp_path / "a.xml").write_text(xml.format(1))
    scene = sr.Scene()
    scene.add_entity(MJCF(tmp_path / "a.xml"))
    (tmp_path / "a.xml").write_text(xml.format(2))
    later = time.time_ns() + 10**9
    os.utime(tmp_path / "a.xml", ns=(later, later))
    scene.build()
    scene.export(tmp_path / "scene.reel")
    loaded = sr.Scene.load(tmp_path / "scene.reel")
    loaded.build()
    assert loaded.model.body_mass[1] == scene.model.body_mass[1] == 1
