"""The queue is bounded, keeps order and counts, and what it does when it is full is what was asked for."""

import logging
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simreel.errors import RecorderOverflowError, SimreelWarning
from simreel.options.recorders import RecorderOptions
from simreel.recorders.queue import Batch, Mark, SampleQueue


def queue_of(stride=1, **options):
    return SampleQueue("Fake", RecorderOptions(**{"buffer_full_wait_time": 0} | options), stride)


def fill(queue, steps, size=8):
    """As the sampler does: to the open block where the row has room and follows."""
    for step in steps:
        raw, block = step.to_bytes(2, "big") * (size // 2), queue.open
        if step == block.first + len(block.parts) * queue.stride < block.end:
            block.parts.append(raw)
        else:
            queue.append(step, raw)


def rows(batch):
    return [int.from_bytes(part[:2], "big") for part in batch.parts]


def drain(queue):
    """Claims and finishes all that waits; the rows."""
    taken = []
    while isinstance(batch := queue.claim(), Batch):
        taken += rows(batch)
        queue.finish(batch, len(batch.parts))
    return taken


# Without threads.


def test_rows_come_in_order_in_batches_of_consecutive_steps():
    queue = queue_of(stride=2)
    fill(queue, [0, 2, 4, 10, 12])
    steps, values = [], []
    while batch := queue.claim():
        steps += range(batch.first, batch.first + 2 * len(batch.parts), 2)
        values += rows(batch)
        queue.finish(batch, len(batch.parts))
    assert steps == values == [0, 2, 4, 10, 12]
    assert queue.counts() == (5, 5, 0)


def test_a_step_is_taken_once_in_an_episode():
    queue = queue_of()
    fill(queue, [0, 1, 1, 0, 2])
    assert queue.took(2)
    assert not queue.took(3)
    queue.post(Mark(), new_episode=True)
    assert not queue.took(0)
    fill(queue, [0])
    assert queue.received == 4


def test_a_mark_comes_after_the_rows_before_it_and_before_those_after():
    queue = queue_of()
    fill(queue, [0, 1])
    mark = queue.post(Mark())
    fill(queue, [2])
    assert drain(queue) == [0, 1]
    assert queue.claim() is mark
    assert not mark.done
    queue.reach(mark)
    assert mark.done
    assert drain(queue) == [2]
    assert queue.claim() is None


def test_marks_behind_each_other_are_reached_in_order():
    queue = queue_of()
    marks = [queue.post(Mark()) for _ in range(3)]
    for mark in marks:
        assert queue.claim() is mark
        queue.reach(mark)
    assert queue.claim() is None


def test_nothing_is_taken_behind_the_last_mark():
    queue = queue_of()
    fill(queue, [0])
    queue.post(Mark(is_last=True))
    fill(queue, [1, 2])
    assert queue.counts() == (1, 0, 0)


def test_a_requested_mark_comes_behind_all_rows_the_open_ones_too():
    queue = queue_of()
    fill(queue, [0, 1])
    mark = queue.request(Mark(is_last=True))
    assert drain(queue) == [0, 1]
    assert queue.claim() is mark
    queue.reach(mark)
    assert queue.claim() is None


def test_rows_that_a_failed_recorder_did_not_write_count_as_dropped():
    queue = queue_of()
    fill(queue, [0, 1, 2])
    batch = queue.claim()
    assert rows(batch) == [0, 1, 2]
    queue.finish(batch, 1)
    assert queue.counts() == (3, 1, 2)
    assert queue.queued == 0


@pytest.mark.parametrize("size", [1, 2, 10, 300])
def test_drop_oldest_keeps_the_newest_and_counts(size):
    queue = queue_of(buffer_size=size, when_full="drop_oldest")
    fill(queue, range(1000))
    assert queue.counts() == (1000, 0, 1000 - size)
    assert drain(queue) == list(range(1000 - size, 1000))
    assert queue.counts() == (1000, size, 1000 - size)


@pytest.mark.parametrize("size", [1, 2, 10, 300])
def test_drop_oldest_leaves_what_is_being_written_and_marks(size):
    queue = queue_of(buffer_size=size, when_full="drop_oldest")
    fill(queue, range(size))
    batch = queue.claim()
    mark = queue.post(Mark())
    fill(queue, range(size, 1000))
    assert queue.queued <= size + 1
    assert rows(batch) == list(range(max(1, size // 2)))
    queue.finish(batch, len(batch.parts))
    kept = drain(queue)
    assert queue.claim() is mark
    queue.reach(mark)
    kept += drain(queue)
    assert kept == list(range(1000 - len(kept), 1000))
    assert kept[-1] == 999
    assert queue.queued == 0


@pytest.mark.parametrize(("row", "rows_in_all"), [(52, 10), (952, 100), (9952, 32), (100_000, 1)])
def test_drop_oldest_bounds_the_bytes_and_keeps_most_of_them(row, rows_in_all):
    buffer = (row + 48) * rows_in_all
    queue = queue_of(buffer_bytes=buffer, when_full="drop_oldest")
    fill(queue, range(500), row)
    assert queue.queued * (row + 48) <= buffer
    # Whole blocks make room: of eight, one may be gone and one not full.
    assert queue.queued >= max(1, rows_in_all * 3 // 4 - 1)
    kept = drain(queue)
    assert kept == list(range(500 - len(kept), 500))


@pytest.mark.parametrize("size", [1, 2, 10, 300])
def test_raise_raises_counts_the_row_and_keeps_those_before(size):
    queue = queue_of(buffer_size=size, when_full="raise")
    fill(queue, range(size))
    with pytest.raises(RecorderOverflowError, match=rf"Fake: the queue stayed full \({size} samples\)"):
        fill(queue, [size])
    assert queue.counts() == (size + 1, 0, 1)
    assert drain(queue) == list(range(size))


def test_raise_with_a_bound_in_bytes():
    queue = queue_of(buffer_bytes=1000, when_full="raise")
    with pytest.raises(RecorderOverflowError):
        fill(queue, range(100), 52)
    assert 8 <= len(drain(queue)) <= 10


def test_a_row_larger_than_the_bound_passes_alone():
    queue = queue_of(buffer_bytes=10, when_full="raise")
    fill(queue, [0], 1000)
    with pytest.raises(RecorderOverflowError):
        fill(queue, [1], 1000)
    assert drain(queue) == [0]
    fill(queue, [2], 1000)
    assert drain(queue) == [2]


def test_a_sample_that_fills_a_block_alone_is_written_at_once_and_not_kept():
    queue = queue_of()
    fill(queue, [0, 1], 2**20)
    assert queue._is_urgent()
    for received in (0, 1):
        batch = queue.claim()
        assert rows(batch) == [received]
        assert queue.counts() == (2, received, 0)
        queue.finish(batch, 1)
    assert not queue._entries
    assert queue.took(1)
    fill(queue, [1, 2], 2**20)
    assert drain(queue) == [2]
    assert queue._waiting_bytes == 0


def test_without_a_size_the_bytes_bound_the_rows():
    queue = queue_of(when_full="raise")
    with pytest.raises(RecorderOverflowError):
        fill(queue, range(64), 2**20)
    assert 30 <= queue.queued <= 32


def test_rows_of_text_are_bounded_too():
    queue = queue_of(when_full="raise", buffer_bytes=100_000)
    queue.has_text = True
    with pytest.raises(RecorderOverflowError):
        fill(queue, range(1000), 952)
    assert 80 <= queue.queued <= 100


@given(
    st.integers(1, 12),
    st.sampled_from(["buffer_size", "buffer_bytes"]),
    st.lists(st.sampled_from(["take", "skip", "claim", "finish", "mark", "sync", "reset"]), max_size=80),
)
@settings(max_examples=200, deadline=None)
def test_no_order_of_calls_loses_doubles_or_mixes_rows(size, bound, calls):
    """Against a plain list; drop_oldest drops from its front, behind what is being written."""
    limit = {bound: size if bound == "buffer_size" else size * 56}
    queue = queue_of(when_full="drop_oldest", **limit)
    written, taken, claimed, step, mark_rows, inserted = [], [], None, 0, [], {}

    def reach(mark):
        if mark in inserted:
            assert len(written) + queue.dropped >= inserted.pop(mark)
        else:
            assert mark is mark_rows.pop(0)[0]
        queue.reach(mark)

    for call in [*calls, "finish", "end"]:
        if call in {"take", "skip"}:
            step += call == "skip"
            fill(queue, [step])
            taken.append(step)
            step += 1
        elif call in {"mark", "reset"}:
            mark_rows.append((queue.post(Mark(), new_episode=call == "reset"), len(taken)))
        elif call == "sync":
            inserted[queue.insert(Mark())] = len(taken)
        elif call == "claim" and claimed is None:
            claimed = queue.claim()
            if isinstance(claimed, Mark):
                reach(claimed)
                claimed = None
        elif call == "finish" and claimed is not None:
            written += rows(claimed)
            queue.finish(claimed, len(claimed.parts))
            claimed = None
        elif call == "end":
            while (entry := queue.claim()) is not None:
                if isinstance(entry, Mark):
                    reach(entry)
                else:
                    written += rows(entry)
                    queue.finish(entry, len(entry.parts))
        received, done, dropped = queue.counts()
        assert received == len(taken)
        assert done == len(written)
        assert received >= done + dropped
    assert not mark_rows
    assert not inserted
    assert queue.queued == 0
    assert len(written) + queue.dropped == len(taken)
    assert written == [row for row in taken if row in set(written)]
    assert not taken or written[-1] == taken[-1]


# With a worker.


def run(scene, n):
    for _ in range(n):
        scene.step()


def open_later(recorder, *, once_warned=False):
    def wait():
        time.sleep(0.05)
        while once_warned and not recorder._queue._warned:
            time.sleep(0.001)
        recorder.gate.set()

    threading.Thread(target=wait).start()


@pytest.mark.parametrize("size", [1, 2, 10, 300])
def test_block_loses_nothing_and_warns_once(still_scene, gated, size):
    scene = still_scene()
    recorder = gated(scene, lambda: scene.step_count, buffer_size=size, buffer_full_wait_time=0.01)
    scene.build()
    open_later(recorder, once_warned=True)
    with pytest.warns(SimreelWarning, match="queue is full and the step waits") as caught:
        run(scene, 700)
    recorder.gate.clear()
    open_later(recorder)
    run(scene, 700)
    scene.stop_recording()
    assert len(caught) == 1
    assert recorder.rows == list(range(1401))
    assert recorder.status.dropped == 0


def test_block_with_a_bound_in_bytes_loses_nothing(still_scene, gated):
    scene = still_scene()
    recorder = gated(scene, lambda: [scene.step_count] * 10, buffer_bytes=2000, buffer_full_wait_time=0)
    scene.build()
    open_later(recorder, once_warned=True)
    with pytest.warns(SimreelWarning, match="queue is full"):
        run(scene, 500)
    scene.stop_recording()
    assert [row[0] for row in recorder.rows] == list(range(501))


@pytest.mark.parametrize("size", [1, 2, 10, 300])
def test_raise_ends_that_recorder_from_the_step_and_keeps_its_rows(still_scene, gated, fake, size):
    scene = still_scene()
    recorder = gated(scene, lambda: scene.step_count, buffer_size=size, buffer_full_wait_time=0.01, when_full="raise")
    other = scene.start_recording(lambda: scene.step_count, fake())
    scene.build()
    with pytest.raises(RecorderOverflowError, match="queue stayed full"):
        run(scene, 1000)
    steps = scene.step_count
    assert steps == size + 1
    run(scene, 5)
    recorder.gate.set()
    scene.stop_recording()
    assert recorder.rows == list(range(size))
    assert recorder.status.dropped == 1
    assert recorder.calls == ["build", "cleanup"]
    assert other.rows == list(range(steps + 6))


def test_raise_waits_for_room_first(still_scene, gated):
    scene = still_scene()
    recorder = gated(scene, lambda: scene.step_count, buffer_size=2, buffer_full_wait_time=30, when_full="raise")
    scene.build()
    open_later(recorder)
    run(scene, 20)
    scene.stop_recording()
    assert recorder.rows == list(range(21))


@pytest.mark.parametrize("size", [1, 2, 10])
def test_drop_oldest_never_stops_the_run_and_ends_with_the_newest(still_scene, gated, caplog, size):
    caplog.set_level(logging.INFO, "simreel")
    scene = still_scene()
    recorder = gated(
        scene, lambda: scene.step_count, buffer_size=size, buffer_full_wait_time=0, when_full="drop_oldest"
    )
    scene.build()
    scene.step()
    recorder.entered.wait()
    run(scene, 500)
    assert recorder.status.queued <= size + 1
    recorder.gate.set()
    scene.stop_recording()
    status = recorder.status
    assert status.received == 502
    assert status.written == len(recorder.rows) <= size + 2
    assert recorder.rows[0] == 0
    assert recorder.rows[-1] == 501
    assert recorder.times == [row * 0.01 for row in recorder.rows]
    assert f"{status.dropped} dropped" in caplog.text


def test_a_single_row_reaches_the_recorder_without_another_one(still_scene, fake):
    scene = still_scene()
    recorder = scene.start_recording(lambda: 0, fake())
    scene.build()
    for expected in (1, 2, 3):
        scene.step()
        deadline = time.monotonic() + 30
        while len(recorder.rows) < expected and time.monotonic() < deadline:
            time.sleep(0.001)
        assert len(recorder.rows) == expected
        # The worker has gone to sleep again.
        while not recorder._queue.asleep and time.monotonic() < deadline:
            time.sleep(0.001)
    scene.stop_recording()


def test_two_queues_of_one_run_do_not_wait_for_each_other(still_scene, gated, fake):
    scene = still_scene()
    slow = gated(scene, lambda: scene.step_count)
    quick = scene.start_recording(lambda: scene.step_count, fake(buffer_size=5, buffer_full_wait_time=30))
    scene.build()
    run(scene, 100)
    quick.stop()
    assert quick.rows == list(range(101))
    assert slow.rows == []
    slow.gate.set()
    scene.stop_recording()
    assert slow.rows == list(range(101))


def test_memory_stays_within_the_bound(still_scene, gated):
    """What waits holds no more than `buffer_bytes`; the row that is written and the newest come on top."""
    import tracemalloc

    import numpy as np

    scene = still_scene()
    row = np.zeros(25_000)
    recorder = gated(scene, lambda: row, buffer_bytes=4 * 10**6, buffer_full_wait_time=0, when_full="drop_oldest")
    scene.build()
    scene.step()
    recorder.entered.wait()
    tracemalloc.start()
    try:
        run(scene, 200)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 2 * 10**6 < held < 4.6 * 10**6
    recorder.gate.set()
    scene.stop_recording()
    assert recorder.status.dropped > 150


def test_a_blocked_queue_loses_nothing_where_warnings_are_errors(caplog):
    options = RecorderOptions(buffer_size=1, buffer_full_wait_time=0)
    queue = SampleQueue("Slow a.txt", options, 1)
    queue.append(0, b"x")
    batch = queue.claim()
    finisher = threading.Timer(0.05, queue.finish, (batch, 1))
    finisher.start()
    queue.append(1, b"y")
    finisher.join()
    assert queue.received == 2
    assert "Slow a.txt: the queue is full" in caplog.text
