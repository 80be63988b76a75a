"""Which steps are sampled, and what becomes of the data that is returned for them."""

import gc
import weakref

import numpy as np
import pytest

import simreel as sr
from simreel.errors import RecorderError, SampleError, SimreelWarning


def steps_of(recorder):
    return [round(t / recorder.timing.dt) for t in recorder.times]


def run(scene, n):
    for _ in range(n):
        scene.step()


def test_a_thousand_steps_of_10_ms_at_50_hz_make_501_rows_with_the_last_state(still_scene, fake):
    scene = still_scene(0.01)
    recorder = scene.start_recording(lambda: scene.step_count, fake(hz=50))
    scene.build()
    scene.step(1000)
    scene.stop_recording()
    assert recorder.rows == list(range(0, 1001, 2))
    assert recorder.times == [k * 0.01 for k in range(0, 1001, 2)]


@pytest.mark.parametrize(
    ("steps", "hz", "taken"),
    [
        (7, 50, [0, 2, 4, 6]),
        (8, 50, [0, 2, 4, 6, 8]),
        (0, 50, [0]),
        (1, None, [0, 1]),
        (1, 50, [0]),
        (3, 1000, [0, 1, 2, 3]),
        (10, 1e-300, [0]),
        (10, 5e-324, [0]),
    ],
)
@pytest.mark.filterwarnings("ignore:.*hz=:simreel.errors.SimreelWarning")
def test_the_grid_starts_at_0_and_the_last_state_is_taken_where_it_is_due(still_scene, fake, steps, hz, taken):
    scene = still_scene(0.01)
    recorder = scene.start_recording(lambda: scene.step_count, fake(hz=hz))
    scene.build()
    run(scene, steps)
    scene.stop_recording()
    assert recorder.rows == taken == steps_of(recorder)


def test_a_reset_takes_the_last_state_and_a_stop_right_after_it_takes_nothing(still_scene, fake):
    scene = still_scene()
    recorder = scene.start_recording(lambda: scene.step_count, fake(hz=50))
    scene.build()
    run(scene, 4)
    scene.reset()
    assert recorder.rows == [0, 2, 4]
    assert recorder.calls == ["build", "reset"]
    scene.stop_recording()
    assert recorder.rows == [0, 2, 4]


def test_a_reset_without_a_step_takes_nothing_and_ends_no_episode(still_scene, fake):
    scene = still_scene()
    recorder = scene.start_recording(lambda: scene.step_count, fake())
    scene.build()
    scene.reset()
    scene.reset()
    assert recorder.rows == []
    run(scene, 1)
    scene.reset()
    scene.reset()
    assert recorder.rows == [0, 1]
    assert recorder.calls == ["build", "reset"]
    scene.stop_recording()
    assert recorder.status.received == 2


def test_each_episode_starts_at_step_0_again(still_scene, fake):
    scene = still_scene()
    recorder = scene.start_recording(lambda: scene.step_count, fake(hz=50))
    scene.build()
    for n in (3, 4, 1):
        run(scene, n)
        scene.reset()
    run(scene, 2)
    scene.stop_recording()
    assert recorder.rows == [0, 2, 0, 2, 4, 0, 0, 2]


def test_a_recorder_that_starts_in_mid_run_joins_the_grid(still_scene, fake):
    scene = still_scene()
    scene.build()
    run(scene, 3)
    first = scene.start_recording(lambda: scene.step_count, fake(hz=25))
    run(scene, 7)
    second = scene.start_recording(lambda: scene.step_count, fake())
    first.stop()
    run(scene, 2)
    scene.stop_recording()
    assert first.rows == [4, 8]
    assert second.rows == [10, 11, 12]


