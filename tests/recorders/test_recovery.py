"""What is left of a killed run, and what `recover` makes of it."""

import csv
import json
import os
import re
import signal
import time
import zipfile

import numpy as np
import pytest
from reading import names

from simreel.errors import DamagedFileError, MissingFileError, SimreelError, SimreelWarning, TargetError
from simreel.recorders import CSVFile, NPZFile, recover
from simreel.recorders.spool_writer import SpoolWriter
from simreel.recorders.target import lock

pytestmark = pytest.mark.leaves_spools

HEAD = {
    "dt": 0.5,
    "has_episode": True,
    "compression": "none",
    "columns": [{"name": "data", "dtype": "<i8", "shape": []}],
}


def make_spool(path, values, *, cut=0):
    """A spool with a record for each value, as of a killed run."""
    writer = SpoolWriter(path)
    writer.write_head(HEAD)
    for i, value in enumerate(values):
        writer.write_rows(i, 1, 0, [np.array([value])])
    writer.close()
    if cut:
        os.truncate(path, path.stat().st_size - cut)
    return path


def data(path):
    with np.load(path, allow_pickle=False) as archive:
        return archive["data"].tolist()


# A kill at any moment.

KILLED = """
    target, kind = Path(sys.argv[1]), sys.argv[2]
    options = {"npz": NPZFile, "csv": CSVFile}[kind](target, overwrite=True)
    scene = still_scene(0.001)
    count = iter(range(10**9))
    # (number of the sample, when it was taken)
    scene.start_recording(lambda: [float(next(count)), time.monotonic()], options)
    scene.build()
    print("ready", flush=True)
    pause = float(sys.argv[3])
    while True:
        scene.step()
        if pause:
            time.sleep(pause)
"""


def kill_a_run(script, target, kind, delay, pause):
    """When it was killed, on the clock of the samples."""
    run = script(KILLED, target, kind, pause)
    assert run.stdout.readline() == "ready\n", run.stderr.read()
    time.sleep(delay)
    killed = time.monotonic()
    run.send_signal(signal.SIGKILL)
    run.wait()
    return killed


def check_kill(script, folder, kind, seed):
    rng = np.random.default_rng(seed)
    target = folder / f"run.{kind}"
    old = b"an earlier good file"
    target.write_bytes(old)
    pace = "paced" if seed % 2 else "as fast as possible"
    killed = kill_a_run(script, target, kind, rng.uniform(0.15, 0.5), pause=0.0005 * (seed % 2))
    if kind == "npz":
        assert target.read_bytes() == old, "a killed run must not harm it"
        (spool,) = folder.glob("*.spool")
        report = recover(target if seed % 2 else spool)
        with np.load(target) as archive:
            rows = archive["data"]
            assert archive["step"].tolist() == list(range(len(rows)))
            assert archive["timestamp"].tolist() == [i * 0.001 for i in range(len(rows))]
        with zipfile.ZipFile(target) as archive:
            comment = json.loads(archive.comment)
        assert (comment["complete"], comment["rows"], comment["lost"]) == (False, report.kept, report.lost)
    else:
        report = recover(target)
        assert target.read_bytes().endswith(b"\n")
        with open(target, newline="") as file:
            header, *lines = csv.reader(file)
        assert header == ["timestamp", "data_0", "data_1", "episode"]
        rows = np.array([line[1:3] for line in lines], float)
    assert report.old.read_bytes() == old
    assert report.target == target
    assert report.kept == len(rows)
    assert rows[:, 0].tolist() == list(range(len(rows)))
    lost = (killed - rows[-1, 1]) * 1000
    print(f"{kind}, {pace}: {lost:.1f} ms of samples lost, {len(rows)} rows kept")
    assert lost < ALLOWED[pace]


# Milliseconds: 50 to linger, and what a busy machine needs to write a block. Without a pause, samples come faster than
# they are written, and the queue holds up to 32 MiB of them: half a million of these.
ALLOWED = {"paced": 500, "as fast as possible": 5000}


@pytest.mark.parametrize("kind", ["npz", "csv"])
@pytest.mark.parametrize("seed", range(2))
def test_a_kill_costs_what_is_queued_and_no_more(folder, script, kind, seed):
    check_kill(script, folder, kind, seed)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["npz", "csv"])
@pytest.mark.parametrize("seed", range(2, 22))
def test_twenty_kills_cost_what_is_queued_and_no_more(folder, script, kind, seed):
    check_kill(script, folder, kind, seed)


