"""The handle that a user holds, and what an author of a recorder gets."""

import threading
import time

import numpy as np
import pytest

import simreel as sr
from simreel.errors import RecorderError, SimreelError, SyncTimeoutError
from simreel.recorders.base import format_bytes


def run(scene, n):
    for _ in range(n):
        scene.step()


def test_the_life_of_a_recorder_is_seen_on_its_handle(still_scene, fake):
    scene = still_scene()
    options = fake(hz=50)
    recorder = scene.start_recording(lambda: 0, options)
    assert recorder.options is options
    assert (recorder.is_alive, scene.is_recording) == (False, True)
    assert repr(recorder) == "<FakeOptions: not built, 0 samples>"
    scene.build()
    assert recorder.is_alive
    scene.step()
    assert repr(recorder) == "<FakeOptions: recording, 1 samples>"
    scene.stop_recording()
    assert not recorder.is_alive
    assert repr(recorder) == "<FakeOptions: stopped, 1 samples>"
    assert not scene.is_recording
    assert scene.recorders == ()


def test_a_failed_recorder_says_so(still_scene, fake):
    scene = still_scene()
    recorder = scene.start_recording(lambda: 1 / 0, fake())
    scene.build()
    with pytest.raises(RecorderError):
        scene.step()
    assert repr(recorder) == "<FakeOptions: failed, 0 samples>"
    assert not scene.is_recording
    scene.stop_recording()


@pytest.mark.parametrize("calls", [("stop", "stop"), ("stop_recording", "stop"), ("stop", "stop_recording")])
def test_stopping_twice_is_safe(still_scene, fake, calls):
    scene = still_scene()
    recorder = scene.start_recording(lambda: scene.step_count, fake())
    scene.build()
    run(scene, 3)
    for call in calls:
        (recorder.stop if call == "stop" else scene.stop_recording)()
    assert recorder.rows == [0, 1, 2, 3]
    assert recorder.calls == ["build", "cleanup"]


def test_a_recorder_stopped_before_build_opens_nothing(still_scene, fake):
    scene = still_scene()
    recorder = scene.start_recording(lambda: 0, fake())
    recorder.pause()
    recorder.resume()
    recorder.sync()
    recorder.stop()
    recorder.sync()
    recorder.stop()
    scene.build()
    scene.step()
    assert recorder.calls == []
    assert not recorder.is_alive


def test_a_recorder_paused_before_build_takes_nothing_until_resume(still_scene, fake):
    scene = still_scene()
    recorder = scene.start_recording(lambda: scene.step_count, fake())
    recorder.pause()
    scene.build()
    run(scene, 2)
    recorder.resume()
    run(scene, 2)
    scene.stop_recording()
    assert recorder.rows == [2, 3, 4]


@pytest.mark.parametrize("inline", [False, True])
def test_sync_returns_when_all_is_processed(still_scene, fake, inline):
    scene = still_scene()
    recorder = scene.start_recording(lambda: scene.step_count, fake(inline=inline))
    scene.build()
    recorder.sync()
    for k in range(1, 30):
        scene.step()
        recorder.sync()
        assert len(recorder.rows) == k
    recorder.sync(timeout=0)
    scene.stop_recording()


def test_sync_gives_up_after_its_timeout_and_the_recorder_goes_on(still_scene, gated):
    scene = still_scene()
    recorder = gated(scene, lambda: scene.step_count)
    scene.build()
    run(scene, 3)
    for timeout in (0, 0.01):
        with pytest.raises(SyncTimeoutError, match=r"FakeOptions: 3 samples are still queued") as caught:
            recorder.sync(timeout=timeout)
        assert isinstance(caught.value, TimeoutError)
        assert isinstance(caught.value, SimreelError)
    recorder.gate.set()
    recorder.sync(timeout=30)
    assert recorder.rows == [0, 1, 2]
    run(scene, 2)
    scene.stop_recording()
    assert recorder.rows == [0, 1, 2, 3, 4, 5]


def test_sync_of_a_paused_recorder_returns(still_scene, fake):
    scene = still_scene()
    recorder = scene.start_recording(lambda: scene.step_count, fake())
    scene.build()
    run(scene, 2)
    recorder.pause()
    run(scene, 2)
    recorder.sync()
    assert recorder.rows == [0, 1]
    scene.stop_recording()


