"""Recorders open, sample and close together, each on its own."""

import gc
import threading
import time
import warnings

import numpy as np
import pytest

import simreel as sr
from simreel.errors import DuplicateTargetError, RecorderError, SimreelError, SimreelWarning, TargetExistsError
from simreel.recorders import CSVFile, NPZFile


def run(scene, n):
    for _ in range(n):
        scene.step()


# Opening.


def test_recorders_open_in_order_at_the_build_or_at_once_after_it(still_scene, fake):
    scene = still_scene()
    order = []
    recorders = [scene.start_recording(lambda: 0, fake()) for _ in range(3)]
    for i, recorder in enumerate(recorders):
        recorder.build = lambda i=i: order.append(i)
    assert scene.recorders == tuple(recorders)
    assert order == []
    scene.build()
    assert order == [0, 1, 2]
    late = scene.start_recording(lambda: 0, fake())
    assert late.calls == ["build"]
    scene.stop_recording()


def test_one_that_fails_to_open_closes_those_before_and_a_second_build_goes_on(still_scene, fake):
    scene = still_scene()
    first = scene.start_recording(lambda: scene.step_count, fake())
    bad = scene.start_recording(lambda: 0, fake(fail="build"))
    last = scene.start_recording(lambda: scene.step_count, fake())
    with pytest.raises(RecorderError, match="opening: ValueError: fake build") as caught:
        scene.build()
    assert isinstance(caught.value.__cause__, ValueError)
    assert not scene.is_built
    assert first.calls == ["build", "cleanup"]
    assert last.calls == []
    assert scene.recorders == (first, last)
    assert not first.is_alive
    scene.build()
    run(scene, 2)
    scene.stop_recording()
    bad.stop()
    assert first.rows == last.rows == [0, 1, 2]
    assert first.status.written == 3
    assert first.calls == ["build", "cleanup"] * 2


def test_one_that_fails_to_open_in_a_run_leaves_the_others(still_scene, fake):
    scene = still_scene()
    first = scene.start_recording(lambda: scene.step_count, fake())
    scene.build()
    run(scene, 2)
    with pytest.raises(RecorderError, match="fake build"):
        scene.start_recording(lambda: 0, fake(fail="build"))
    assert scene.recorders == (first,)
    run(scene, 2)
    scene.stop_recording()
    assert first.rows == [0, 1, 2, 3, 4]


def test_a_file_that_cannot_be_opened_leaves_no_junk(still_scene, folder):
    scene = still_scene()
    scene.start_recording(lambda: 0, NPZFile(folder / "deep" / "a.npz"))
    scene.start_recording(lambda: 0, CSVFile(folder / "b.csv"))
    (folder / "b.csv").write_text("mine")
    with pytest.raises(TargetExistsError, match="overwrite"):
        scene.build()
    assert [path.name for path in folder.rglob("*") if path.is_file()] == ["b.csv"]
    assert (folder / "b.csv").read_text() == "mine"


def test_a_file_is_named_once_in_a_scene_and_again_after_its_stop(still_scene, folder, monkeypatch):
    monkeypatch.chdir(folder)
    scene = still_scene()
    first = scene.start_recording(lambda: 0, CSVFile("a.csv", overwrite=True))
    for same in ("a.csv", "./a.csv", folder / "x" / ".." / "a.csv"):
        with pytest.raises(DuplicateTargetError, match=r"a\.csv"):
            scene.start_recording(lambda: 0, CSVFile(same, overwrite=True))
    first.stop()
    scene.start_recording(lambda: 0, CSVFile("a.csv", overwrite=True))
    assert len(scene.recorders) == 1
    scene.stop_recording()


# Errors among several.


def test_the_file_of_the_other_recorder_is_whole_and_every_step_is_taken(folder, fake):
    scene = sr.Scene()
    pole = scene.add_entity(sr.morphs.MJCF(sr.models.path("cartpole")))

    def fail():
        if scene.step_count == 7:
            raise LookupError("mine")
        return pole.get_qvel()

    scene.start_recording(pole.get_qpos, NPZFile(folder / "good.npz"))
    scene.start_recording(fail, NPZFile(folder / "bad.npz"))
    scene.start_recording(pole.get_qpos, fake(fail="process", at=3))
    scene.build()
    errors = []
    for _ in range(100):
        try:
            scene.step()
        except SimreelError as error:
            errors.append(error)
    try:
        scene.stop_recording()
    except SimreelError as error:
        errors.append(error)
    assert scene.step_count == 100
    assert scene.data.time == pytest.approx(100 * scene.dt)
    single = [e for error in errors for e in (error.exceptions if isinstance(error, ExceptionGroup) else [error])]
    assert sorted(type(error.__cause__).__name__ for error in single) == ["LookupError", "ValueError"]
    with np.load(folder / "good.npz") as good, np.load(folder / "bad.npz") as bad:
        assert good["step"].tolist() == list(range(101))
        assert bad["step"].tolist() == list(range(7))