def test_a_kill_while_the_archive_is_made_keeps_all_rows_and_leaves_no_half_archive(folder, script):
    run = script(
        """
        import zipfile
        scene = still_scene()
        count = iter(range(10**9))
        scene.start_recording(lambda: next(count), NPZFile(sys.argv[1]))
        scene.build()
        scene.step(5000)
        # The third member never ends.
        opened = zipfile.ZipFile.open
        def open_slowly(archive, info, mode, **options):
            if info.filename == "episode.npy":
                print("closing", flush=True)
                time.sleep(60)
            return opened(archive, info, mode, **options)
        zipfile.ZipFile.open = open_slowly
        scene.stop_recording()
        """,
        folder / "a.npz",
    )
    assert run.stdout.readline() == "closing\n", run.stderr.read()
    assert sorted(name.rsplit(".", 1)[1] for name in names(folder)) == ["spool", "tmp"]
    with pytest.raises(TargetError, match="still writes"):
        recover(folder / "a.npz")
    run.kill()
    run.wait()
    assert recover(folder / "a.npz").kept == 5001
    assert data(folder / "a.npz") == list(range(5001))
    assert names(folder) == ["a.npz", "a.npz.damaged"]


def test_a_run_that_is_killed_before_its_first_row_has_nothing_to_recover(folder, script):
    run = script(
        """
        scene = still_scene()
        scene.start_recording(lambda: 1, NPZFile(Path(sys.argv[1]) / "a.npz"))
        scene.start_recording(lambda: 1, CSVFile(Path(sys.argv[1]) / "a.csv", overwrite=True))
        scene.build()
        print("ready", flush=True)
        time.sleep(60)
        """,
        folder,
    )
    (folder / "a.csv").write_text("an earlier good file")
    assert run.stdout.readline() == "ready\n", run.stderr.read()
    run.kill()
    run.wait()
    with pytest.raises(DamagedFileError, match="no whole row"):
        recover(folder / "a.npz")
    with pytest.raises(DamagedFileError, match=r"no whole row.*a\.csv\.old"):
        recover(folder / "a.csv")
    assert (folder / "a.csv.old").read_text() == "an earlier good file"


def test_a_killed_run_is_named_when_the_next_one_starts_and_its_spool_stays(folder, record):
    spool = make_spool(folder / "a.npz.99.spool", [1, 2])
    with pytest.warns(SimreelWarning, match=re.escape(spool.name)) as caught:
        record([7, 8], NPZFile(folder / "a.npz"))
    assert len(caught) == 1
    assert recover(spool).kept == 2
    assert data(folder / "a.npz") == [1, 2]
    assert data(folder / "a.npz.old") == [7, 8]


# Archives.


def test_recover_takes_the_target_or_the_spool(folder):
    for given in ("a.npz", "a.npz.12.spool"):
        make_spool(folder / "a.npz.12.spool", [4, 5, 6])
        report = recover(str(folder / given))
        assert (report.target, report.kept, report.lost) == (folder / "a.npz", 3, 0)
        assert (report.damaged, report.old, report.others) == (folder / "a.npz.damaged", None, ())
        assert names(folder) == ["a.npz", "a.npz.damaged"]
        assert data(folder / "a.npz") == [4, 5, 6]
        for path in folder.iterdir():
            path.unlink()


@pytest.mark.parametrize("name", ["my.spool.npz", "a.npz.b.npz", "a.csv.npz", "A.NPZ", "ü x.npz", "[a].npz"])
def test_any_name_of_a_target_is_understood(folder, name):
    for _ in range(2):
        spool = make_spool(folder / f"{name}.12.spool", [4, 5])
        assert recover(folder / name).target == folder / name
        spool = make_spool(folder / f"{name}.12.spool.1", [6, 7])
        assert recover(spool).target == folder / name
        assert data(folder / name) == [6, 7]


def test_a_tilde_is_the_home_folder(folder, monkeypatch):
    monkeypatch.setenv("HOME", str(folder))
    make_spool(folder / "a.npz.1.spool", [1])
    assert recover("~/a.npz").target == folder / "a.npz"


def test_a_torn_record_is_counted_and_what_was_repaired_is_kept(folder):
    spool = make_spool(folder / "a.npz.12.spool", [4, 5, 6], cut=3)
    raw = spool.read_bytes()
    report = recover(spool)
    assert (report.kept, report.lost) == (2, 1)
    assert report.damaged.read_bytes() == raw
    assert data(folder / "a.npz") == [4, 5]


def test_of_several_spools_the_newest_is_taken_and_the_others_are_named(folder):
    paths = [make_spool(folder / f"a.npz.{pid}.spool", [pid]) for pid in (30, 10, 20)]
    for age, path in enumerate(paths):
        os.utime(path, (1000 - age, 1000 - age))
    report = recover(folder / "a.npz")
    assert data(folder / "a.npz") == [30]
    assert report.others == (paths[2], paths[1])
    assert all(path.exists() for path in report.others)
    report = recover(folder / "a.npz")
    assert data(folder / "a.npz") == [10]
    assert (report.old, report.damaged) == (folder / "a.npz.old", folder / "a.npz.damaged.1")
    assert data(report.old) == [30]
    report = recover(folder / "a.npz")
    assert (report.old, report.damaged) == (folder / "a.npz.old.1", folder / "a.npz.damaged.2")


