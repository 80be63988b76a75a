"""Nothing in the sources of a file leads out of the temporary folder, which is gone at the end."""

import os
from pathlib import Path

import pytest

from simreel.errors import SceneFileError
from simreel.scene.description.references import HERE
from simreel.scene.description.sandbox import is_safe, unpacked

MAIN = "sources/0/0/main.xml"


def test_files_are_unpacked_and_gone_at_the_end():
    with unpacked({MAIN: b"<mujoco/>", "sources/0/0/m/a.stl": b"123"}) as root:
        assert (root / MAIN).read_bytes() == b"<mujoco/>"
        assert (root / "sources/0/0/m/a.stl").read_bytes() == b"123"
    assert not root.exists()


def test_names_counted_from_the_sources_become_absolute():
    with unpacked({MAIN: f'<include file="{HERE}1/a.xml"/>'.encode(), "sources/0/1/a.xml": b""}) as root:
        assert f'file="{root}/sources/0/1/a.xml"'.encode() in (root / MAIN).read_bytes()


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/etc/passwd",
        "sources",
        "sources/0",
        "sources/../x",
        "sources/0/../../x",
        "sources//x",
        "sources/0/.",
        "x/0/a",
        "sources/0/a\\b",
        "sources/0/C:",
        "sources/0/a\0",
        f"sources/0/{'a' * 300}",
        "sources/0/\ud800",
        f"sources/0/{'a/' * 2000}a",
    ],
)
def test_a_name_that_leads_outside_is_refused(name):
    assert not is_safe(name)
    with pytest.raises(SceneFileError, match="no name of a file"), unpacked({MAIN: b"", name: b""}):
        pass


@pytest.mark.parametrize(
    "text",
    [
        '<include file="/etc/passwd"/>',
        "<include file='/etc/passwd'/>",
        '<include file="&#47;etc&#47;passwd"/>',
        '<include file="file:///etc/passwd"/>',
        '<include file="\\etc\\passwd"/>',
        '<include file="C:\\x"/>',
        '<compiler meshdir="/etc"/>',
        '<compiler texturedir="/etc"/>',
        '<compiler assetdir="/etc"/>',
        '<mesh filename="package://r/a.stl"/>',
        '<texture fileback="/etc/passwd"/>',
        '<flexcomp file="/etc/passwd"/>',
        '<model file="/etc/passwd"/>',
        f'<include file="{HERE}/etc/passwd"/>',
        """<a x="<!--"/><include file="/etc/passwd"/><b y="-->"/>""",
        """<a x="file='"/><include file="/etc/passwd" y=''/>""",
        '<![CDATA[<include file="/etc/passwd"/>]]>',
    ],
)
@pytest.mark.parametrize("name", [MAIN, "sources/0/0/looks-like-a-mesh.stl"])
def test_a_name_in_a_file_that_leads_outside_is_refused_before_anything_is_written(text, name, monkeypatch):
    monkeypatch.setattr("tempfile.TemporaryDirectory", lambda **_: pytest.fail("unpacked"))
    with pytest.raises(SceneFileError) as refusal, unpacked({MAIN: b"<mujoco/>", name: text.encode()}):
        pass
    assert refusal.value.part == name
    assert "outside" in str(refusal.value)


def test_a_name_without_an_end_is_refused():
    with pytest.raises(SceneFileError, match="characters"), unpacked({MAIN: b'<include file="' + b"./" * 4096}):
        pass


def test_an_archive_is_refused():
    with pytest.raises(SceneFileError, match="archive"), unpacked({"sources/0/0/a.mjz": b"PK\3\4"}):
        pass


@pytest.mark.parametrize("climb", ["../", "..\\", "x/../../"])
def test_names_that_climb_stay_in_the_temporary_folder(climb):
    chain = {MAIN: f'<compiler meshdir="{climb * 3}"/><include file="{climb * 3}a.xml"/><model file="{climb * 3}b"/>'}
    files = {name: text.encode() for name, text in chain.items()}
    with unpacked(files) as root:
        top = root
        while not top.name.startswith("simreel-"):
            top = top.parent
        # A model in a model, an included file in it, a folder of meshes, a mesh: each climbs by three.
        home = (root / MAIN).parent
        reached = Path(os.path.normpath(f"{home}/" + "../" * 3 * 5))
        assert reached.is_relative_to(top)


def test_names_that_climb_too_far_are_refused():
    with pytest.raises(SceneFileError, match="climb"), unpacked({MAIN: b'<mesh file="' + b"../" * 600 + b'a"/>'}):
        pass


def test_a_file_in_the_place_of_a_folder_is_refused():
    files = {"sources/0/0/a": b"", "sources/0/0/a/b": b""}
    with pytest.raises(SceneFileError, match="cannot be unpacked"), unpacked(files):
        pass