def test_the_whole_run_is_the_same_with_and_without_recorders(fake):
    def states(record):
        scene = sr.Scene()
        scene.add_entity(sr.morphs.MJCF(sr.models.path("cartpole")))
        if record:
            scene.start_recording(lambda: scene.data.qpos, fake(hz=100))
        scene.build()
        scene.data.qpos[:] = 0.1
        run(scene, 200)
        scene.stop_recording()
        return scene.data.qpos.tobytes() + scene.data.qvel.tobytes()

    assert states(True) == states(False)


def test_an_exception_inside_with_closes_all_files_and_goes_first(still_scene, fake):
    scene = still_scene()
    good = scene.start_recording(lambda: scene.step_count, fake())
    scene.start_recording(lambda: 0, fake(fail="cleanup"))
    with pytest.raises(ZeroDivisionError) as caught, scene:  # noqa: PT012
        scene.build()
        run(scene, 3)
        raise ZeroDivisionError
    assert "fake cleanup" in caught.value.__notes__[0]
    assert good.rows == [0, 1, 2, 3]
    assert good.calls == ["build", "cleanup"]


def test_recording_as_a_block_is_one_recorder_at_a_time(still_scene, fake):
    scene = still_scene()
    outer = scene.start_recording(lambda: scene.step_count, fake())
    scene.build()
    with scene.recording(lambda: scene.step_count, fake()) as inner:
        run(scene, 2)
    run(scene, 2)
    with pytest.raises(KeyError), scene.recording(lambda: scene.step_count, fake()) as failed:  # noqa: PT012
        run(scene, 1)
        raise KeyError
    scene.stop_recording()
    assert (inner.rows, failed.rows, outer.rows) == ([0, 1, 2], [4, 5], [0, 1, 2, 3, 4, 5])


# Ctrl-C outside the data functions.


def test_ctrl_c_in_a_stop_leaves_it_to_the_next_stop(still_scene, gated, monkeypatch):
    scene = still_scene()
    recorder = gated(scene, lambda: scene.step_count)
    scene.build()
    run(scene, 3)
    waited = []

    def interrupt(mark, timeout=None):
        waited.append(mark)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(recorder._queue, "wait", interrupt)
        with pytest.raises(KeyboardInterrupt):
            scene.stop_recording()
    assert waited
    recorder.gate.set()
    scene.stop_recording()
    assert recorder.rows == [0, 1, 2, 3]
    assert recorder.calls == ["build", "cleanup"]
    assert scene.recorders == ()


def test_ctrl_c_in_a_reset_ends_the_episode_once(still_scene, gated, monkeypatch):
    scene = still_scene()
    recorder = gated(scene, lambda: scene.step_count)
    scene.build()
    run(scene, 3)

    def interrupt(mark, timeout=None):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(recorder._queue, "wait", interrupt)
        with pytest.raises(KeyboardInterrupt):
            scene.reset()
    recorder.gate.set()
    scene.reset()
    run(scene, 2)
    scene.stop_recording()
    assert recorder.rows == [0, 1, 2, 3, 0, 1, 2]
    assert recorder.calls == ["build", "reset", "cleanup"]


# A scene that nobody holds any more.


def test_a_collected_scene_closes_its_recorders_and_names_them(still_scene, fake):
    scene = still_scene()
    recorders = [scene.start_recording(lambda s=scene: float(s.step_count), fake()) for _ in range(2)]
    scene.build()
    run(scene, 3)
    del scene
    with pytest.warns(SimreelWarning, match="collected while it recorded; closed: FakeOptions, FakeOptions") as caught:
        gc.collect()
    assert len(caught) == 1
    for recorder in recorders:
        assert recorder.rows == [0, 1, 2]
        assert recorder.calls == ["build", "cleanup"]


@pytest.mark.parametrize("raised", [False, True])
def test_a_collected_scene_whose_recorder_failed_leaves_no_thread(still_scene, fake, raised):
    scene = still_scene()
    recorder = scene.start_recording(lambda: 0.0, fake(fail="process", at=0))
    scene.build()
    scene.step()
    while not scene.recorder_manager.agenda.reports:
        time.sleep(0.001)
    if raised:
        with pytest.raises(RecorderError):
            scene.step()
    thread = recorder._thread
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        del scene
        gc.collect()
    thread.join(30)
    assert not thread.is_alive()
    assert recorder.calls == ["build", "cleanup"]


