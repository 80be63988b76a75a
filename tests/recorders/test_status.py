"""The counts add up, whoever looks and when."""

import threading
import time
from contextlib import suppress

import pytest

from simreel.errors import RecorderError
from simreel.recorders import RecorderStatus


def adds_up(status):
    return (
        status.received == status.written + status.dropped + status.queued
        and min(status.received, status.written, status.dropped, status.queued) >= 0
    )


def test_a_recorder_that_was_not_built_has_counted_nothing(still_scene, fake):
    scene = still_scene()
    recorder = scene.start_recording(lambda: 0, fake())
    assert recorder.status == RecorderStatus(0, 0, 0, 0, 0, None)
    recorder.stop()
    assert recorder.status == RecorderStatus(0, 0, 0, 0, 0, None)


def test_what_is_being_processed_is_queued(still_scene, gated):
    scene = still_scene()
    recorder = gated(scene, lambda: 0)
    scene.build()
    scene.step()
    recorder.entered.wait()
    scene.step()
    assert recorder.status == RecorderStatus(2, 0, 0, 2, 0, None)
    recorder.gate.set()
    recorder.sync()
    assert recorder.status == RecorderStatus(2, 2, 0, 0, 0, None)
    scene.stop_recording()
    assert recorder.status == RecorderStatus(3, 3, 0, 0, 0, None)


def test_a_status_is_frozen(still_scene, fake):
    recorder = still_scene().start_recording(lambda: 0, fake())
    with pytest.raises(AttributeError):
        recorder.status.written = 3


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"buffer_size": 3, "when_full": "drop_oldest", "buffer_full_wait_time": 0},
        {"buffer_bytes": 700, "when_full": "drop_oldest", "buffer_full_wait_time": 0},
        {"buffer_size": 300, "buffer_full_wait_time": 1},
        {"fail": "process", "at": 700},
    ],
    ids=str,
)
def test_the_counts_add_up_at_every_moment_seen_from_another_thread(still_scene, fake, options):
    scene = still_scene()
    recorder = scene.start_recording(lambda: scene.step_count, fake(**options))
    scene.build()
    wrong, seen, stop = [], [0], threading.Event()

    def watch():
        last = recorder.status
        while not stop.is_set():
            status = recorder.status
            seen[0] += 1
            grows = status.received >= last.received and status.written >= last.written
            if not (adds_up(status) and grows and status.dropped >= last.dropped):
                wrong.append((last, status))
            last = status
            time.sleep(1e-4)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for _ in range(4000):
            with suppress(RecorderError):
                scene.step()
        with suppress(RecorderError):
            scene.stop_recording()
    finally:
        stop.set()
        watcher.join()
    assert not wrong
    assert seen[0]
    status = recorder.status
    assert status.queued == 0
    assert status.written == len(recorder.rows)
    if "fail" in options:
        assert (status.written, "fake process" in status.error) == (700, True)
    else:
        assert status.received == 4001
        assert (status.dropped > 0) == ("when_full" in options)
