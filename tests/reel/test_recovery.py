"""A reel that was cut or is damaged becomes a whole one, and nothing that was good is lost on the way."""

import errno
import os
import random
import signal
import time
import tracemalloc

import numpy as np
import pytest

from simreel.errors import DamagedFileError, MissingFileError, SimreelError, TargetError
from simreel.reel import Field, Layout, Reel, ReelWriter, recover
from simreel.reel.growing import GrowingFile
from simreel.reel.head import Head
from simreel.reel.record import HEADER_SIZE
from simreel.reel.rewriting import CopySink

LAYOUT = Layout((Field("x", "f8", 4),))
HEAD = Head(LAYOUT, 1.0, 16, "diff1", 1)


def noise(count):
    return np.random.default_rng(0).normal(size=(count, 4))


@pytest.fixture
def path(tmp_path):
    """A reel of 10 chunks of 16 frames of noise."""
    with ReelWriter(tmp_path / "a.reel", LAYOUT, chunk_size=16) as writer:
        writer.append(noise(160))
    return tmp_path / "a.reel"


def chunks_of(path):
    """Offset and body of each chunk."""
    with Reel.open(path) as reel:
        chunks = reel.records.entries[reel.records.entries["tag"] == b"CHNK"]
    raw = path.read_bytes()
    return {
        int(at): raw[at + HEADER_SIZE : at + HEADER_SIZE + length]
        for at, length in zip(chunks["offset"].tolist(), chunks["length"].tolist(), strict=True)
    }


def flip(path, *places):
    raw = bytearray(path.read_bytes())
    for at in places:
        raw[at] ^= 1
    path.write_bytes(raw)


def check_whole(path, gaps=()):
    with Reel.open(path) as reel:
        assert reel.records.is_indexed
        assert (reel.gaps, reel.damage) == (list(gaps), [])
        return len(reel)


def check_frames(path, frames):
    """All frames that are not lost are as they were written."""
    with Reel.open(path) as reel:
        lost = {frame for start, stop in reel.gaps for frame in range(start, stop)}
        for i in set(range(len(reel))) - lost:
            assert {name: values.tobytes() for name, values in reel.row(i).items()} == {
                name: values[i].tobytes() for name, values in frames.items()
            }


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_whole_file_is_left_as_it_is(path):
    before = os.stat(path), path.read_bytes()
    report = recover(path)
    assert (report.kept, report.lost, report.gaps, report.damage) == (160, 0, (), ())
    assert (report.target, report.damaged, report.old) == (path, None, None)
    assert (os.stat(path).st_ino, os.stat(path).st_mtime_ns) == (before[0].st_ino, before[0].st_mtime_ns)
    assert path.read_bytes() == before[1]
    assert names(path.parent) == ["a.reel"]


def test_a_file_that_was_cut_keeps_all_whole_chunks(path):
    starts = list(chunks_of(path))
    os.truncate(path, starts[7] + 100)
    raw = path.read_bytes()
    report = recover(str(path))
    # The header of the chunk that was cut says which frames were in it.
    assert (report.kept, report.lost, report.gaps) == (112, 16, ((112, 128),))
    assert report.damaged == path.with_name("a.reel.damaged")
    assert report.damaged.read_bytes() == raw
    assert check_whole(path) == 112
    with Reel.open(path) as reel:
        assert not reel.is_complete
        assert reel.field("x")[:].tobytes() == noise(112).tobytes()
    assert recover(path).damaged is None
    assert names(path.parent) == ["a.reel", "a.reel.damaged"]


def test_chunks_are_copied_as_they_are_and_frames_keep_their_numbers(path):
    chunks = chunks_of(path)
    starts = list(chunks)
    flip(path, starts[3] + 50, starts[6] + 2)
    report = recover(path)
    assert (report.kept, report.lost, report.gaps) == (128, 32, ((48, 64), (96, 112)))
    assert [damage.start for damage in report.damage] == [starts[3], starts[6]]
    assert check_whole(path, report.gaps) == 160
    assert list(chunks_of(path).values()) == [body for i, body in enumerate(chunks.values()) if i not in (3, 6)]
    with Reel.open(path) as reel:
        assert reel.row(64)["x"].tobytes() == noise(160)[64].tobytes()
        assert not reel.is_complete
    # A gap is no damage.
    again = recover(path)
    assert (again.damaged, again.kept, again.gaps) == (None, 128, report.gaps)


def test_a_file_with_all_its_frames_stays_complete(path):
    flip(path, 10, 70)
    with Reel.open(path) as reel:
        # The first HEAD and the start.
        assert len(reel.damage) == 2
    assert recover(path).kept == 160
    with Reel.open(path) as reel:
        assert reel.is_complete
    assert check_whole(path) == 160


