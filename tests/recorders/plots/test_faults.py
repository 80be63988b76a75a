"""Windows that are closed, stopped or killed, and plotters that fail: the simulation goes on, and all is told once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from simreel.errors import PlotError, SimreelWarning
from simreel.recorders import MPLImagePlot, MPLLinePlot, MPLPlot, PyQtLinePlot

SIZE = (320, 240)


@pytest.fixture
def plotter(tmp_path, monkeypatch):
    """Options of a plot whose plotter is in a module of its own, written for the test."""
    made = []

    def make(draw, setup="pass", **options):
        name = f"plotter_of_a_test_{os.getpid()}_{len(made)}"
        text = f"""
            import os, time
            from simreel.recorders import Plotter

            class Drawn(Plotter):
                def setup(self, figure, first):
                    self.figure, self.count = figure, 0
                    {setup}

                def draw(self, samples):
                    self.count += 1
                    {draw}
        """
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
        monkeypatch.syspath_prepend(str(tmp_path))
        made.append(type("Drawn", (MPLPlot,), {"plotter": f"{name}:Drawn", "__module__": __name__}))
        return made[-1](window_size=SIZE, **options)

    return make


def drawn(recorder):
    """Whether the window process has taken samples."""
    return recorder.link is not None and recorder.link._header.tail > 0


def warnings_of(caught):
    return [str(each.message) for each in caught if issubclass(each.category, SimreelWarning)]


def steps_slowly(scene, steps):
    for _ in range(steps):
        scene.step()
        time.sleep(0.005)
        scene.recorders[0].sync()


@pytest.mark.parametrize("kind", [MPLLinePlot, PyQtLinePlot])
def test_a_window_appears_and_draws_what_it_is_sent(plotted, display, kind, until):
    recorder = plotted.plot(lambda: np.sin(plotted.step / 10), kind(window_size=SIZE, title="Seen"))
    plotted.run(5)
    until(lambda: drawn(recorder))
    plotted.scene.step(50)
    until(lambda: recorder.link._header.tail == recorder.link._header.head)
    assert recorder.get_image_array().shape == (240, 320, 3)
    plotted.scene.stop_recording()
    assert recorder.status.received == recorder.status.written == 56


def test_at_most_thirty_drawings_a_second_and_none_without_samples(plotted, display, plotter, tmp_path, until):
    counts = tmp_path / "counts"
    draw = f"open({str(counts)!r}, 'a').write(f'{{time.monotonic()}} {{len(samples)}}\\n')"
    recorder = plotted.plot(lambda: plotted.step, plotter(draw))
    plotted.run(1)
    until(counts.exists)
    for _ in range(400):
        plotted.scene.step()
        time.sleep(0.002)
    time.sleep(0.3)
    before = len(counts.read_text().splitlines())
    time.sleep(0.3)
    times = [float(line.split()[0]) for line in counts.read_text().splitlines()]
    assert len(times) == before
    assert len(times) > 3
    assert min(np.diff(times[1:])) > 0.032
    assert recorder.status.dropped > 0, "samples that nobody saw are counted"
    assert recorder.status.written + recorder.status.dropped == recorder.status.received == 401


def test_a_window_that_the_user_closes_ends_itself_alone(plotted, display, plotter, until):
    close = "self.figure.canvas.window().close() if self.count == 2 else None"
    closed = plotted.plot(lambda: plotted.step, plotter(close, title="Closed"))
    other = plotted.plot(lambda: plotted.step, MPLLinePlot(window_size=SIZE))
    plotted.run(5)
    until(lambda: drawn(closed) and drawn(other))
    with pytest.warns(SimreelWarning, match="Closed: its window was closed") as caught:
        steps_slowly(plotted.scene, 200)
    assert len(warnings_of(caught)) == 1
    assert other.get_image_array().shape == (240, 320, 3)
    plotted.scene.stop_recording()
    assert closed.status.dropped > 50
    assert closed.status.written + closed.status.dropped == closed.status.received == 206


def test_a_video_goes_on_when_its_window_is_closed(plotted, display, tmp_path, plotter, until, watch):
    close = "from PySide6.QtWidgets import QApplication; [w.close() for w in QApplication.topLevelWidgets()]"
    options = plotter(close, save_to_filename=tmp_path / "a.mp4")
    recorder = plotted.plot(lambda: plotted.step, options)
    plotted.run(40)
    recorder.sync()
    with pytest.warns(SimreelWarning, match="its window was closed"):
        plotted.scene.stop_recording()
    assert len(watch(tmp_path / "a.mp4")) == 41 == recorder.status.written


@pytest.mark.parametrize("how", [signal.SIGSTOP, signal.SIGKILL])
def test_plots_that_only_show_neither_wait_nor_hang(plotted, display, until, how):
    options = [MPLLinePlot(window_size=SIZE), PyQtLinePlot(window_size=SIZE), MPLImagePlot(window_size=SIZE)]
    recorders = [plotted.plot(lambda: np.zeros(3), each) for each in options[:2]]
    recorders.append(plotted.plot(lambda: np.zeros((240, 320, 3), np.uint8), options[2]))
    plotted.run(3)
    until(lambda: all(map(drawn, recorders)))
    process = plotted.process
    os.kill(process, how)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.monotonic()
        for _ in range(100):
            plotted.scene.step()
            time.sleep(0.002)
        stepped = time.monotonic() - start
        plotted.scene.stop_recording()
        stopped = time.monotonic() - start - stepped
    assert stepped < 5, "the steps waited"
    assert stopped < 3, "the stop waited"
    (told,) = warnings_of(caught)
    assert "its plots are not shown any more" in told
    assert ("stopped" if how == signal.SIGSTOP else "signal 9") in told
    for recorder in recorders:
        status = recorder.status
        assert status.received == 104 == status.written + status.dropped
        assert status.dropped > 50
        assert status.error is None


def test_a_window_that_runs_again_shows_again(plotted, display, until):
    recorder = plotted.plot(lambda: plotted.step, MPLLinePlot(window_size=SIZE))
    plotted.run(3)
    until(lambda: drawn(recorder))
    os.kill(plotted.process, signal.SIGSTOP)
    plotted.scene.step(2000)
    recorder.sync()
    os.kill(plotted.process, signal.SIGCONT)
    until(lambda: recorder.link._header.tail == recorder.link._header.head)
    # 2000 and what was not drawn before, of which the newest hundred are shown.
    assert recorder.status.dropped >= 1900
    assert recorder.get_image_array().shape == (240, 320, 3)


@pytest.mark.parametrize("how", [signal.SIGSTOP, signal.SIGKILL])
def test_a_video_ends_where_its_process_does_and_the_run_goes_on(plotted, tmp_path, until, how):
    recorder = plotted.plot(lambda: plotted.step, MPLLinePlot(window_size=SIZE, save_to_filename=tmp_path / "a.mp4"))
    other = plotted.plot(lambda: plotted.step, MPLLinePlot(window_size=SIZE, save_to_filename=tmp_path / "b.mp4"))
    plotted.run(5)
    until(lambda: drawn(recorder) and drawn(other))
    os.kill(plotted.process, how)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.monotonic()
        plotted.scene.step(500)
        stepped = time.monotonic() - start
        plotted.scene.stop_recording()
        stopped = time.monotonic() - start - stepped
    assert stepped < 4
    assert stopped < 3
    told = [text for text in warnings_of(caught) if "the queue is full" not in text]
    assert len(told) == 1
    assert "a.mp4, b.mp4 end there" in told[0]
    for each in (recorder, other):
        assert each.status.received == 506 == each.status.written + each.status.dropped
        assert 1 <= each.status.written < 100


def test_a_plotter_that_hangs_is_given_up(plotted, plotter, tmp_path):
    options = plotter("time.sleep(30) if self.count == 3 else None", save_to_filename=tmp_path / "a.mp4")
    recorder = plotted.plot(lambda: plotted.step, options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        plotted.run(200)
        plotted.scene.stop_recording()
    assert any("has drawn nothing for" in text and "a.mp4 ends there" in text for text in warnings_of(caught))
    assert recorder.status.received == 201 == recorder.status.written + recorder.status.dropped


@pytest.mark.parametrize("where", ["setup", "draw"])
def test_a_plotter_that_fails_ends_its_plot_with_its_error(plotted, plotter, tmp_path, where):
    fail = {"setup": {"setup": "1 / 0", "draw": "pass"}, "draw": {"draw": "1 / (self.count - 5)"}}[where]
    bad = plotted.plot(lambda: 1, plotter(title="Bad", save_to_filename=tmp_path / "bad.mp4", **fail))
    good = plotted.plot(lambda: 2, MPLLinePlot(window_size=SIZE, save_to_filename=tmp_path / "good.mp4"))
    plotted.scene.build()
    with pytest.raises(PlotError, match=r"Drawn bad\.mp4: ZeroDivisionError: .*plotter_of_a_test"):
        plotted.scene.step(500)
    assert not bad.is_alive
    plotted.scene.stop_recording()
    assert good.status.dropped == 0
    assert (tmp_path / "bad.mp4").exists() == (where == "draw")


def test_a_plotter_that_no_other_process_can_import_is_refused(plotted):
    class Mine(MPLPlot):
        plotter = "__main__:Mine"

    with pytest.raises(PlotError, match="another process can import"):
        plotted.plot(lambda: 1, Mine())


def test_a_display_that_cannot_be_opened_leaves_the_video(plotted, tmp_path, monkeypatch, watch, capfd):
    monkeypatch.setenv("DISPLAY", ":4711")
    recorder = plotted.plot(lambda: 1, MPLLinePlot(window_size=SIZE, save_to_filename=tmp_path / "a.mp4"))
    plotted.run(3)
    plotted.scene.stop_recording()
    assert len(watch(tmp_path / "a.mp4")) == 4 == recorder.status.written
    capfd.readouterr()  # Qt tells of the display.


SCRIPT = """
import os, signal, sys, time
import simreel as sr
from simreel.testing import FakeEngine
scene = sr.Scene(engine=FakeEngine(dt=0.01))
options = dict(window_size=(320, 240))
scene.start_recording(lambda: 1, sr.recorders.MPLLinePlot(save_to_filename="a.mp4", **options))
plot = scene.start_recording(lambda: 1, sr.recorders.PyQtLinePlot(**options))
scene.build()
scene.step(20)
plot.get_image_array()
window = plot._window._process.pid
print(window, flush=True)
"""


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False


@pytest.mark.parametrize(
    ("end", "status"),
    [
        ("", 0),
        ("sys.exit(3)", 3),
        ("1 / 0", 1),
        ("os.kill(window, signal.SIGSTOP)", 0),
        ("os.kill(window, signal.SIGKILL)", 0),
        ("os.kill(os.getpid(), signal.SIGKILL)", -9),
        ("os.kill(window, signal.SIGSTOP); os.kill(os.getpid(), signal.SIGKILL)", -9),
    ],
    ids=["end", "exit", "error", "window stopped", "window killed", "killed", "window stopped and killed"],
)
def test_no_window_outlives_its_program(tmp_path, until, watch, end, status):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT + end], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=50
    )
    assert done.returncode == status, done.stderr
    window = int(done.stdout)
    until(lambda: not is_running(window))
    if "window, " not in end:
        # Also after a kill: the window process has all samples that were sent.
        assert len(watch(tmp_path / "a.mp4")) >= 20


def test_a_forked_child_leaves_the_window_to_its_parent(plotted):
    recorder = plotted.plot(lambda: 1, MPLLinePlot(window_size=SIZE))
    plotted.run(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # that this process has threads
        child = os.fork()
    if not child:
        os._exit(0 if not recorder.is_alive else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert recorder.get_image_array().shape == (240, 320, 3)
