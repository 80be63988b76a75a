"""Where an archive is written, and what is left when that fails."""

import os

import numpy as np
import pytest
from reading import comment, load, names, same_bits

from simreel.errors import RecorderError, SimreelError, SimreelWarning, TargetError, TargetExistsError
from simreel.recorders import NPZFile, recover

# Where it is written.


def test_parent_folders_are_made_and_a_tilde_is_the_home_folder(tmp_path, record, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    record([1, 2], NPZFile("~/x/y z/ü.npz"))
    assert load(tmp_path / "x" / "y z" / "ü.npz")["data"].tolist() == [1, 2]


def test_a_relative_name_stays_in_the_folder_where_the_recording_was_started(tmp_path, still_scene, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    scene = still_scene()
    scene.start_recording(lambda: 1, NPZFile("a.npz"))
    scene.build()
    monkeypatch.chdir(tmp_path / "other")
    scene.step(3)
    scene.stop_recording()
    assert names(tmp_path) == ["a.npz", "other"]


def test_while_it_records_there_is_a_spool_beside_the_target_and_no_target(tmp_path, still_scene):
    scene = still_scene()
    recorder = scene.start_recording(lambda: 1, NPZFile(tmp_path / "a.npz"))
    assert names(tmp_path) == []
    scene.build()
    scene.step(3)
    recorder.sync()
    assert names(tmp_path) == [f"a.npz.{os.getpid()}.spool"]
    scene.stop_recording()
    assert names(tmp_path) == ["a.npz"]


def test_an_old_file_stands_until_the_new_one_is_complete(tmp_path, record, still_scene):
    record([1, 2], NPZFile(tmp_path / "a.npz"))
    old = (tmp_path / "a.npz").read_bytes()
    with pytest.raises(TargetExistsError, match="overwrite"):
        record([3], NPZFile(tmp_path / "a.npz"))
    scene = still_scene()
    recorder = scene.start_recording(lambda: 3, NPZFile(tmp_path / "a.npz", overwrite=True))
    scene.build()
    scene.step(5)
    recorder.sync()
    assert (tmp_path / "a.npz").read_bytes() == old
    scene.stop_recording()
    assert load(tmp_path / "a.npz")["data"].tolist() == [3] * 6
    assert names(tmp_path) == ["a.npz"]


def test_an_overwriting_run_without_rows_leaves_the_old_file(tmp_path, record):
    record([1, 2], NPZFile(tmp_path / "a.npz"))
    record([], NPZFile(tmp_path / "a.npz", overwrite=True))
    assert load(tmp_path / "a.npz")["data"].tolist() == [1, 2]


def test_a_recorder_that_failed_replaces_no_good_file(tmp_path, record, still_scene):
    record([1, 2], NPZFile(tmp_path / "a.npz"))
    scene = still_scene()
    values = iter([7, 8])
    scene.start_recording(lambda: next(values), NPZFile(tmp_path / "a.npz", overwrite=True))
    scene.build()
    with pytest.raises(RecorderError, match="StopIteration"):
        scene.step(3)
    scene.stop_recording()
    assert load(tmp_path / "a.npz")["data"].tolist() == [7, 8]
    assert load(tmp_path / "a.npz.old")["data"].tolist() == [1, 2]


def test_a_target_that_appears_during_the_run_is_not_harmed_and_the_rows_are_kept_and_named(tmp_path, still_scene):
    target = tmp_path / "a.npz"
    scene = still_scene()
    scene.start_recording(lambda: 5, NPZFile(target))
    scene.build()
    scene.step(3)
    target.write_bytes(b"somebody else's")
    with pytest.raises(TargetExistsError, match="overwrite") as caught:
        scene.stop_recording()
    scene.stop_recording()
    assert target.read_bytes() == b"somebody else's"
    spool = tmp_path / f"a.npz.{os.getpid()}.spool"
    assert any(str(spool) in note for note in caught.value.__notes__)
    report = recover(target)
    assert (report.kept, report.lost, report.old) == (4, 0, tmp_path / "a.npz.old")
    assert report.old.read_bytes() == b"somebody else's"
    assert load(target)["data"].tolist() == [5] * 4


def test_two_scenes_may_write_one_name_and_the_second_keeps_its_rows(tmp_path, still_scene):
    target = tmp_path / "a.npz"
    scenes = [still_scene(), still_scene()]
    for i, scene in enumerate(scenes):
        scene.start_recording(lambda i=i: i, NPZFile(target))
        scene.build()
        scene.step(2)
    scenes[0].stop_recording()
    with pytest.raises(TargetExistsError):
        scenes[1].stop_recording()
    assert load(target)["data"].tolist() == [0, 0, 0]
    assert recover(target).kept == 3
    assert load(target)["data"].tolist() == [1, 1, 1]


def test_a_stale_spool_with_our_process_number_is_neither_overwritten_nor_taken_for_ours(tmp_path, record):
    stale = tmp_path / f"a.npz.{os.getpid()}.spool"
    stale.write_bytes(b"of another container")
    with pytest.warns(SimreelWarning, match=stale.name) as caught:
        record([1, 2], NPZFile(tmp_path / "a.npz"))
    assert len(caught) == 1
    assert "simreel recover" in str(caught[0].message)
    assert stale.read_bytes() == b"of another container"
    assert load(tmp_path / "a.npz")["data"].tolist() == [1, 2]
    stale.unlink()


def test_a_missing_folder_and_a_removed_spool_cost_no_row(tmp_path, still_scene):
    scene = still_scene()
    recorder = scene.start_recording(lambda: 5, NPZFile(tmp_path / "x" / "a.npz"))
    scene.build()
    scene.step(3)
    recorder.sync()
    (tmp_path / "x" / f"a.npz.{os.getpid()}.spool").unlink()
    (tmp_path / "x").rmdir()
    scene.step(3)
    scene.stop_recording()
    assert load(tmp_path / "x" / "a.npz")["data"].tolist() == [5] * 7


def test_rows_that_cannot_be_read_back_are_told_and_the_spool_stays(tmp_path, still_scene):
    scene = still_scene()
    recorder = scene.start_recording(lambda: 5, NPZFile(tmp_path / "a.npz"))
    scene.build()
    scene.step(3)
    recorder.sync()
    scene.step(3)
    recorder.sync()
    spool = tmp_path / f"a.npz.{os.getpid()}.spool"
    with open(spool, "r+b") as file:
        file.seek(-3, os.SEEK_END)
        file.write(b"\xff")
    with pytest.raises(RecorderError, match="3 rows cannot be read back"):
        scene.stop_recording()
    assert load(tmp_path / "a.npz")["data"].size == 4
    assert not comment(tmp_path / "a.npz")["complete"]
    assert comment(tmp_path / "a.npz")["lost"] == 3
    spool.unlink()


# What the machine does to it.

FULL = """
    import resource, signal
    target = Path(sys.argv[1])
    limit, moment = int(sys.argv[2]), sys.argv[3]
    scene = still_scene()
    rows = iter(range(10**9))
    def sense():
        i = next(rows)
        return np.full(16, i)
    rec = scene.start_recording(sense, {options})
    other = scene.start_recording(lambda: 1, NPZFile(target.with_name("other.npz"), hz=10))
    scene.build()
    if moment == "recording":
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    errors = []
    for _ in range(400):
        try:
            scene.step(10)
            rec.sync()
        except sr.errors.SimreelError as error:
            errors.append(error)
            break
    # Room again for what is small.
    if moment == "closing":
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        scene.stop_recording()
    except sr.errors.SimreelError as error:
        errors.append(error)
    status = rec.status
    assert status.received == status.written + status.dropped, status
    assert scene.step_count >= 10
    for error in errors:
        print(type(error).__name__, error, *getattr(error, "__notes__", []))
    print(status.written)
"""


@pytest.mark.leaves_spools
@pytest.mark.parametrize("moment", ["recording", "closing"])
def test_a_full_disk_costs_no_row_that_was_written(folder, run_script, moment):
    code = FULL.replace("{options}", "NPZFile(target)")
    *errors, written = run_script(code, folder / "a.npz", 60_000, moment).splitlines()
    written = int(written)
    assert errors
    assert "NPZFile a.npz ended while" in errors[0]
    assert "File too large" in errors[0]
    assert "the rows are kept in" in errors[0]
    assert "simreel recover" in errors[0]
    if moment == "closing":
        # The last row comes with the stop.
        assert written == 4000
    assert names(folder)[0].endswith(".spool")
    report = recover(folder / "a.npz")
    assert (report.kept, report.lost) == (written, 0)
    rows = load(folder / "a.npz")["data"]
    assert same_bits(rows, np.repeat(np.arange(written), 16).reshape(-1, 16))
    assert "other.npz" in names(folder)


def test_a_spool_that_cannot_be_made_is_told_and_leaves_nothing(folder, still_scene):
    scene = still_scene()
    scene.start_recording(lambda: 1, NPZFile(folder / f"{'x' * 245}.npz"))
    with pytest.raises(TargetError, match="name too long"):
        scene.build()
    assert names(folder) == []


def test_a_name_that_no_file_can_have_is_told_at_the_start(folder, still_scene):
    with pytest.raises(TargetError, match="name too long"):
        still_scene().start_recording(lambda: 1, NPZFile(folder / f"{'x' * 300}.npz"))


def test_a_read_only_folder_is_told_at_the_start(folder, still_scene):
    folder.chmod(0o500)
    if os.access(folder, os.W_OK):
        pytest.skip("root may write everywhere")
    with pytest.raises(TargetError, match="not writable"):
        still_scene().start_recording(lambda: 1, NPZFile(folder / "a.npz"))


@pytest.mark.parametrize("compression", ["none", "deflate"])
def test_memory_grows_neither_with_the_run_nor_at_its_end(folder, memory_growth, compression):
    running, closing = memory_growth(folder / "a.npz", f"NPZFile(sys.argv[1], compression={compression!r})", 128)
    assert load(folder / "a.npz")["data"].nbytes > 48e6
    assert running < 4000
    assert closing < 8000


@pytest.mark.leaves_spools
def test_two_processes_may_record_to_one_name(folder, script):
    code = """
        scene = still_scene()
        scene.start_recording(lambda: int(sys.argv[2]), NPZFile(sys.argv[1]))
        scene.build()
        scene.step(100)
        print("ready", flush=True)
        sys.stdin.readline()
        try:
            scene.stop_recording()
            print("done")
        except sr.errors.TargetExistsError as error:
            print("kept", *error.__notes__)
    """
    runs = [script(code, folder / "a.npz", i, stdin=-1) for i in (1, 2)]
    for run in runs:
        assert run.stdout.readline() == "ready\n", run.stderr.read()
    assert len(names(folder)) == 2
    with pytest.raises(SimreelError, match="still writes"):
        recover(folder / "a.npz")
    out = [run.communicate("\n", timeout=20)[0] for run in runs]
    assert out[0] == "done\n"
    assert out[1].startswith("kept")
    assert load(folder / "a.npz")["data"].tolist() == [1] * 101
    report = recover(folder / "a.npz")
    assert report.kept == 101
    assert load(report.old)["data"].tolist() == [1] * 101