def test_of_a_run_with_a_file_for_each_episode_the_open_one_is_recovered(folder):
    make_spool(folder / "a_0002.npz.5.spool", [1, 2])
    assert recover(folder / "a.npz").target == folder / "a_0002.npz"
    assert data(folder / "a_0002.npz") == [1, 2]


def test_the_spool_of_the_target_itself_goes_before_a_newer_one_of_an_episode(folder):
    own = make_spool(folder / "a.npz.5.spool", [1])
    episode = make_spool(folder / "a_2024.npz.5.spool", [2])
    os.utime(own, (1, 1))
    report = recover(folder / "a.npz")
    assert (report.target, report.others) == (folder / "a.npz", (episode,))


def test_what_a_running_process_writes_is_refused_and_left_alone(folder, still_scene):
    scene = still_scene()
    recorder = scene.start_recording(lambda: 1, NPZFile(folder / "a.npz"))
    scene.start_recording(lambda: 1, CSVFile(folder / "a.csv"))
    scene.build()
    scene.step(5)
    recorder.sync()
    before = names(folder)
    for name in (f"a.npz.{os.getpid()}.spool", "a.npz", "a.csv"):
        with pytest.raises(TargetError, match="still writes"):
            recover(folder / name)
    assert names(folder) == before
    scene.stop_recording()
    assert data(folder / "a.npz") == [1] * 6


@pytest.mark.parametrize("kind", ["npz", "csv"])
def test_a_forked_child_that_lives_on_is_no_writer(folder, script, kind):
    run = script(
        """
        import signal, warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        target = sys.argv[1]
        scene = still_scene()
        rec = scene.start_recording(lambda: 1, NPZFile(target) if target.endswith("npz") else CSVFile(target))
        scene.build()
        scene.step(5)
        rec.sync()
        child = os.fork()
        if child:
            print(child, flush=True)
        time.sleep(60)
        """,
        folder / f"a.{kind}",
    )
    child = int(run.stdout.readline())
    try:
        with pytest.raises(TargetError, match="still writes"):
            recover(folder / f"a.{kind}")
        # The child may need a moment to let go.
        time.sleep(0.2)
        run.kill()
        run.wait()
        assert recover(folder / f"a.{kind}").kept == 5
    finally:
        os.kill(child, signal.SIGKILL)


def test_two_recoveries_at_once_do_not_meet(folder):
    spool = make_spool(folder / "a.npz.5.spool", [1])
    with open(spool, "rb") as other:
        assert lock(other.fileno())
        with pytest.raises(TargetError):
            recover(spool)
    assert recover(spool).kept == 1


@pytest.mark.parametrize("name", ["a.npz", "a.csv", "a.npz.3.spool", "x/y.npz", "a.txt"])
def test_a_file_that_is_not_there_is_named(folder, name):
    with pytest.raises(MissingFileError, match=re.escape(name)):
        recover(folder / name)
    assert names(folder) == []


def test_what_cannot_be_recovered_is_told(folder, record):
    record([1, 2], NPZFile(folder / "whole.npz"))
    (folder / "broken.npz").write_bytes(b"PK\3\4 and no more")
    (folder / "notes.txt").write_text("x")
    (folder / "a.npz.1.spool").write_bytes(b"not a spool at all")
    (folder / "b.npz").mkdir()
    (folder / "empty.csv").touch()
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    for name, words in {
        "whole.npz": "closed whole",
        "broken.npz": "no archive",
        "notes.txt": "neither a recording",
        "a.npz.1.spool": "not a simreel spool",
        "a.npz": "not a simreel spool",
        "b.npz": "no archive",
        "empty.csv": "no whole row",
        ".": "neither a recording",
    }.items():
        with pytest.raises(DamagedFileError, match=words):
            recover(folder / name)
    assert before == {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_a_damaged_head_is_told_with_the_rows_that_it_costs(folder):
    spool = make_spool(folder / "a.npz.1.spool", [1, 2, 3])
    raw = bytearray(spool.read_bytes())
    raw[80] ^= 1
    spool.write_bytes(raw)
    with pytest.raises(DamagedFileError, match="head is damaged; without it 3 rows"):
        recover(spool)
    assert spool.read_bytes() == raw


def test_rows_that_are_all_damaged_are_told(folder):
    spool = make_spool(folder / "a.npz.1.spool", [1], cut=1)
    with pytest.raises(DamagedFileError, match="all its 1 rows are damaged"):
        recover(spool)


@pytest.mark.parametrize("kind", ["npz", "csv"])
def test_a_full_disk_is_told_and_changes_nothing(folder, run_script, kind):
    if kind == "npz":
        make_spool(folder / "a.npz.1.spool", range(2000))
        (folder / "a.npz").write_bytes(b"old")
    else:
        (folder / "a.csv").write_bytes(b"x\n" + b"1\n" * 30_000 + b"torn")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    out = run_script(
        """
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))
        try:
            sr.recorders.recover(sys.argv[1])
        except sr.errors.TargetError as error:
            print(error)
        """,
        folder / f"a.{kind}",
    )
    assert "File too large" in out
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}
    assert recover(folder / f"a.{kind}").kept in {2000, 30_000}


