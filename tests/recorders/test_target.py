"""What is checked before anything is on disk."""

import os
from pathlib import Path

import pytest

from simreel.errors import SimreelError, TargetError, TargetExistsError
from simreel.options.recorders import NPZFile
from simreel.recorders import target as target_module
from simreel.recorders.target import Target, episodes_of, free_name, is_being_written, lock


def target(path, **options):
    return Target(NPZFile(path, **options))


def everything(folder):
    return sorted(str(path) for path in folder.rglob("*"))


def test_the_path_is_absolute_and_fixed_when_the_target_is_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = target("x/../a.npz")
    monkeypatch.chdir("/")
    assert made.path == tmp_path / "a.npz"


def test_a_tilde_is_a_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert target("~/a.npz").path == tmp_path / "a.npz"
    with pytest.raises(TargetError, match="no such user"):
        target("~nobody-of-that-name/a.npz")


def test_a_check_writes_nothing(tmp_path):
    target(tmp_path / "x" / "y" / "a.npz").check()
    assert everything(tmp_path) == []


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("folder.npz", "is a folder"),
        ("pipe.npz", "is a device or a pipe"),
        ("link.npz", "is a device or a pipe"),
        ("file/a.npz", "file is not a folder"),
        ("file/x/y/a.npz", "file is not a folder"),
        (f"{'x' * 300}.npz", "name too long"),
        (f"{'x' * 300}/a.npz", "name too long"),
    ],
)
def test_what_cannot_be_written_is_told_with_the_path(tmp_path, path, words):
    (tmp_path / "folder.npz").mkdir()
    os.mkfifo(tmp_path / "pipe.npz")
    (tmp_path / "link.npz").symlink_to(tmp_path / "pipe.npz")
    (tmp_path / "file").touch()
    for overwrite in (False, True):
        with pytest.raises(TargetError, match=words) as caught:
            target(tmp_path / path, overwrite=overwrite).check()
        assert str(caught.value).startswith(str(tmp_path / path))


def test_a_folder_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    # root may write everywhere
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)
    with pytest.raises(TargetError, match=f"folder {tmp_path} is not writable"):
        target(tmp_path / "x" / "a.npz").check()


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    made = target(tmp_path / "x" / "a.npz")
    made.check()
    (tmp_path / "x").touch()
    with pytest.raises(TargetError, match="cannot be made"):
        made.make_folder()


def test_folders_are_made_and_may_be_there_already(tmp_path):
    made = target(tmp_path / "x" / "y" / "a.npz")
    made.make_folder()
    made.make_folder()
    assert (tmp_path / "x" / "y").is_dir()


def test_an_existing_file_asks_for_overwrite(tmp_path):
    (tmp_path / "a.npz").touch()
    with pytest.raises(TargetExistsError, match="overwrite=True"):
        target(tmp_path / "a.npz").check()
    target(tmp_path / "a.npz", overwrite=True).check()


def test_a_link_to_nothing_is_a_file_that_exists(tmp_path):
    (tmp_path / "a.npz").symlink_to(tmp_path / "gone.npz")
    with pytest.raises(TargetExistsError):
        target(tmp_path / "a.npz").check()


def test_with_a_file_for_each_episode_any_of_them_counts_and_the_name_itself_does_not(tmp_path):
    for name in ("a.npz", "a_1.npz", "a_00001.csv", "aa_0001.npz", "a_0001.npz.old", "a_x0001.npz"):
        (tmp_path / name).touch()
    made = target(tmp_path / "a.npz", save_on_reset=True)
    made.check()
    assert made.existing() == []
    for name in ("a_0012.npz", "a_0003.npz", "a_123456.npz"):
        (tmp_path / name).touch()
    assert [path.name for path in made.existing()] == ["a_0003.npz", "a_0012.npz", "a_123456.npz"]
    with pytest.raises(TargetExistsError, match="a_0003"):
        made.check()
    assert episodes_of(tmp_path / "none" / "a.npz") == []


@pytest.mark.parametrize("name", ["a[1].npz", "a+.npz", "a.b.npz", "a\\d.npz", "ü.NPZ"])
def test_names_with_signs_of_patterns_are_taken_as_they_are(tmp_path, name):
    made = target(tmp_path / name, save_on_reset=True)
    made.episode(0).touch()
    made.episode(12345).touch()
    assert made.existing() == [made.episode(0), made.episode(12345)]


def test_episodes_are_numbered_with_four_digits_or_more(tmp_path):
    made = target(tmp_path / "a.b.npz", save_on_reset=True)
    assert [made.episode(i).name for i in (0, 12, 12345)] == ["a.b_0000.npz", "a.b_0012.npz", "a.b_12345.npz"]
    assert target(tmp_path / "a.npz").episode(7) == tmp_path / "a.npz"


def test_two_names_of_one_file_are_one_target(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    assert target(tmp_path / "folder" / "a.npz") == target(tmp_path / "link" / "a.npz")
    assert target(tmp_path / "a.npz") == target(tmp_path / "x" / ".." / "a.npz")
    assert target(tmp_path / "a.npz") != target(tmp_path / "b.npz")
    assert target(tmp_path / "a.npz") != "a.npz"


def test_a_free_name_has_the_first_number_that_no_file_has(tmp_path):
    path = tmp_path / "a.old"
    assert free_name(path) == path
    path.touch()
    assert free_name(path).name == "a.old.1"
    (tmp_path / "a.old.1").symlink_to("nothing")
    (tmp_path / "a.old.3").touch()
    assert free_name(path).name == "a.old.2"


def test_a_file_is_being_written_until_it_is_closed(tmp_path):
    path = tmp_path / "a"
    with open(path, "wb") as file:
        assert not is_being_written(path)
        assert lock(file.fileno())
        assert is_being_written(path)
        assert is_being_written(path)
    assert not is_being_written(path)
    assert not is_being_written(path), "looking must leave no lock"


def test_a_killed_process_writes_nothing_any_more(folder, script):
    run = script(
        """
        from simreel.recorders.target import lock
        file = open(sys.argv[1], "wb")
        assert lock(file.fileno())
        print("locked", flush=True)
        time.sleep(60)
        """,
        folder / "a",
    )
    assert run.stdout.readline() == "locked\n", run.stderr.read()
    assert is_being_written(folder / "a")
    run.kill()
    run.wait()
    assert not is_being_written(folder / "a")


def test_on_a_file_system_without_locks_no_file_counts_as_being_written(tmp_path, monkeypatch):
    import fcntl

    def no_locks(*_):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    (tmp_path / "a").touch()
    assert not is_being_written(tmp_path / "a")


def test_the_names_that_are_public_are_there():
    assert all(hasattr(target_module, name) for name in target_module.__all__)


def test_every_error_of_a_check_is_ours(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise PermissionError(13, "Permission denied")

    made = target(tmp_path / "a.npz")
    with monkeypatch.context() as patched:
        patched.setattr(Path, "is_dir", fail)
        with pytest.raises(SimreelError, match="Permission denied"):
            made.check()