def test_the_number_of_the_only_frames_that_are_left_is_kept(tmp_path):
    path = tmp_path / "a.reel"
    with ReelWriter(path, LAYOUT, chunk_size=4) as writer:
        writer.append(noise(1000))
    starts = list(chunks_of(path))
    flip(path, *(at + 40 for at in starts[:-1]))
    assert recover(path).gaps == ((0, 996),)
    assert check_whole(path, [(0, 996)]) == 1000
    with Reel.open(path) as reel:
        assert reel.row(-1)["x"].tobytes() == noise(1000)[-1].tobytes()


def test_what_stands_beside_the_frames_is_kept(small, examine, tmp_path):
    raw, frames = small
    path = tmp_path / "a.reel"
    path.write_bytes(raw[:-100])
    report = recover(path)
    assert (report.kept, report.lost) == (28, 0)
    assert examine(path, frames) == ([], 28)
    with Reel.open(path) as reel:
        assert (len(reel.params), len(reel.notes), list(reel.blobs)) == (1, 1, ["a", "b", "c"])
        assert reel.meta == {"k": 1}


@pytest.mark.parametrize("seed", [*range(40), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(40, 600))])
def test_any_damage_leaves_what_is_good_or_is_an_error_that_changes_nothing(small, examine, tmp_path, seed):
    raw, frames = small
    rng = random.Random(seed)
    damaged = bytearray(raw[: rng.choice([len(raw), rng.randrange(len(raw))])])
    for _ in range(rng.choice([0, 1, 3])):
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
    path = tmp_path / "a.reel"
    path.write_bytes(damaged)
    before = examine(path, frames)
    try:
        report = recover(path)
    except SimreelError:
        assert before is None
        assert path.read_bytes() == damaged
        assert names(tmp_path) == ["a.reel"]
        return
    assert check_whole(path, before[0]) == before[1]
    check_frames(path, frames)
    assert report.kept == before[1] - sum(stop - start for start, stop in before[0])
    assert report.damaged is None or report.damaged.read_bytes() == damaged
    assert recover(path).damaged is None


def test_an_earlier_damaged_file_is_never_overwritten(path):
    path.with_name("a.reel.damaged").write_text("precious")
    os.truncate(path, 4000)
    assert recover(path).damaged == path.with_name("a.reel.damaged.1")
    assert path.with_name("a.reel.damaged").read_text() == "precious"


def test_the_file_that_waits_for_a_clean_close_is_named(path):
    old = path.with_name("a.reel.old")
    old.write_bytes(path.read_bytes())
    os.truncate(path, 4000)
    assert recover(path).old == old


def test_a_link_stays_a_link_to_the_whole_file(path, tmp_path):
    os.truncate(path, 4000)
    link = tmp_path / "last.reel"
    link.symlink_to(path)
    report = recover(link)
    assert (report.target, report.damaged) == (path, path.with_name("a.reel.damaged"))
    assert link.is_symlink()
    assert check_whole(link) == report.kept


def test_the_permissions_are_kept(path):
    os.truncate(path, 4000)
    path.chmod(0o640)
    recover(path)
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_file_of_unknown_records_keeps_them(tmp_path):
    path = tmp_path / "a.reel"
    file = GrowingFile(path, overwrite=False)
    sink = CopySink(file, HEAD)
    sink.append(b"XTRA", [b"of a newer release"])
    file.close()
    recover(path)
    assert b"of a newer release" in path.read_bytes()
    assert check_whole(path) == 0


def test_what_cannot_be_recovered_is_an_error(tmp_path):
    with pytest.raises(MissingFileError, match=r"a\.reel: no such file"):
        recover(tmp_path / "a.reel")
    for raw in (b"", b"hello", os.urandom(1000)):
        (tmp_path / "a.reel").write_bytes(raw)
        with pytest.raises(DamagedFileError, match="byte 0"):
            recover(tmp_path / "a.reel")
        assert names(tmp_path) == ["a.reel"]


def test_a_file_that_is_being_written_is_refused(tmp_path):
    with ReelWriter(tmp_path / "a.reel", LAYOUT) as writer:
        writer.append(noise(300))
        with pytest.raises(TargetError, match="a running process still writes it"):
            recover(tmp_path / "a.reel")


def test_a_file_that_another_process_writes_is_refused(tmp_path, script):
    code = """
        with ReelWriter(sys.argv[1], Layout((Field("x", "f8", 4),))) as writer:
            writer.append(np.zeros((300, 4)))
            writer.flush()
            print(flush=True)
            sys.stdin.read()
        """
    process = script(code, tmp_path / "a.reel")
    process.stdout.readline()
    before = names(tmp_path)
    with pytest.raises(TargetError, match="a running process still writes it"):
        recover(tmp_path / "a.reel")
    assert names(tmp_path) == before


def test_a_file_that_was_replaced_meanwhile_is_left_alone(path, tmp_path, monkeypatch):
    os.truncate(path, 4000)
    finish = CopySink.finish

    def replace_first(self, *args, **options):
        (tmp_path / "other").write_text("new")
        os.replace(tmp_path / "other", path)
        finish(self, *args, **options)

    monkeypatch.setattr(CopySink, "finish", replace_first)
    with pytest.raises(TargetError, match="it was replaced while it was being repaired"):
        recover(path)
    assert path.read_text() == "new"
    assert names(tmp_path) == ["a.reel"]


