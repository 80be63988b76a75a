"""When a window process is given up, by a clock that a test sets."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from simreel.recorders.plots import window
from simreel.recorders.plots.window import Window, WindowGoneError


class Waiting:
    """A wait for a window process that does nothing; each look takes 0.05 s."""

    def __init__(self, monkeypatch, states, pauses):
        self.now, self.looks, self.states, self.pauses = 100.0, 0, states, pauses
        monkeypatch.setattr(window, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(Window, "is_alive", True)
        monkeypatch.setattr(Window, "_state", lambda _: self.states(self.looks))
        self.window = Window.__new__(Window)
        self.window._pulse = SimpleNamespace(turns=5, longest_us=0, is_first=0)
        self.channel = SimpleNamespace(header=SimpleNamespace(sender_waits=0), listen=self.listen)

    def listen(self, timeout):
        self.looks += 1
        self.now += timeout + self.pauses.get(self.looks, 0.0)

    def wait(self, looks):
        self.window.wait(self.channel, lambda: self.looks >= looks)


def test_a_window_that_alone_is_stopped_is_given_up_after_a_second(monkeypatch):
    waiting = Waiting(monkeypatch, lambda look: "T", {})
    with pytest.raises(WindowGoneError, match="is stopped"):
        waiting.wait(1000)
    assert 1.0 < waiting.now - 100 < 1.2


@pytest.mark.parametrize("state", ["T", "S", "R"])
def test_time_in_which_the_simulation_did_not_run_does_not_count(monkeypatch, state):
    # The whole job is stopped for an hour, three times; the window goes on just after the simulation.
    stops = {5: 3600.0, 9: 3600.0, 13: 3600.0}
    waiting = Waiting(monkeypatch, lambda look: state if look in stops else "S", stops)
    waiting.wait(17)


def test_one_look_at_a_stopped_window_is_not_enough(monkeypatch):
    waiting = Waiting(monkeypatch, lambda look: "R" if look % 2 else "T", {})
    with pytest.raises(WindowGoneError, match="has drawn nothing for"):
        waiting.wait(1000)


def test_a_window_that_computes_has_ten_seconds(monkeypatch):
    waiting = Waiting(monkeypatch, lambda look: "R", {})
    with pytest.raises(WindowGoneError, match=r"has drawn nothing for 10\.0 s"):
        waiting.wait(1000)