def test_pause_leaves_steps_out_and_a_paused_recorder_takes_no_last_state(still_scene, fake):
    scene = still_scene()
    recorder = scene.start_recording(lambda: scene.step_count, fake(hz=50))
    scene.build()
    run(scene, 5)
    recorder.pause()
    recorder.pause()
    run(scene, 4)
    recorder.resume()
    run(scene, 4)
    recorder.pause()
    run(scene, 1)
    scene.stop_recording()
    assert recorder.rows == [0, 2, 4, 10, 12] == steps_of(recorder)


def test_pausing_a_stopped_recorder_does_nothing(still_scene, fake):
    scene = still_scene()
    recorder = scene.start_recording(lambda: 0.0, fake())
    scene.build()
    recorder.stop()
    recorder.pause()
    recorder.resume()
    assert not scene.recorder_manager._paused
    assert not recorder.is_alive


def test_record_stop_record_on_one_scene(still_scene, fake):
    scene = still_scene()
    first = scene.start_recording(lambda: scene.step_count, fake())
    scene.build()
    run(scene, 2)
    scene.stop_recording()
    run(scene, 2)
    second = scene.start_recording(lambda: scene.step_count, fake())
    run(scene, 2)
    scene.stop_recording()
    scene.stop_recording()
    assert (first.rows, second.rows) == ([0, 1, 2], [4, 5, 6])