def test_a_scene_that_was_not_built_or_was_stopped_is_collected_in_silence(still_scene, fake):
    scenes = [still_scene(), still_scene()]
    for scene in scenes:
        scene.start_recording(lambda: 0, fake())
    scene.build()
    scene.step()
    scene.stop_recording()
    del scenes, scene
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gc.collect()


@pytest.mark.filterwarnings("ignore:a scene was collected:simreel.errors.SimreelWarning")
@pytest.mark.parametrize("own", [True, False])
def test_the_collector_on_a_worker_does_not_deadlock(still_scene, fake, own):
    """The last reference goes, and the cycle is found, in `process` of the scene itself or of another one."""
    doomed, other = still_scene(), still_scene()
    recorders = [doomed.start_recording(lambda s=doomed: s.step_count, fake()) for _ in range(2)]
    host = recorders[0] if own else other.start_recording(lambda: 0, fake())
    doomed.build()
    other.build()
    collected, go = threading.Event(), threading.Event()

    def process(data, cur_time):
        if not collected.is_set():
            go.wait()
            gc.collect()
            collected.set()
        host.rows.append(data)

    host.process = process
    gc.disable()
    try:
        (doomed if own else other).step()
        if not own:
            doomed.step()
        del doomed
        go.set()
        assert collected.wait(30)
    finally:
        gc.enable()
    for recorder in recorders:
        recorder.stop()
        assert recorder.calls == ["build", "cleanup"]
        assert len(recorder.rows) == 1
    other.stop_recording()


@pytest.mark.filterwarnings("ignore:a scene was collected:simreel.errors.SimreelWarning")
@pytest.mark.parametrize("place", ["_head", "_pop_finished", "_is_urgent", "_has_work"])
def test_the_collector_within_the_queue_of_a_worker_loses_nothing(still_scene, fake, place, monkeypatch):
    """A collection may come at any allocation: here within what the worker does with its queue."""
    scene = still_scene()
    recorder = scene.start_recording(lambda s=scene: s.step_count, fake())
    scene.build()
    run(scene, 5)
    queue, armed, done = recorder._queue, threading.Event(), threading.Event()
    method = getattr(queue, place)

    def collecting():
        if armed.is_set() and threading.current_thread() is recorder._thread and not done.is_set():
            done.set()
            gc.collect()
        return method()

    queue_type = type(queue)
    monkeypatch.setattr(queue_type, place, lambda self: collecting() if self is queue else method.__func__(self))
    gc.disable()
    try:
        del scene
        armed.set()
        queue.wake()
        assert done.wait(30)
    finally:
        gc.enable()
    recorder.stop()
    assert recorder.rows == [0, 1, 2, 3, 4]
    assert recorder.calls == ["build", "cleanup"]


def test_many_recorders_and_episodes_lose_nothing(still_scene, fake):
    scene = still_scene()
    recorders = [scene.start_recording(lambda: scene.step_count, fake(buffer_size=7)) for _ in range(8)]
    scene.build()
    expected = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimreelWarning)
        for n in (5, 1, 40, 3) * 3:
            run(scene, n)
            scene.reset()
            expected += range(n + 1)
        scene.stop_recording()
    for recorder in recorders:
        assert recorder.rows == expected
        assert recorder.calls == ["build", *["reset"] * 12, "cleanup"]


@pytest.mark.parametrize("place", ["_close_open", "_ring"])
def test_ctrl_c_while_the_end_is_posted_leaves_it_to_the_next_stop(still_scene, fake, monkeypatch, place):
    scene = still_scene()
    recorder = scene.start_recording(lambda: scene.step_count, fake())
    scene.build()
    run(scene, 3)
    recorder.sync()

    def interrupt(self):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(recorder._queue), place, interrupt)
        with pytest.raises(KeyboardInterrupt):
            recorder._post_close()
    scene.stop_recording()
    assert recorder.rows[:3] == [0, 1, 2]
    assert recorder.calls == ["build", "cleanup"]


def test_a_scene_collected_by_a_thread_of_unknown_origin_leaves_no_dummy_thread(still_scene, fake):
    """As by a worker in its last instant: Python makes a lasting dummy for whoever asks for the current thread."""
    import _thread

    scene = still_scene()
    scene.start_recording(lambda s=scene: s.step_count, fake())
    scene.build()
    scene.stop_recording()
    done = _thread.allocate_lock()
    done.acquire()
    before = threading.enumerate()

    def collect():
        gc.collect()
        done.release()

    gc.disable()
    try:
        del scene
        _thread.start_new_thread(collect, ())
        assert done.acquire(timeout=30)
    finally:
        gc.enable()
    assert threading.enumerate() == before
