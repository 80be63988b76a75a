import os

import pytest

from simreel.errors import SimreelError, TargetError, TargetExistsError, WriteError
from simreel.reel.replacing import check_target, replacing


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_gets_its_name_when_it_is_whole_and_its_folders_are_made(tmp_path):
    target = tmp_path / "a" / "b" / "run.reel"
    with replacing(target, overwrite=False) as new:
        new.write_text("new")
        assert new.parent == target.parent
        assert not target.exists()
    assert target.read_text() == "new"
    assert names(target.parent) == ["run.reel"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
@pytest.mark.parametrize("old", [None, "old"])
def test_a_block_that_fails_leaves_what_was_there(tmp_path, error, old):
    target = tmp_path / "run.reel"
    if old:
        target.write_text(old)

    def write():
        with replacing(target, overwrite=True) as new:
            new.write_text("half")
            raise error

    with pytest.raises(error):
        write()
    assert names(tmp_path) == (["run.reel"] if old else [])
    assert not old or target.read_text() == old


def test_what_stands_in_the_way_is_told_before_anything_is_made(tmp_path):
    target = tmp_path / "run.reel"
    target.write_text("old")
    with pytest.raises(TargetExistsError, match=r"run\.reel.*overwrite"), replacing(target, overwrite=False):
        pass
    with pytest.raises(TargetError, match="is a folder"):
        check_target(tmp_path, overwrite=True)
    with pytest.raises(TargetError, match="folder cannot be made"), replacing(target / "b", overwrite=False):
        pass
    with pytest.raises(TargetError, match="cannot be looked up"):
        check_target(tmp_path / ("a" * 300), overwrite=True)
    assert names(tmp_path) == ["run.reel"]


def test_a_file_that_somebody_made_meanwhile_is_kept(tmp_path):
    target = tmp_path / "run.reel"

    def write():
        with replacing(target, overwrite=False) as new:
            new.write_text("mine")
            target.write_text("his")

    with pytest.raises(TargetExistsError):
        write()
    assert names(tmp_path) == ["run.reel"]
    assert target.read_text() == "his"


@pytest.mark.parametrize("error", [TargetError, WriteError])
def test_errors_name_the_target_and_not_the_name_beside_it(tmp_path, error):
    with pytest.raises(SimreelError) as caught, replacing(tmp_path / "run.reel", overwrite=False) as new:
        raise TargetError(new, "no") if error is TargetError else WriteError(new, "full", 0)
    assert type(caught.value) is error
    assert caught.value.path == tmp_path / "run.reel"


def test_a_rename_that_fails_is_an_error_of_ours(tmp_path, monkeypatch):
    def replace(*_):
        raise PermissionError(13, "not allowed")

    monkeypatch.setattr(os, "replace", replace)
    expected = pytest.raises(TargetError, match=r"run\.reel: cannot be made \(not allowed\)")
    with expected, replacing(tmp_path / "run.reel", overwrite=False) as new:
        new.write_text("new")
    assert names(tmp_path) == []
