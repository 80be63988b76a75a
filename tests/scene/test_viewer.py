from __future__ import annotations

import logging

import pytest

import simreel as sr
from simreel.scene import scene as scene_module
from simreel.scene.viewer import Viewer


class Handle:
    def __init__(self) -> None:
        self.calls: list[str] = []
        self.running = True

    def is_running(self) -> bool:
        return self.running

    def sync(self) -> None:
        self.calls.append("sync")

    def close(self) -> None:
        self.calls.append("close")


@pytest.mark.skipif("sys.platform != 'linux'", reason="other systems always have a display")
def test_without_a_display_the_scene_runs_and_says_why_there_is_no_window(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    scene = sr.Scene(show_viewer=True)
    scene.add_entity(sr.morphs.MJCF(sr.models.path("arm")))
    with caplog.at_level(logging.INFO, "simreel"):
        scene.build()
        scene.step(3)
    assert "no viewer: there is no display" in caplog.text


def test_the_window_follows_the_run_until_the_user_closes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    handle, now = Handle(), 0.0
    monkeypatch.setattr("simreel.scene.progress.time.monotonic", lambda: now)
    monkeypatch.setattr(scene_module, "open_viewer", lambda model, data, options: Viewer(handle))
    scene = sr.Scene(show_viewer=True, viewer_options=sr.options.ViewerOptions(fps=8))
    scene.add_entity(sr.morphs.MJCF(sr.models.path("arm")))
    scene.build()
    for _ in range(10):
        now += 0.0625
        scene.step()
    assert handle.calls == ["sync"] * 5
    handle.running = False
    now += 1
    scene.step()
    assert handle.calls == ["sync"] * 5
    scene.destroy()
    assert handle.calls[-1] == "close"
