"""A file that grows under its own name, and what was there before."""

import os

import pytest
from reading import names

from simreel.errors import TargetError, TargetExistsError
from simreel.recorders.growing import GrowingFile
from simreel.recorders.target import is_being_written


def test_it_is_written_read_back_and_kept(tmp_path):
    file = GrowingFile(tmp_path / "a", overwrite=False)
    assert is_being_written(tmp_path / "a")
    assert file.write(b"abcdef") == 6
    file.seek(2)
    file.write(b"C")
    assert (file.tell(), file.size) == (3, 6)
    assert (file.read(2), file.read(), file.read()) == (b"de", b"f", b"")
    assert (file.readable(), file.writable(), file.seekable(), file.closed) == (True, True, True, False)
    file.keep(is_good=True)
    assert (file.readable(), file.writable(), file.seekable(), file.closed) == (False, False, False, True)
    assert (tmp_path / "a").read_bytes() == b"abCdef"
    assert not is_being_written(tmp_path / "a")


def test_an_old_file_waits_beside_it(tmp_path):
    (tmp_path / "a").write_text("old")
    with pytest.raises(TargetExistsError, match="overwrite"):
        GrowingFile(tmp_path / "a", overwrite=False)
    assert names(tmp_path) == ["a"]
    for is_good, left in ((False, ["a", "a.old"]), (True, ["a", "a.old"])):
        file = GrowingFile(tmp_path / "a", overwrite=True)
        assert "a.old" in names(tmp_path)
        file.write(b"new")
        file.keep(is_good=is_good)
        assert names(tmp_path) == left
    assert (tmp_path / "a.old").read_text() == "old"


def test_discarded_it_leaves_what_was_there(tmp_path):
    GrowingFile(tmp_path / "b", overwrite=False).discard()
    (tmp_path / "a").write_text("old")
    file = GrowingFile(tmp_path / "a", overwrite=True)
    file.write(b"new")
    file.discard()
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


def test_it_knows_whether_it_has_its_name_still(tmp_path):
    file = GrowingFile(tmp_path / "a", overwrite=False)
    assert (file.is_there, file.is_deleted) == (True, False)
    os.rename(tmp_path / "a", tmp_path / "b")
    assert (file.is_there, file.is_deleted) == (False, False)
    (tmp_path / "a").touch()
    assert not file.is_there
    (tmp_path / "b").unlink()
    assert file.is_deleted
    file.discard()
    assert names(tmp_path) == ["a"]


def test_what_is_being_written_is_left_alone(tmp_path):
    first = GrowingFile(tmp_path / "a", overwrite=False)
    with pytest.raises(TargetError, match="running recording"):
        GrowingFile(tmp_path / "a", overwrite=True)
    assert first.is_there
    first.discard()


def test_what_keeps_it_from_being_made_is_told(tmp_path):
    with pytest.raises(TargetError, match="cannot be made"):
        GrowingFile(tmp_path / "none" / "a", overwrite=False)


def test_a_short_write_is_gone_on_with(tmp_path):
    file = GrowingFile(tmp_path / "a", overwrite=False)
    raw = file._file

    class Short:
        def write(self, data):
            return raw.write(data[:2])

        def __getattr__(self, name):
            return getattr(raw, name)

    file._file = Short()
    assert file.write(b"abcde") == 5
    file.keep(is_good=True)
    assert (tmp_path / "a").read_bytes() == b"abcde"