def test_process_gets_what_the_data_function_returned(still_scene, fake):
    scene = still_scene()
    values = [{"a": [1, 2], "b": {"c": True}, "t": "text"}, 2.5, np.eye(2, dtype="f4"), {"data": 1}, "x"]
    recorders = [scene.start_recording(lambda value=value: value, fake()) for value in values]
    scene.build()
    scene.stop_recording()
    mixed, number, matrix, keyed, text = (recorder.rows[0] for recorder in recorders)
    assert list(mixed) == ["a", "b/c", "t"]
    assert mixed["a"].tolist() == [1, 2]
    assert mixed["b/c"].dtype == bool
    assert mixed["t"] == "text"
    assert isinstance(mixed["t"], str)
    assert number == 2.5
    assert (matrix.dtype, matrix.shape) == (np.float32, (2, 2))
    assert keyed == {"data": 1}
    assert text == "x"


def test_process_block_gets_consecutive_steps_and_their_times(still_scene, fake):
    scene = still_scene(0.1)
    recorder = scene.start_recording(lambda: {"k": scene.step_count, "x": [0.5, 1]}, fake(hz=5))
    blocks = []
    recorder.process_block = lambda *block: blocks.append(block)
    scene.build()
    run(scene, 5)
    recorder.pause()
    run(scene, 5)
    recorder.resume()
    run(scene, 2000)
    scene.stop_recording()
    for steps, times, columns in blocks:
        n = len(steps)
        assert (steps.dtype, times.dtype, times.shape) == (np.int64, np.float64, (n,))
        assert (np.diff(steps) == 2).all()
        np.testing.assert_array_equal(times, steps * 0.1)
        np.testing.assert_array_equal(columns["k"], steps)
        assert columns["x"].shape == (n, 2)
        assert not columns["x"].flags.writeable
    assert np.concatenate([steps for steps, _, _ in blocks]).tolist() == [0, 2, 4, *range(10, 2011, 2)]
    assert recorder.status.written == 3 + 1001


def test_times_are_multiples_of_the_step_and_never_add_up(still_scene, fake):
    scene = still_scene(0.1)
    recorder = scene.start_recording(lambda: 0, fake())
    scene.build()
    run(scene, 3000)
    scene.stop_recording()
    assert recorder.times == [k * 0.1 for k in range(3001)]


def test_a_handle_outlives_its_scene(still_scene, fake):
    scene = still_scene()
    recorder = scene.start_recording(lambda: 0, fake())
    scene.build()
    scene.destroy()
    del scene
    recorder.stop()
    recorder.pause()
    recorder.resume()
    recorder.sync()
    assert recorder.rows == [0]


def test_a_minimal_recorder_needs_process_alone(still_scene):
    class Options(sr.recorders.RecorderOptions):
        pass

    @sr.register_recording(Options)
    class Minimal(sr.Recorder):
        def process(self, data, cur_time):
            got.append((cur_time, data))

    got: list = []
    scene = still_scene()
    scene.start_recording(lambda: 1, Options())
    scene.build()
    run(scene, 2)
    scene.reset()
    scene.stop_recording()
    assert got == [(0, 1), (0.01, 1), (0.02, 1)]


def test_when_no_thread_can_start_what_was_built_is_closed(still_scene, fake, monkeypatch):
    scene = still_scene()
    recorder = scene.start_recording(lambda: 0, fake())

    def start(self):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        with pytest.raises(RecorderError, match="opening: RuntimeError: can't start new thread"):
            scene.build()
    assert recorder.calls == ["build", "cleanup"]
    scene.build()
    assert scene.recorders == ()


def test_the_status_may_be_read_while_a_sample_is_written(still_scene, gated):
    scene = still_scene()
    recorder = gated(scene, lambda: 0)
    scene.build()
    scene.step()
    recorder.entered.wait()
    start = time.monotonic()
    assert recorder.status.queued == 1
    assert recorder.is_alive
    assert time.monotonic() - start < 10
    recorder.gate.set()
    scene.stop_recording()


@pytest.mark.parametrize(
    ("n", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (9949, "9.9 kB"), (9999, "10 kB"), (46_100, "46 kB"),
     (999_499, "999 kB"), (999_500, "1.0 MB"), (1.5e9, "1.5 GB"), (2e12, "2.0 TB")],
)  # fmt: skip
def test_sizes_are_told_in_the_largest_unit(n, text):
    assert format_bytes(n) == text
