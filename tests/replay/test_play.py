import logging
from functools import partial

import pytest

import simreel as sr
from simreel.errors import FieldError, SceneStateError
from simreel.reel import Reel
from simreel.replay import playing
from simreel.replay.pacing import paced
from simreel.scene.viewer import Viewer


class Clock:
    def __init__(self):
        self.time = 0.0

    def now(self):
        return self.time

    def sleep(self, seconds):
        self.time += seconds


class Handle:
    """MuJoCo's viewer, which somebody closes after some pictures."""

    def __init__(self, scene, clock, pictures):
        self.scene, self.clock, self.pictures = scene, clock, pictures
        self.shown = []

    def is_running(self):
        return len(self.shown) < self.pictures

    def sync(self):
        self.shown.append((round(self.clock.time, 9), self.scene.step_count))

    def close(self):
        pass


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(playing, "paced", partial(paced, now=clock.now, sleep=clock.sleep))
    return clock


@pytest.fixture
def watch(clock, monkeypatch):
    """`watch(path, pictures, fps)` opens a trajectory with a viewer that is closed after so many pictures."""
    opened = []

    def watch(path, pictures=10**6, fps=60):
        handles = []

        def open_viewer(model, data, options):
            handles.append(Handle(None, clock, pictures))
            return Viewer(handles[0])

        monkeypatch.setattr("simreel.scene.scene.open_viewer", open_viewer)
        options = sr.options.ViewerOptions(fps=fps)
        traj = sr.Scene.load_trajectory(path, show_viewer=True, viewer_options=options)
        opened.append(traj)
        handles[0].scene = traj.scene
        return traj, handles[0]

    yield watch
    for traj in opened:
        traj.scene.destroy()
        traj.close()


def test_play_takes_the_time_of_the_run_and_ends_at_its_last_frame(made, record, clock):
    with sr.Scene.load_trajectory(record(made("arm"), 200)) as traj:
        traj.play()
        assert clock.time == pytest.approx(0.4)
        assert traj.scene.step_count == 200


@pytest.mark.parametrize(("speed", "seconds"), [(0.1, 4.0), (4, 0.1)])
def test_speed_is_simulated_time_for_wall_time(made, record, clock, speed, seconds):
    with sr.Scene.load_trajectory(record(made("arm"), 200)) as traj:
        traj.play(speed=speed)
    assert clock.time == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("start", "stop", "seconds", "last"), [(50, 101, 0.1, 100), (-51, None, 0.1, 200), (None, -100, 0.2, 100)]
)
def test_a_part_is_played(made, record, clock, start, stop, seconds, last):
    with sr.Scene.load_trajectory(record(made("arm"), 200)) as traj:
        traj.play(start=start, stop=stop)
        assert traj.scene.step_count == last
    assert clock.time == pytest.approx(seconds)


def test_a_recording_of_some_steps_plays_at_the_same_pace(made, record, clock):
    with sr.Scene.load_trajectory(record(made("arm"), 200, hz=50)) as traj:
        traj.play()
    assert clock.time == pytest.approx(0.4)


def test_the_viewer_gets_as_many_pictures_as_it_asks_for_each_at_its_time(made, record, watch):
    traj, handle = watch(record(made("arm"), 200), fps=50)
    traj.play()
    assert handle.shown == [(pytest.approx(0.02 * i), 10 * i) for i in range(21)]


def test_a_viewer_that_is_closed_ends_it(made, record, watch):
    traj, handle = watch(record(made("arm"), 200), pictures=4, fps=50)
    traj.play()
    assert [step for _, step in handle.shown] == [0, 10, 20, 30]


def test_a_loop_plays_until_the_viewer_is_closed(made, record, watch):
    traj, handle = watch(record(made("arm"), 40), pictures=12, fps=50)
    traj.play(loop=True)
    assert [step for _, step in handle.shown] == [0, 10, 20, 30, 40, 0, 10, 20, 30, 40, 0, 10]


def test_a_loop_without_a_viewer_is_an_error(made, record, clock):
    with sr.Scene.load_trajectory(record(made("arm"), 5)) as traj, pytest.raises(SceneStateError, match="viewer"):
        traj.play(loop=True)


@pytest.mark.parametrize("speed", [0, -1, float("inf"), float("nan")])
def test_a_speed_that_is_none_is_an_error(made, record, clock, speed):
    with sr.Scene.load_trajectory(record(made("arm"), 5)) as traj, pytest.raises(FieldError, match="speed"):
        traj.play(speed=speed)


def test_a_part_without_frames_is_an_error(made, record, clock):
    with sr.Scene.load_trajectory(record(made("arm"), 5)) as traj, pytest.raises(FieldError, match="start=7"):
        traj.play(start=7)


def test_lost_frames_are_left_out_with_a_note(made, record, clock, caplog):
    path = record(made("arm"), 50, chunk_size=10)
    with Reel.open(path) as reel:
        at = reel._frames.table.offsets[2]
    raw = bytearray(path.read_bytes())
    raw[at + 60] ^= 1
    path.write_bytes(raw)
    with caplog.at_level(logging.INFO, "simreel"), sr.Scene.load_trajectory(path) as traj:
        traj.play()
        assert traj.scene.step_count == 50
    assert clock.time == pytest.approx(0.1)
    assert [record.getMessage() for record in caplog.records if "left out" in record.getMessage()] == [
        f"{path}: frames 20 to 29 are lost and left out"
    ]


def test_worlds_have_no_viewer_which_is_told(made, record, clock, caplog):
    path = record(made("arm", 2), 5)
    with caplog.at_level(logging.INFO, "simreel"):
        traj = sr.Scene.load_trajectory(path, show_viewer=True)
    assert "no viewer" in caplog.text
    traj.play()
    assert traj.scene.step_count.tolist() == [5, 5]
    traj.close()
