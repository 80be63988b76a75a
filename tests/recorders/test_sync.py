"""`sync` and `stop` on another thread than that of the steps: nothing is lost, doubled or miscounted, nobody hangs."""

import sys
import threading

import numpy as np
import pytest

import simreel as sr
from simreel.recorders import NPZFile
from simreel.recorders.queue import Mark, SampleQueue


@pytest.fixture
def quick_switches():
    """Has the threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


class Caller:
    """Calls something at each turn on a thread of its own, beside what the test does, and keeps its error."""

    def __init__(self, call):
        self.error = None
        self._call = call
        self._is_over = False
        self._turn = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self):
        while self.error is None and not self._is_over:
            self._turn.wait()
            self._turn.clear()
            try:
                self._call()
            except sr.errors.SimreelError as error:
                self.error = error

    def turn(self):
        """Has it called once more, now or after the call that runs."""
        self._turn.set()

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._is_over = True
        self.turn()
        self._thread.join()


def counting(options):
    scene = sr.Scene(engine=sr.testing.FakeEngine())
    recorder = scene.start_recording(lambda: scene.step_count, options)
    scene.build()
    return scene, recorder


@pytest.mark.parametrize("buffer_size", [0, 1000])
def test_sync_beside_many_steps_loses_and_miscounts_nothing(tmp_path, quick_switches, buffer_size):
    scene, recorder = counting(NPZFile(tmp_path / "steps.npz", buffer_size=buffer_size, buffer_full_wait_time=60))
    with Caller(recorder.sync) as one, Caller(recorder.sync) as other:
        for _ in range(500):
            one.turn()
            other.turn()
            scene.step(100)
            status = recorder.status
            assert status.received == status.written + status.queued
    assert one.error is other.error is None
    scene.stop_recording()
    assert (recorder.status.received, recorder.status.written, recorder.status.dropped) == (50_001, 50_001, 0)
    with np.load(tmp_path / "steps.npz") as file:
        assert np.array_equal(file["data"], np.arange(50_001))
        assert np.array_equal(file["step"], np.arange(50_001))


def test_sync_beside_resets_pauses_and_steps_apart_keeps_each_row(tmp_path, quick_switches):
    scene, recorder = counting(NPZFile(tmp_path / "steps.npz"))
    expected = []
    with Caller(recorder.sync) as caller:
        for _ in range(100):
            caller.turn()
            scene.step(50)
            recorder.pause()
            scene.step(3)
            recorder.resume()
            caller.turn()
            scene.step(50)
            expected += [*range(50), *range(53, 104)]
            scene.reset()
    assert caller.error is None
    scene.stop_recording()
    assert recorder.status.received == recorder.status.written == len(expected)
    with np.load(tmp_path / "steps.npz") as file:
        assert file["data"].tolist() == file["step"].tolist() == expected


def test_sync_beside_the_steps_of_a_recorder_without_a_thread(fake, quick_switches):
    scene, recorder = counting(fake(inline=True))
    with Caller(recorder.sync) as caller:
        for k in range(5000):
            caller.turn()
            scene.step()
            assert len(recorder.rows) == k + 1
    assert caller.error is None
    scene.stop_recording()
    assert recorder.rows == list(range(5001))
    assert recorder.status.received == recorder.status.written == 5001


def test_sync_returns_though_samples_keep_coming(fake):
    scene, recorder = counting(fake())
    with Caller(lambda: scene.step(1000)) as stepper:
        for _ in range(20):
            stepper.turn()
            received = recorder.status.received
            recorder.sync()
            assert len(recorder.rows) >= received
    scene.stop_recording()


def test_sync_on_another_thread_raises_what_ended_the_recorder(gated):
    scene = sr.Scene(engine=sr.testing.FakeEngine())
    recorder = gated(scene, lambda: 0, fail="process")
    scene.build()
    scene.step()
    recorder.entered.wait()
    with Caller(recorder.sync) as caller:
        caller.turn()
        recorder.gate.set()
    assert "fake process" in str(caller.error)
    scene.stop_recording()


@pytest.mark.parametrize("blocks", range(1, 11))
def test_stop_on_another_thread_keeps_what_was_taken_and_ends(tmp_path, quick_switches, blocks):
    scene, recorder = counting(NPZFile(tmp_path / "steps.npz"))
    taken = 100 * blocks
    scene.step(taken)
    with Caller(recorder.stop) as stopper, Caller(recorder.sync) as syncer:
        syncer.turn()
        stopper.turn()
        scene.step(1000)
    assert stopper.error is syncer.error is None
    status = recorder.status
    assert status.received == status.written >= taken
    assert status.dropped == 0
    with np.load(tmp_path / "steps.npz") as file:
        assert len(file["data"]) == status.written
        assert np.array_equal(file["data"][:taken], np.arange(taken))
    scene.stop_recording()


def test_stop_on_another_thread_ends_a_step_that_waits_for_room(gated):
    scene = sr.Scene(engine=sr.testing.FakeEngine())
    recorder = gated(scene, lambda: scene.step_count, buffer_size=2, buffer_full_wait_time=60)
    scene.build()
    with Caller(lambda: scene.step(10)) as stepper, Caller(recorder.stop) as stopper:
        stepper.turn()
        recorder.entered.wait()
        stopper.turn()
        recorder.gate.set()
    assert stopper.error is stepper.error is None
    status = recorder.status
    assert status.received == status.written == len(recorder.rows) >= 2
    assert status.dropped == 0
    assert recorder.rows[:2] == [0, 1]
    scene.stop_recording()


# The queue alone.


def queue_of(rows):
    queue = SampleQueue("Fake", sr.recorders.NPZFile(filename="unused.npz"), 1)
    for step in range(rows):
        queue.append(step, b"x") if step == 0 else queue.open.parts.append(b"x")
    return queue


def finish(queue):
    batch = queue.claim()
    queue.finish(batch, len(batch.parts))
    return len(batch.parts)


def test_an_inserted_mark_leaves_the_open_block_open_and_waits_for_its_rows():
    queue = queue_of(3)
    block = queue.open
    marks = [queue.insert(Mark()), queue.insert(Mark())]
    queue.open.parts.append(b"x")
    assert queue.open is block
    assert queue._is_urgent()
    assert finish(queue) == 4
    for mark in marks:
        assert queue.claim() is mark
        queue.reach(mark)
        assert mark.done
    assert queue.claim() is None
    assert queue.counts() == (4, 4, 0)


def test_an_inserted_mark_is_reached_before_rows_of_a_later_block_and_an_episode_end():
    queue = queue_of(2)
    mark = queue.insert(Mark())
    end = queue.post(Mark(), new_episode=True)
    queue.append(0, b"y")
    assert finish(queue) == 2
    for each in (mark, end):
        assert queue.claim() is each
        queue.reach(each)
    assert finish(queue) == 1


def test_a_mark_inserted_with_no_open_block_comes_behind_all_blocks():
    queue = queue_of(2)
    end = queue.post(Mark(), new_episode=True)
    mark = queue.insert(Mark())
    assert finish(queue) == 2
    for each in (end, mark):
        assert queue.claim() is each
        queue.reach(each)


def test_rows_that_are_dropped_count_as_gone_for_an_inserted_mark():
    options = sr.recorders.NPZFile(
        filename="unused.npz", buffer_size=2, buffer_full_wait_time=0, when_full="drop_oldest"
    )
    queue = SampleQueue("Fake", options, 1)
    queue.append(0, b"x")
    queue.open.parts.append(b"x")
    mark = queue.insert(Mark())
    for step in (2, 3):
        queue.append(step, b"x")
    assert queue.claim() is mark
    queue.reach(mark)
    assert queue.counts() == (4, 0, 2)


def test_marks_that_come_with_or_after_the_last_one_are_done_when_it_is_reached():
    queue = queue_of(2)
    early = queue.insert(Mark())
    last = queue.post(Mark(is_last=True))
    late = [queue.insert(Mark()), queue.post(Mark(is_last=True))]
    assert finish(queue) == 2
    for each in (early, last):
        assert queue.claim() is each
        queue.reach(each)
    assert all(mark.done for mark in late)
    assert queue.insert(Mark()).done
    assert queue.post(Mark(is_last=True)).done


def test_a_row_that_comes_while_another_thread_closes_its_block_is_counted_once():
    queue = queue_of(2)
    block = queue.open
    queue.post(Mark(is_last=True))
    block.parts.append(b"x")
    assert finish(queue) == 3
    assert queue.counts() == (3, 3, 0)
