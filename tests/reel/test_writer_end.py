"""How a writer ends: closed, forgotten, discarded, interrupted."""

import gc
import signal
import threading
import time

import numpy as np
import pytest

from simreel.errors import ClosedFileError
from simreel.reel import Field, Layout, Reel, ReelWriter, exiting
from simreel.reel.locks import is_being_written
from simreel.reel.worker import Worker

PLAIN = Layout((Field("qpos", "f8", 2), Field("qvel", "f8", 3)))


def read(path):
    with Reel.open(path) as reel:
        assert reel.is_complete
        assert reel.gaps == []
        return {field.name: reel.field(field.name)[:] for field in reel.layout.fields}, reel.chunks


def test_a_writer_that_nobody_holds_closes_its_file(tmp_path):
    writer = ReelWriter(tmp_path / "a.reel", PLAIN)
    writer.append(np.ones((300, 5)))
    ended = writer._worker.ended
    del writer
    ended.wait()
    assert len(read(tmp_path / "a.reel")[0]["qpos"]) == 300


def test_an_error_that_nobody_is_left_to_meet_is_logged(tmp_path, caplog):
    writer = ReelWriter(tmp_path / "a.reel", PLAIN, max_size=2000)
    writer.append(np.random.default_rng(0).normal(size=(100, 5)))
    ended = writer._worker.ended
    del writer
    ended.wait()
    assert [record.message for record in caplog.records] == [
        f"when the file was closed: {tmp_path / 'a.reel'}: max_size=2000 bytes is reached; no frame is kept"
    ]
    gc.collect()
    assert not list(exiting._running)


def test_a_writer_that_was_forgotten_is_closed_at_the_interpreters_end(tmp_path, run_script):
    run_script(
        """
        writer = ReelWriter(sys.argv[1], Layout((Field("x", "f8", 1),)))
        writer.append(np.zeros((300, 1)))
        """,
        tmp_path / "a.reel",
    )
    assert len(read(tmp_path / "a.reel")[0]["x"]) == 300


def test_a_file_that_is_discarded_leaves_the_old_one(tmp_path):
    path = tmp_path / "a.reel"
    path.write_bytes(b"old")
    with ReelWriter(path, PLAIN, overwrite=True) as writer:
        writer.append(np.ones((300, 5)))
        writer.discard()
        assert writer.closed
        assert path.read_bytes() == b"old"
    writer.discard()
    assert [each.name for each in tmp_path.iterdir()] == ["a.reel"]
    with pytest.raises(ClosedFileError):
        writer.flush()


@pytest.mark.parametrize("place", ["start", "register"])
@pytest.mark.parametrize("fsync", [1e-4, "chunk"])
def test_ctrl_c_while_it_is_opened_leaves_no_file_and_no_thread(tmp_path, monkeypatch, place, fsync):
    owner = exiting if place == "register" else Worker
    real = getattr(owner, place)

    def interrupted(*args):
        real(*args)
        raise KeyboardInterrupt

    monkeypatch.setattr(owner, place, interrupted)
    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt):
        ReelWriter(tmp_path / "a.reel", PLAIN, fsync=fsync)
    assert list(tmp_path.iterdir()) == []
    while set(threading.enumerate()) - before:
        time.sleep(0.001)


def test_the_last_frame_can_be_read_until_the_next(tmp_path):
    with ReelWriter(tmp_path / "a.reel", PLAIN, chunk_size=2) as writer:
        first, last = PLAIN.fields[0].name, PLAIN.fields[-1].name
        for value in range(7):
            writer.next_row()[:] = value
            writer.commit()
            assert writer.last_part(first, last).tolist() == [value] * 5


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="the system sends no signals to threads")
def test_a_close_that_ctrl_c_interrupted_is_gone_on_with(tmp_path, monkeypatch):
    writer = ReelWriter(tmp_path / "a.reel", PLAIN)
    writer.append(np.ones((3, 5)))
    is_there, sync = threading.Event(), writer._worker._sync

    def slow():
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        is_there.wait()
        sync()

    monkeypatch.setattr(writer._worker, "_sync", slow)
    with pytest.raises(KeyboardInterrupt):
        writer.close()
    is_there.set()
    writer.close()
    assert not is_being_written(tmp_path / "a.reel")
    assert len(read(tmp_path / "a.reel")[0]["qpos"]) == 3
