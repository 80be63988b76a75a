"""What a recorder does wrong ends that recorder, in good order, and is told once."""

import logging
import sys
import threading
import time

import pytest

from simreel.errors import RecorderError, RecorderErrorGroup, SampleError, SimreelError


def run(scene, n):
    for _ in range(n):
        scene.step()


def step_until_it_fails(scene):
    for _ in range(1000):
        scene.step()
        time.sleep(0.001)


@pytest.mark.parametrize("inline", [False, True])
def test_samples_are_processed_on_a_thread_of_their_own_or_within_the_step(still_scene, fake, inline):
    scene = still_scene()
    recorder = scene.start_recording(lambda: scene.step_count, fake(inline=inline))
    scene.build()
    for k in range(5):
        scene.step()
        if inline:
            assert recorder.rows == list(range(k + 1))
            assert recorder.status.queued == 0
    scene.stop_recording()
    assert recorder.rows == list(range(6))
    assert (recorder.threads == {threading.current_thread()}) == inline


@pytest.mark.parametrize("at", [0, 1, 5])
@pytest.mark.parametrize("inline", [False, True])
def test_a_failure_at_a_sample_keeps_the_rows_before_and_leaves_the_others_alone(still_scene, fake, at, inline):
    scene = still_scene()
    recorder = scene.start_recording(lambda: scene.step_count, fake(fail="process", at=at, inline=inline))
    other = scene.start_recording(lambda: scene.step_count, fake())
    scene.build()
    with pytest.raises(RecorderError, match=r"writing: ValueError: fake process") as caught:
        step_until_it_fails(scene)
    assert isinstance(caught.value.__cause__, ValueError)
    steps = scene.step_count
    if inline:
        assert steps == at + 1
    run(scene, 20)
    scene.stop_recording()
    scene.stop_recording()
    assert recorder.rows == list(range(at))
    assert recorder.calls == ["build", "cleanup"]
    status = recorder.status
    assert (status.written, status.queued) == (at, 0)
    assert status.dropped == status.received - at >= 1
    assert "fake process" in status.error
    assert other.rows == list(range(steps + 21))


@pytest.mark.parametrize("call", ["sync", "stop", "stop_recording", "step", "reset"])
def test_an_error_on_a_worker_is_raised_by_the_next_call_once(still_scene, fake, call):
    scene = still_scene()
    recorder = scene.start_recording(lambda: scene.step_count, fake(fail="process", at=0))
    other = scene.start_recording(lambda: scene.step_count, fake())
    scene.build()
    scene.step()
    while not scene.recorder_manager.agenda.reports:
        time.sleep(0.001)
    # Those of another recorder do not raise it.
    other.sync()
    other.pause()
    other.resume()
    actions = {
        "sync": recorder.sync,
        "stop": recorder.stop,
        "stop_recording": scene.stop_recording,
        "step": scene.step,
        "reset": scene.reset,
    }
    with pytest.raises(RecorderError, match="fake process"):
        actions[call]()
    recorder.sync()
    recorder.stop()
    scene.step()
    scene.reset()
    scene.stop_recording()


def test_a_failure_that_nobody_has_seen_is_raised_by_the_stop(still_scene, gated):
    scene = still_scene()
    recorder = gated(scene, lambda: scene.step_count, fail="process", at=3)
    scene.build()
    run(scene, 6)
    recorder.gate.set()
    with pytest.raises(RecorderError, match="fake process"):
        scene.stop_recording()
    scene.stop_recording()
    assert recorder.rows == [0, 1, 2]
    assert recorder.status.dropped == 4


@pytest.mark.parametrize("inline", [False, True])
def test_a_failing_close_is_raised_by_the_stop_and_the_others_are_closed(still_scene, fake, inline):
    scene = still_scene()
    recorder = scene.start_recording(lambda: scene.step_count, fake(fail="cleanup", inline=inline))
    other = scene.start_recording(lambda: scene.step_count, fake())
    scene.build()
    run(scene, 3)
    with pytest.raises(RecorderError, match="closing: ValueError: fake cleanup"):
        scene.stop_recording()
    scene.stop_recording()
    assert recorder.rows == other.rows == [0, 1, 2, 3]
    assert other.calls == recorder.calls == ["build", "cleanup"]
    assert "fake cleanup" in recorder.status.error


@pytest.mark.parametrize("inline", [False, True])
def test_a_failing_reset_ends_the_recorder_and_the_scene_is_reset(still_scene, fake, inline):
    scene = still_scene()
    recorder = scene.start_recording(lambda: scene.step_count, fake(fail="reset", inline=inline))
    other = scene.start_recording(lambda: scene.step_count, fake())
    scene.build()
    run(scene, 2)
    with pytest.raises(RecorderError, match="ending an episode: ValueError: fake reset"):
        scene.reset()
    assert scene.step_count == 0
    run(scene, 2)
    scene.stop_recording()
    assert recorder.rows == [0, 1, 2]
    assert recorder.calls == ["build", "reset", "cleanup"]
    assert other.rows == [0, 1, 2, 0, 1, 2]


def test_a_close_that_fails_after_an_error_is_a_note_of_that_error(still_scene, fake, caplog):
    scene = still_scene()

    def cleanup():
        raise SystemExit("second")

    recorder = scene.start_recording(lambda: scene.step_count, fake(fail="process", at=1))
    recorder.cleanup = cleanup
    scene.build()
    run(scene, 2)
    with pytest.raises(RecorderError, match="fake process") as caught:
        scene.stop_recording()
    assert "second" in caught.value.__notes__[0]
    assert "second" in caplog.text


