from itertools import islice

import pytest

from simreel.replay.pacing import paced


class Clock:
    """Time that passes only where somebody sleeps, or works."""

    def __init__(self):
        self.time = 1000.0

    def now(self):
        return self.time

    def sleep(self, seconds):
        assert seconds > 0
        self.time += seconds


@pytest.fixture
def clock():
    return Clock()


def play(clock, frames, interval, work=lambda frame: 0.0, **options):
    """Frames and when they came, since the start."""
    shown = []
    for frame in paced(frames, interval, now=clock.now, sleep=clock.sleep, **options):
        shown.append((frame, clock.time - 1000))
        clock.time += work(frame)
    return shown


def test_each_frame_comes_when_it_is_due(clock):
    shown = play(clock, 5, 0.25)
    assert [frame for frame, _ in shown] == [0, 1, 2, 3, 4]
    assert [when for _, when in shown] == pytest.approx([0, 0.25, 0.5, 0.75, 1])


def test_work_between_frames_adds_up_to_nothing(clock):
    shown = play(clock, 10_001, 0.01, work=lambda frame: 0.004 + 0.005 * (frame % 2))
    assert len(shown) == 10_001
    assert shown[-1][1] == pytest.approx(100, abs=1e-6)


def test_frames_that_are_late_are_left_out_and_the_end_is_on_time(clock):
    shown = play(clock, 129, 1 / 64, work=lambda frame: 3.5 / 64)
    frames = [frame for frame, _ in shown]
    assert frames[:4] == [0, 3, 7, 10]
    assert frames[-1] == 128
    assert shown[-1][1] == pytest.approx(2, abs=3.5 / 64)


def test_one_slow_frame_is_caught_up_with_at_once(clock):
    shown = play(clock, 30, 0.1, work=lambda frame: 1.05 if frame == 3 else 0.0)
    assert [frame for frame, _ in shown] == [0, 1, 2, 3, *range(13, 30)]
    assert shown[-1] == (29, pytest.approx(2.9))


def test_the_last_frame_is_shown_however_late(clock):
    assert [frame for frame, _ in play(clock, 10, 0.01, work=lambda frame: 60.0)] == [0, 9]


def test_a_loop_goes_on_at_the_same_pace_and_shows_the_end_of_each_round(clock):
    rounds = paced(3, 0.5, loop=True, now=clock.now, sleep=clock.sleep)
    shown = [(frame, clock.time - 1000) for frame in islice(rounds, 7)]
    assert shown == [(0, 0.0), (1, 0.5), (2, 1.0), (0, 1.5), (1, 2.0), (2, 2.5), (0, 3.0)]


def test_a_window_that_is_closed_ends_it_within_the_wait_for_a_frame(clock):
    shown = play(clock, 5, 60.0, is_open=lambda: clock.time < 1090)
    assert [frame for frame, _ in shown] == [0, 1]
    assert clock.time == pytest.approx(1090, abs=0.2)


def test_one_frame_is_shown_at_once(clock):
    assert play(clock, 1, 1.0) == [(0, 0.0)]
