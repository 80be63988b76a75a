"""A file grows under its own name, in whole appends, and counts as being written until it is closed."""

import os
import sys

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


UNDOING = {"__del__", "discard", "close", "_node"}


class Interrupt(BaseException):
    pass


def interrupted(line, path, **options):
    """Makes a file and raises before the line of that number runs; whether it came so far."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        if frame.f_globals.get("__name__") != "simreel.reel.growing" or frame.f_code.co_name in UNDOING:
            return None
        if event == "line":
            count += 1
            if count == line:
                raise Interrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        GrowingFile(path, **options)
    except Interrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.parametrize("is_there", [True, False])
def test_ctrl_c_at_any_line_of_opening_leaves_all_as_it_was(tmp_path, is_there):
    path, line = tmp_path / "a", 1
    if is_there:
        path.write_bytes(b"old")
    while interrupted(line, path, overwrite=True):
        assert names(tmp_path) == (["a"] if is_there else [])
        line += 1
    assert line > 10
    assert names(tmp_path) == (["a"] if is_there else [])


def test_a_file_that_nobody_got_is_removed(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    GrowingFile(tmp_path / "a", overwrite=True)
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


def test_another_file_of_the_name_is_not_removed(tmp_path):
    file = GrowingFile(tmp_path / "a", overwrite=False)
    file.append([b"abc"])
    (tmp_path / "a").rename(tmp_path / "b")
    (tmp_path / "a").write_bytes(b"other")
    file.discard()
    assert names(tmp_path) == ["a", "b"]
    (tmp_path / "b").unlink()
    file = GrowingFile(tmp_path / "b", overwrite=False)
    file.close()
    file.discard()
    file.sync()
    (tmp_path / "b").write_bytes(b"other")
    file.discard()
    assert names(tmp_path) == ["a", "b"]