# CSV.

TEXT = 'timestamp,"a ""b""",c\n0.0,"x\ny,""z""",1\n0.1,plain,2\n0.2,"ü",3\n'


def test_a_csv_file_cut_anywhere_keeps_its_whole_rows(folder):
    raw = TEXT.encode()
    rows = list(csv.reader(TEXT.splitlines(keepends=True)))
    target, damaged = folder / "a.csv", folder / "a.csv.damaged"
    whole = set()
    for cut in range(len(raw) + 1):
        target.write_bytes(raw[:cut])
        try:
            report = recover(target)
        except DamagedFileError:
            assert b"\n" not in raw[:cut]
            assert target.read_bytes() == raw[:cut]
            continue
        kept = target.read_bytes()
        assert raw.startswith(kept)
        whole.add(kept)
        with open(target, newline="", encoding="utf-8") as file:
            found = list(csv.reader(file, strict=True))
        assert found == rows[: report.kept + 1]
        if kept == raw[:cut]:
            assert (report.lost, report.damaged) == (0, None)
        else:
            assert (report.lost, report.damaged) == (1, damaged)
            assert damaged.read_bytes() == raw[:cut]
            damaged.unlink()
    assert len(whole) == len(rows)


def test_the_file_from_before_is_named_where_a_run_with_overwrite_was_killed(folder):
    (folder / "a.csv").write_text("timestamp,data\n0.0,1\n0.1,")
    (folder / "a.csv.old").write_text("old")
    report = recover(folder / "a.csv")
    assert (report.kept, report.lost, report.old) == (1, 1, folder / "a.csv.old")
    assert (folder / "a.csv").read_text() == "timestamp,data\n0.0,1\n"


def test_a_large_torn_field_takes_no_memory(folder, run_script):
    target = folder / "a.csv"
    with open(target, "wb") as file:
        file.write(b"timestamp,data\n0.0,1\n0.1,")
        file.truncate(500_000_000)
    out = run_script(
        """
        import resource, simreel.recorders.recovery
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        report = sr.recorders.recover(sys.argv[1])
        assert (report.kept, report.lost) == (1, 1)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
        """,
        target,
    )
    assert int(out) < 20_000
    (folder / "a.csv.damaged").unlink()


@pytest.mark.parametrize("newest", ["without rows", "of noise", "without a byte"])
def test_a_newest_spool_without_rows_does_not_hide_those_of_an_older_one(folder, newest):
    older = make_spool(folder / "a.npz.7.spool", [1, 2, 3])
    os.utime(older, (10, 10))
    path = folder / "a.npz.8.spool"
    if newest == "without rows":
        make_spool(path, [])
    else:
        path.write_bytes(b"noise" * 99 if newest == "of noise" else b"")
    report = recover(folder / "a.npz")
    assert (report.kept, report.others) == (3, (path,))
    assert data(folder / "a.npz") == [1, 2, 3]
    assert path.exists()


def test_a_spool_that_is_written_is_not_passed_over_for_an_older_one(folder):
    os.utime(make_spool(folder / "a.npz.7.spool", [1, 2, 3]), (10, 10))
    with open(make_spool(folder / "a.npz.8.spool", []), "rb") as running:
        assert lock(running.fileno())
        with pytest.raises(TargetError, match="still writes"):
            recover(folder / "a.npz")


def test_the_newest_episode_is_recovered_where_the_name_of_the_run_is_given(folder):
    for i in range(3):
        (folder / f"a_000{i}.csv").write_text("timestamp\n0.0\n0.")
        os.utime(folder / f"a_000{i}.csv", (i, i))
    assert recover(folder / "a.csv").target == folder / "a_0002.csv"


def test_every_error_of_recovery_is_ours(folder, monkeypatch):
    make_spool(folder / "a.npz.1.spool", [1])

    def fail(*_):
        raise PermissionError(13, "Permission denied", "a.npz")

    monkeypatch.setattr(os, "rename", fail)
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(SimreelError, match=r"a\.npz.*Permission denied"):
        recover(folder / "a.npz")
    assert names(folder) == ["a.npz.1.spool"]