@pytest.mark.parametrize("failing", ["append", "sync"])
def test_a_full_disk_changes_nothing(path, monkeypatch, failing):
    os.truncate(path, 8000)
    raw = path.read_bytes()

    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(GrowingFile, failing, fail)
    with pytest.raises(TargetError, match=r"a\.reel: No space left on device; nothing was changed"):
        recover(path)
    assert path.read_bytes() == raw
    assert names(path.parent) == ["a.reel"]


def test_a_disk_that_gives_back_something_else_changes_nothing(path, monkeypatch):
    os.truncate(path, 8000)
    raw = path.read_bytes()
    append = GrowingFile.append

    def spoil(self, parts):
        data = bytearray(b"".join(parts))
        # A bit of the body of a chunk.
        if self.size > 2000 and len(data) > 200:
            data[100] ^= 1
        append(self, [data])

    monkeypatch.setattr(GrowingFile, "append", spoil)
    with pytest.raises(DamagedFileError, match="reads back otherwise"):
        recover(path)
    assert path.read_bytes() == raw
    assert names(path.parent) == ["a.reel"]


@pytest.mark.parametrize("place", ["rewriting.CopySink.copy", "rewriting.survey", "recovery.os.link"])
def test_a_kill_while_it_works_leaves_the_file(path, script, place):
    os.truncate(path, 8000)
    raw = path.read_bytes()
    code = f"""
        import simreel.reel.recovery as recovery, simreel.reel.rewriting as rewriting
        {place} = lambda *_: os._exit(9)
        recover(sys.argv[1])
        """
    process = script(code, path)
    process.communicate()
    assert process.returncode == 9
    assert path.read_bytes() == raw
    assert recover(path).kept > 0


def test_there_is_a_file_of_that_name_at_every_moment(path, monkeypatch):
    os.truncate(path, 8000)
    replace = os.replace

    def check_and_replace(source, target):
        assert path.exists()
        assert path.with_name("a.reel.damaged").exists()
        replace(source, target)

    monkeypatch.setattr(os, "replace", check_and_replace)
    recover(path)


def test_it_works_where_the_file_system_has_no_links(path, monkeypatch):
    def fail(*_):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", fail)
    os.truncate(path, 8000)
    raw = path.read_bytes()
    report = recover(path)
    assert report.damaged.read_bytes() == raw
    assert check_whole(path) == report.kept


@pytest.mark.parametrize("has_links", [True, False])
def test_a_rename_that_fails_changes_nothing(path, monkeypatch, has_links):
    def fail(*_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "replace", fail)
    if not has_links:
        monkeypatch.setattr(os, "link", fail)
    os.truncate(path, 8000)
    raw = path.read_bytes()
    with pytest.raises(TargetError, match=r"a\.reel: Input/output error; nothing was changed"):
        recover(path)
    assert path.read_bytes() == raw
    assert names(path.parent) == ["a.reel"]


def test_a_large_payload_needs_little_memory(tmp_path):
    path = tmp_path / "a.reel"
    with ReelWriter(path, LAYOUT, blobs={"model": np.random.default_rng(0).bytes(50 * 2**20)}) as writer:
        writer.append(noise(10))
    os.truncate(path, path.stat().st_size - 10)
    tracemalloc.start()
    try:
        recover(path)
        assert tracemalloc.get_traced_memory()[1] < 20 * 2**20
    finally:
        tracemalloc.stop()
    assert check_whole(path) == 10


KILLED = """
layout = Layout((Field("step", "i8", 1), Field("x", "f8", 50), Field("c", "f8", 2, ragged=True)))
with ReelWriter(sys.argv[1], layout, chunk_size=16) as writer:
    for i in range(10**9):
        row = writer.next_row()
        row["step"] = i
        row["x"][:] = np.sin(i * np.arange(50))
        writer.ragged("c", np.full((i % 3, 2), i, float))
        writer.commit()
        if i % 50 == 0:
            writer.note(i)
            writer.flush()
            print(i, flush=True)
"""


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 20))])
def test_a_killed_run_is_recovered_with_every_whole_chunk(tmp_path, script, seed):
    path = tmp_path / "a.reel"
    process = script(KILLED, path)
    first = process.stdout.readline()
    time.sleep(random.Random(seed).random() * 0.3)
    os.kill(process.pid, signal.SIGKILL)
    flushed = int([first, *process.communicate()[0].split()][-1])
    with Reel.open(path) as reel:
        before = len(reel)
    report = recover(path)
    assert (report.kept, report.damage) == (before, ())
    assert check_whole(path) == before > flushed
    with Reel.open(path) as reel:
        assert reel.field("step")[:][:, 0].tolist() == list(range(before))
        expected = np.array([np.sin(i * np.arange(50)) for i in range(before)])
        assert reel.field("x")[:].tobytes() == expected.tobytes()
        assert all((items == i).all() and len(items) == i % 3 for i, items in enumerate(reel.field("c")[:]))