def test_recorders_of_different_rates_each_keep_theirs(still_scene, fake):
    scene = still_scene(0.01)
    recorders = {hz: scene.start_recording(lambda: scene.step_count, fake(hz=hz)) for hz in (100, 50, 20, 10)}
    scene.build()
    run(scene, 30)
    scene.stop_recording()
    assert {hz: r.rows for hz, r in recorders.items()} == {
        hz: list(range(0, 31, 100 // hz)) for hz in (100, 50, 20, 10)
    }


def test_all_recorders_of_a_step_see_one_state(fake):
    scene = sr.Scene()
    arm = scene.add_entity(sr.morphs.MJCF(sr.models.path("arm")))
    first = scene.start_recording(arm.get_qpos, fake())
    second = scene.start_recording(lambda: scene.data.qpos, fake())
    scene.build()
    scene.data.qvel[:] = 1
    run(scene, 20)
    scene.stop_recording()
    assert len(first.rows) == 21
    np.testing.assert_array_equal(first.rows, second.rows)
    assert len({row.tobytes() for row in first.rows}) == 21


# What the data function does.


def test_a_reused_buffer_and_a_live_view_are_copied(still_scene, fake):
    scene = still_scene()
    buffer = np.zeros(3)
    whole = np.zeros((4, 2))

    def fill():
        buffer[:] = scene.step_count
        return buffer

    def view():
        whole[:] = scene.step_count
        return whole[::2, 1]

    recorders = [scene.start_recording(fill, fake()), scene.start_recording(view, fake())]
    scene.build()
    run(scene, 5)
    scene.stop_recording()
    for recorder, n in zip(recorders, (3, 2), strict=True):
        np.testing.assert_array_equal(recorder.rows, [[k] * n for k in range(6)])


@pytest.mark.parametrize("hz", [10, 100])
def test_a_recorder_that_a_data_function_starts_misses_no_step(still_scene, fake, hz):
    scene = still_scene(0.01)
    inner = []

    def start():
        if scene.step_count == 10:
            inner.append(scene.start_recording(lambda: scene.step_count, fake(hz=50)))
        return scene.step_count

    outer = scene.start_recording(start, fake(hz=hz))
    scene.build()
    run(scene, 20)
    scene.stop_recording()
    assert outer.rows == list(range(0, 21, 100 // hz))
    assert inner[0].rows == [12, 14, 16, 18, 20]


def test_a_data_function_may_resume_another_recorder(still_scene, fake):
    scene = still_scene(0.01)

    def resume():
        if scene.step_count == 10:
            other.resume()
        return 0

    scene.start_recording(resume, fake(hz=10))
    other = scene.start_recording(lambda: scene.step_count, fake())
    other.pause()
    scene.build()
    run(scene, 13)
    scene.stop_recording()
    assert other.rows == [11, 12, 13]


@pytest.mark.parametrize("others", [0, 1])
def test_a_data_function_may_stop_its_own_recorder(still_scene, fake, others):
    scene = still_scene()
    calls = []

    def stop():
        calls.append(scene.step_count)
        if scene.step_count == 3:
            recorder.stop()
        return scene.step_count

    recorder = scene.start_recording(stop, fake())
    rest = [scene.start_recording(lambda: scene.step_count, fake()) for _ in range(others)]
    scene.build()
    run(scene, 6)
    scene.stop_recording()
    assert recorder.rows[:3] == [0, 1, 2]
    assert len(recorder.rows) <= 4
    assert calls.count(3) <= 2
    assert recorder.calls == ["build", "cleanup"]
    assert recorder.status.queued == 0
    assert all(other.rows == list(range(7)) for other in rest)


def test_a_data_function_may_stop_another_recorder_and_all(still_scene, fake):
    scene = still_scene()

    def stop():
        if scene.step_count == 2:
            second.stop()
        if scene.step_count == 4:
            scene.stop_recording()
        return scene.step_count

    first = scene.start_recording(stop, fake())
    second = scene.start_recording(lambda: scene.step_count, fake())
    third = scene.start_recording(lambda: scene.step_count, fake())
    scene.build()
    run(scene, 6)
    assert second.rows == [0, 1, 2]
    assert third.rows == [0, 1, 2, 3, 4]
    assert first.rows[:4] == [0, 1, 2, 3]
    for recorder in (first, second, third):
        assert recorder.status.queued == 0
        assert recorder.calls == ["build", "cleanup"]
    assert scene.recorders == ()
    assert scene.step_count == 6


def test_a_data_function_that_pauses_its_recorder_records_that_step(still_scene, fake):
    scene = still_scene()

    def pause():
        if scene.step_count == 2:
            recorder.pause()
        return scene.step_count

    recorder = scene.start_recording(pause, fake())
    scene.build()
    run(scene, 5)
    recorder.resume()
    run(scene, 1)
    scene.stop_recording()
    assert recorder.rows == [0, 1, 2, 5, 6]


@pytest.mark.parametrize("others", [0, 1])
def test_a_data_function_that_fails_ends_its_recorder_alone(still_scene, fake, others):
    scene = still_scene()

    def fail():
        if scene.step_count == 3:
            raise ZeroDivisionError("mine")
        return scene.step_count

    recorder = scene.start_recording(fail, fake())
    rest = [scene.start_recording(lambda: scene.step_count, fake()) for _ in range(others)]
    scene.build()
    run(scene, 3)
    with pytest.raises(RecorderError, match=r"step 3.*ZeroDivisionError: mine") as caught:
        scene.step()
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert scene.step_count == 4
    assert not recorder.is_alive
    run(scene, 3)
    scene.stop_recording()
    scene.stop_recording()
    assert recorder.rows == [0, 1, 2]
    assert recorder.calls == ["build", "cleanup"]
    assert "mine" in recorder.status.error
    assert all(other.rows == list(range(8)) for other in rest)


@pytest.mark.parametrize(
    ("later", "key", "text"),
    [
        ({"q": np.zeros(3), "v": 1.0}, "q", r"shape \(3,\)"),
        ({"q": np.zeros(2), "v": "x"}, "v", "str"),
        ({"q": np.zeros(2), "v": None}, "v", "NoneType"),
        ({"q": np.zeros(2), "v": 1j}, "v", "complex128"),
        ({"q": np.zeros(2), "v": True}, "v", "bool"),
        ({"q": np.zeros(2), "v": {"x": 1.0}}, "v", "a dict"),
        ({"q": np.zeros(2)}, "v", "no value"),
        ({"q": np.zeros(2), "v": 1.0, "w": 0.0}, "w", "a new key"),
        ({"q": np.zeros(2), "w": 1.0}, "v", "no value"),
        (np.zeros(2), None, "a value without keys"),
        ({}, None, "an empty dict"),
    ],
)
def test_data_unlike_the_first_is_an_error_that_names_the_key(still_scene, fake, later, key, text):
    scene = still_scene()
    recorder = scene.start_recording(lambda: later if scene.step_count == 2 else {"q": np.zeros(2), "v": 1.0}, fake())
    scene.build()
    run(scene, 2)
    with pytest.raises(SampleError, match=text) as caught:
        scene.step()
    assert caught.value.key == key
    assert key is None or repr(key) in str(caught.value)
    scene.stop_recording()
    assert len(recorder.rows) == 2
    assert scene.step_count == 3


@pytest.mark.parametrize("value", [None, object(), {"a": {1, 2}}, {"a": [1, [2, 3]]}, {"a": b"x"}, 2**70, {None: 1}])
def test_a_first_sample_of_a_wrong_type_is_raised_from_its_step(still_scene, fake, value):
    scene = still_scene()
    recorder = scene.start_recording(lambda: value, fake())
    other = scene.start_recording(lambda: 1.0, fake())
    scene.build()
    with pytest.raises(SampleError):
        scene.step()
    assert scene.step_count == 1
    scene.stop_recording()
    assert (recorder.rows, other.rows) == ([], [1.0, 1.0])


def test_what_the_recorder_refuses_is_raised_from_the_first_step(still_scene, fake):
    scene = still_scene()
    recorder = scene.start_recording(lambda: {"q": 1}, fake(fail="accept"))
    scene.build()
    with pytest.raises(SampleError, match="'q'"):
        scene.step()
    scene.step()
    scene.stop_recording()
    assert recorder.status.received == 0
    assert recorder.calls == ["build", "cleanup"]


def test_a_stopped_recorder_keeps_neither_the_scene_nor_the_data_function(still_scene, fake):
    class Owner:
        def __init__(self, scene):
            self.scene = scene

        def get(self):
            return self.scene.step_count

    scene = still_scene()
    owner = Owner(scene)
    recorder = scene.start_recording(owner.get, fake())
    failed = scene.start_recording(lambda s=scene: (s, 1 / 0), fake())
    scene.build()
    with pytest.raises(RecorderError):
        scene.step()
    scene.stop_recording()
    dead = weakref.ref(scene), weakref.ref(owner), weakref.ref(scene.recorder_manager)
    del scene, owner
    gc.collect()
    assert [ref() for ref in dead] == [None] * 3
    recorder.stop()
    failed.stop()
    recorder.sync()
    recorder.pause()
    assert recorder.rows == [0, 1]


def test_the_unstable_state_is_not_sampled_by_the_reset(fake):
    scene = sr.Scene()
    scene.add_entity(sr.morphs.MJCF(sr.models.path("cartpole")))
    recorder = scene.start_recording(lambda: scene.data.qpos, fake())
    scene.build()
    run(scene, 3)
    scene.data.qpos[0] = np.nan
    with pytest.raises(sr.errors.UnstableError):
        scene.step()
    scene.reset()
    scene.stop_recording()
    assert recorder.times == [0, scene.dt, 2 * scene.dt]


def test_a_warning_turned_into_an_error_at_a_start_leaves_no_recorder(still_scene, fake):
    scene = still_scene(0.01)
    with pytest.raises(SimreelWarning, match="hz=30"):
        scene.start_recording(lambda: 0, fake(hz=30))
    assert scene.recorders == ()


def test_the_last_recorder_keeps_its_grid_when_a_data_function_stops_the_other(still_scene, fake):
    scene = still_scene(0.01)

    def stop():
        if scene.step_count == 10:
            first.stop()
        return scene.step_count

    first = scene.start_recording(stop, fake())
    second = scene.start_recording(lambda: scene.step_count, fake(hz=10))
    scene.build()
    run(scene, 35)
    second.pause()
    second.resume()
    run(scene, 15)
    scene.stop_recording()
    assert second.rows == [0, 10, 20, 30, 40, 50]
