"""A file grows under its own name, in whole appends, and counts as being written until it is closed."""

import os

import pytest

from simreel.errors import TargetError, TargetExistsError
from simreel.reel.growing import GrowingFile
from simreel.reel.locks import is_being_written


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_it_is_locked_until_it_is_closed(tmp_path):
    file = GrowingFile(tmp_path / "a", overwrite=False)
    assert is_being_written(tmp_path / "a")
    file.append([b"ab", memoryview(b"c")])
    assert (file.size, (tmp_path / "a").read_bytes()) == (3, b"abc")
    file.close()
    assert not is_being_written(tmp_path / "a")


def test_what_could_not_be_appended_whole_is_taken_back(tmp_path):
    file = GrowingFile(tmp_path / "a", overwrite=False)
    file.append([b"abc"])

    class Full:
        def __init__(self, file):
            self._file, self._room = file, 2

        def write(self, data):
            if not self._room:
                raise OSError(28, "No space left on device")
            self._room -= 2
            return self._file.write(data[:2])

        def __getattr__(self, name):
            return getattr(self._file, name)

    whole = file._file
    file._file = Full(whole)
    with pytest.raises(OSError, match="No space"):
        file.append([b"defg"])
    assert (file.size, (tmp_path / "a").read_bytes()) == (3, b"abc")
    file._file = whole
    file.append([b"h"])
    assert (tmp_path / "a").read_bytes() == b"abch"
    file.close()


def test_an_old_file_goes_only_where_the_new_one_is_kept(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(TargetExistsError, match="overwrite"):
        GrowingFile(tmp_path / "a", overwrite=False)
    file = GrowingFile(tmp_path / "a", overwrite=True)
    file.close()
    assert names(tmp_path) == ["a", "a.old"]
    again = GrowingFile(tmp_path / "a", overwrite=True)
    assert names(tmp_path) == ["a", "a.old", "a.old.1"]
    again.discard()
    assert names(tmp_path) == ["a", "a.old"]
    assert (tmp_path / "a.old").read_bytes() == b"old"
    last = GrowingFile(tmp_path / "a", overwrite=True)
    last.close()
    last.keep()
    assert names(tmp_path) == ["a", "a.old"]


def test_a_link_to_nothing_is_set_aside(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "nothing")
    GrowingFile(tmp_path / "a", overwrite=True).close()
    assert names(tmp_path) == ["a", "a.old"]


def test_a_deleted_file_is_noticed(tmp_path):
    file = GrowingFile(tmp_path / "a", overwrite=False)
    assert not file.is_deleted
    (tmp_path / "a").rename(tmp_path / "b")
    assert not file.is_deleted
    (tmp_path / "b").unlink()
    assert file.is_deleted
    file.close()


def test_a_folder_is_not_overwritten(tmp_path):
    with pytest.raises(TargetError, match="is a folder"):
        GrowingFile(tmp_path, overwrite=True)
    with pytest.raises(TargetError, match="cannot be made"):
        GrowingFile(tmp_path / "x" / "a", overwrite=True)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
@pytest.mark.parametrize("overwrite", [True, False])
def test_what_is_no_file_stays_in_its_place(tmp_path, overwrite):
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path in (pipe, link):
        with pytest.raises(TargetError, match="a device or a pipe"):
            GrowingFile(path, overwrite=overwrite)
    assert names(tmp_path) == ["link", "pipe"]


def test_a_name_that_no_file_can_have_is_our_error(tmp_path):
    with pytest.raises(TargetError, match="null byte"):
        GrowingFile(tmp_path / "a\0b", overwrite=True)
