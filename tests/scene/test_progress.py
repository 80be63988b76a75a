from __future__ import annotations

from typing import TYPE_CHECKING

from simreel.scene.progress import Ticker

if TYPE_CHECKING:
    import pytest


def test_calls_come_at_most_twice_a_second_and_the_first_not_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("simreel.scene.progress.time.monotonic", lambda: now)
    calls = []
    ticker = Ticker(lambda: calls.append(now))
    for hundredths in range(10_000, 10_200):
        now = hundredths / 100
        ticker.tick()
    assert calls == [100.5, 101.0, 101.5]


def test_after_a_pause_one_call_comes_and_not_those_that_were_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("simreel.scene.progress.time.monotonic", lambda: now)
    calls = []
    ticker = Ticker(lambda: calls.append(now))
    for now in (0.5, 10.0, 10.1, 10.4, 10.5):  # noqa: B007 - the clock reads it
        ticker.tick()
    assert calls == [0.5, 10.0, 10.5]