def test_an_error_of_ours_is_raised_as_it_is(still_scene, fake):
    scene = still_scene()
    recorder = scene.start_recording(lambda: scene.step_count, fake())

    def process(data, cur_time):
        raise SampleError("q", "bad", "good needed")

    recorder.process = process
    scene.build()
    scene.step()
    with pytest.raises(SampleError, match="'q'"):
        scene.stop_recording()


def test_sys_exit_on_a_worker_ends_the_recorder_and_not_the_run(still_scene, fake):
    scene = still_scene()
    recorder = scene.start_recording(lambda: scene.step_count, fake())
    recorder.process = lambda data, cur_time: sys.exit(3)
    scene.build()
    scene.step()
    with pytest.raises(RecorderError, match="SystemExit: 3"):
        scene.stop_recording()


def test_ctrl_c_while_a_sample_is_written_within_the_step_stays_ctrl_c(still_scene, fake):
    scene = still_scene()
    recorder = scene.start_recording(lambda: scene.step_count, fake(inline=True))
    other = scene.start_recording(lambda: scene.step_count, fake())
    scene.build()
    run(scene, 2)
    process = recorder.process

    def interrupted(data, cur_time):
        recorder.process = process
        raise KeyboardInterrupt

    recorder.process = interrupted
    with pytest.raises(KeyboardInterrupt):
        scene.step()
    assert scene.step_count == 2
    with pytest.raises(RecorderError, match="KeyboardInterrupt"):
        run(scene, 2)
    run(scene, 5 - scene.step_count)
    scene.stop_recording()
    assert recorder.rows == [0, 1]
    assert recorder.calls == ["build", "cleanup"]
    assert other.rows == [0, 1, 2, 3, 4, 5]
    assert recorder.status.queued == 0


def test_several_errors_make_one_group_that_is_a_simreel_error(still_scene, fake):
    scene = still_scene()

    def fail():
        if scene.step_count == 2:
            raise ZeroDivisionError
        return 0

    recorders = [scene.start_recording(fail, fake()) for _ in range(2)]
    good = scene.start_recording(lambda: scene.step_count, fake())
    scene.build()
    run(scene, 2)
    with pytest.raises(RecorderErrorGroup) as caught:
        scene.step()
    group = caught.value
    assert isinstance(group, ExceptionGroup)
    assert isinstance(group, SimreelError)
    assert [type(error.__cause__) for error in group.exceptions] == [ZeroDivisionError] * 2
    caught_by_star = []
    try:
        raise group
    except* RecorderError as errors:
        caught_by_star += errors.exceptions
    assert len(caught_by_star) == 2
    run(scene, 2)
    scene.stop_recording()
    assert good.rows == [0, 1, 2, 3, 4, 5]
    assert [recorder.status.written for recorder in recorders] == [2, 2]


def test_errors_of_closing_make_a_group_too_and_every_recorder_is_closed(still_scene, fake):
    scene = still_scene()
    recorders = [scene.start_recording(lambda: 0, fake(fail="cleanup" * (i != 1))) for i in range(3)]
    scene.build()
    with pytest.raises(RecorderErrorGroup, match="2 recorders ended"):
        scene.stop_recording()
    assert all(recorder.calls == ["build", "cleanup"] for recorder in recorders)


@pytest.mark.filterwarnings("ignore:.*queue is full:simreel.errors.SimreelWarning")
def test_a_recorder_that_failed_does_not_hold_the_run_up(still_scene, fake):
    scene = still_scene()
    recorder = scene.start_recording(
        lambda: scene.step_count, fake(fail="process", at=0, buffer_size=1, buffer_full_wait_time=0)
    )
    scene.build()
    errors = 0
    for _ in range(300):
        try:
            scene.step()
        except RecorderError:
            errors += 1
    try:
        scene.stop_recording()
    except RecorderError:
        errors += 1
    assert errors == 1
    assert scene.step_count == 300
    assert recorder.rows == []


def test_workers_end_with_the_stop_and_are_named_after_their_recorder(still_scene, fake):
    scene = still_scene()
    recorder = scene.start_recording(lambda: 0, fake())
    scene.build()
    thread = recorder._thread
    assert thread.name == "simreel FakeOptions"
    assert thread.daemon
    scene.stop_recording()
    thread.join(30)
    assert not thread.is_alive()


def test_an_idle_worker_sleeps(still_scene, fake):
    """No polling: its thread takes no processor time."""
    scene = still_scene()
    recorder = scene.start_recording(lambda: 0, fake())
    used = []
    recorder.reset = lambda envs_idx=None: used.append(time.thread_time())
    scene.build()
    run(scene, 2)
    scene.reset()
    time.sleep(0.3)
    scene.step()
    scene.reset()
    scene.stop_recording()
    assert used[1] - used[0] < 0.1


def test_a_summary_line_is_logged_at_the_stop(still_scene, fake, caplog):
    caplog.set_level(logging.INFO, "simreel")
    scene = still_scene()
    recorder = scene.start_recording(lambda: 0, fake())
    scene.build()
    run(scene, 4)
    recorder.bytes_written = 46_100
    scene.stop_recording()
    scene.stop_recording()
    assert [r.getMessage() for r in caplog.records] == ["FakeOptions: 5 samples, 0 dropped, 46 kB"]
