"""The writer thread takes rows in order, whatever comes between, and records before the rows that follow them."""

import threading
import time

import numpy as np
import pytest

from simreel.errors import WriteError
from simreel.reel import Field, Layout, Reel, ReelWriter
from simreel.reel.ring import Full
from simreel.reel.worker import Flush

LAYOUT = Layout((Field("x", "f8", 1),))


class Gate:
    """Holds a method up until it is opened."""

    def __init__(self, owner, name, monkeypatch):
        self._opened = threading.Event()
        self.entered = threading.Event()
        method = getattr(owner, name)

        def held(*args):
            self.entered.set()
            self._opened.wait()
            return method(*args)

        monkeypatch.setattr(owner, name, held)

    def open(self):
        self._opened.set()


def commit(writer, *values):
    for value in values:
        writer.next_row()[:] = value
        writer.commit()


def read(path):
    with Reel.open(path) as reel:
        assert reel.is_complete
        return reel.field("x")[:][:, 0].tolist(), [(tag, first) for tag, _, first, *_ in reel.records.entries.tolist()]


def test_a_record_comes_before_the_rows_after_it_also_when_the_tick_is_late(tmp_path, monkeypatch):
    writer = ReelWriter(tmp_path / "a.reel", LAYOUT, chunk_size=8)
    commit(writer, 0)
    deadline = time.monotonic() + 20
    while writer._worker._waiting is None:
        assert time.monotonic() < deadline
        time.sleep(0.001)
    gate = Gate(writer._worker._sink, "append", monkeypatch)
    writer.note("slow")
    assert gate.entered.wait(20)
    writer.param({"mass": np.ones(1)})
    commit(writer, 1)
    time.sleep(0.3)  # longer than a tick
    gate.open()
    writer.close()
    values, tags = read(tmp_path / "a.reel")
    assert values == [0, 1]
    assert tags[1:-1] == [(b"NOTE", 1), (b"PARM", 1), (b"CHNK", 0)]


def test_a_flush_that_was_overtaken_writes_no_row_out_of_order(tmp_path, monkeypatch):
    writer = ReelWriter(tmp_path / "a.reel", LAYOUT, chunk_size=2)
    gate = Gate(writer._worker._encoder, "encode", monkeypatch)
    commit(writer, 0, 1)
    assert gate.entered.wait(20)
    # As after Ctrl-C in `flush`: nobody waits for it.
    writer._ring.queue.put(Flush())
    commit(writer, 2, 3, 4)
    gate.open()
    writer.close()
    assert read(tmp_path / "a.reel")[0] == [0, 1, 2, 3, 4]


def test_a_slot_that_was_handed_over_twice_is_written_once(tmp_path):
    with ReelWriter(tmp_path / "a.reel", LAYOUT, chunk_size=1) as writer:
        again = Full(writer._ring.open)
        commit(writer, 0, 1, 2)
        writer._ring.queue.put(again)
        commit(writer, 3)
        writer._ring.queue.put(again)
        commit(writer, *range(4, 20))
    assert read(tmp_path / "a.reel")[0] == list(range(20))


def test_an_old_entry_of_a_slot_does_not_free_it_before_its_new_rows_are_written(tmp_path, monkeypatch):
    writer = ReelWriter(tmp_path / "a.reel", LAYOUT, chunk_size=1)
    old = Full(writer._ring.open)
    commit(writer, 0)
    writer.flush()
    permits, entered = threading.Semaphore(0), threading.Semaphore(0)
    encode = writer._worker._encoder.encode

    def held(*args):
        entered.release()
        assert permits.acquire(timeout=20)
        return encode(*args)

    monkeypatch.setattr(writer._worker._encoder, "encode", held)
    commit(writer, 1)
    assert entered.acquire(timeout=20)
    writer._ring.queue.put(old)
    commit(writer, 2)
    thread = threading.Thread(target=commit, args=(writer, *range(3, 9)))
    thread.start()
    for _ in range(2):
        # The thread goes on as far as it can.
        time.sleep(0.05)
        permits.release()
        assert entered.acquire(timeout=20)
    time.sleep(0.05)
    permits.release(20)
    thread.join()
    writer.close()
    assert read(tmp_path / "a.reel")[0] == list(range(9))


@pytest.mark.parametrize("quiet", [False, True])
def test_rows_wait_no_longer_than_half_a_second(tmp_path, quiet):
    with ReelWriter(tmp_path / "a.reel", LAYOUT, chunk_size=1000) as writer:
        commit(writer, 0)
        start = time.monotonic()
        while not writer._worker.frames:
            # Other records must not put it off.
            if not quiet:
                writer.note(0)
            time.sleep(0.01)
        # Half a second, and the patience of a machine that is busy.
        assert time.monotonic() - start < 5


@pytest.mark.parametrize("count", [3, 8])
def test_rows_in_a_wrong_order_are_an_error_and_never_left_out_in_silence(tmp_path, count):
    writer = ReelWriter(tmp_path / "a.reel", LAYOUT, chunk_size=4)
    commit(writer, 1.0, 2.0)
    writer.flush()
    # As two threads leave it that open a slot at once.
    writer._ring.open.first += 1
    with pytest.raises(WriteError, match=r"one thread at a time .* first 2 frames are kept"), writer:
        commit(writer, *range(count))
    with Reel.open(tmp_path / "a.reel") as reel:
        assert (len(reel), reel.is_complete) == (2, False)
