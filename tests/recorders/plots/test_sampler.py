"""Samples of plots that only show: each is in the ring at once, whatever its form, and nothing runs for it."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest

from simreel.errors import PlotError, SampleError
from simreel.recorders import MPLImagePlot, MPLLinePlot, PyQtLinePlot

SIZE = (320, 240)


@pytest.fixture
def rows_of(plotted):
    """What lies in the ring of a plot after some steps."""

    def rows(data_func, steps, options):
        recorder = plotted.plot(data_func, options)
        plotted.run(steps)
        link = recorder.link
        return link._channel._rows[: link.sent]

    return rows


def test_each_sample_is_in_the_ring_when_its_step_ends(plotted):
    recorder = plotted.plot(lambda: float(plotted.step), MPLLinePlot())
    plotted.scene.build()
    for k in range(5):
        plotted.scene.step()
        status = recorder.status
        assert status.received == status.written == recorder.link.sent == k + 1
        assert recorder.link._channel._rows["0"][k] == k
        assert status.queued == 0


def test_the_worker_sleeps_while_samples_come(plotted, monkeypatch):
    recorder = plotted.plot(lambda: np.zeros(3), MPLLinePlot())
    plotted.run(1)
    woken = []
    monkeypatch.setattr(recorder._queue, "wake", lambda: woken.append(threading.current_thread()))
    plotted.scene.step(500)
    assert not woken
    assert recorder.status.received == 501
    monkeypatch.undo()


@pytest.mark.parametrize(
    "make",
    [
        lambda k: k,
        lambda k: np.float32(k),
        lambda k: np.array(float(k)),
        lambda k: [k, k + 0.5],
        lambda k: np.array([k, k + 0.5]),
        lambda k: np.array([k, 0, k + 0.5, 0])[::2],
        lambda k: {"a": np.array([k, k + 0.5]), "b": bool(k % 2), "c": np.int16(-k)},
    ],
    ids=["int", "scalar", "0-d", "list", "array", "every other value", "dict"],
)
def test_any_form_arrives_as_it_was_given(plotted, rows_of, make):
    rows = rows_of(lambda: make(plotted.step), 5, MPLLinePlot())
    assert rows["step"].tolist() == [0, 1, 2, 3, 4]
    for k in range(5):
        given = make(k)
        for name, value in zip("012", given.values() if isinstance(given, dict) else [given], strict=False):
            assert rows[name][k].tolist() == np.asarray(value).tolist()


@pytest.mark.parametrize("view", [lambda p: p[::-1], lambda p: p.transpose(1, 0, 2)[:60, :60], lambda p: p[..., ::-1]])
def test_an_image_may_be_any_view(plotted, rows_of, red_corner, view):
    rows = rows_of(lambda: view(red_corner(plotted.step)), 4, MPLImagePlot())
    for k in range(4):
        assert np.array_equal(rows["0"][k], view(red_corner(k)))


def test_a_buffer_that_is_used_again_was_copied(plotted, rows_of):
    buffer = np.zeros(2)

    def data():
        buffer[:] = plotted.step
        return buffer

    assert rows_of(data, 4, MPLLinePlot())["0"].tolist() == [[k, k] for k in range(4)]


def test_another_shape_of_the_same_size_is_an_error(plotted):
    recorder = plotted.plot(lambda: np.zeros((6, 8) if plotted.step < 3 else (8, 6)), MPLImagePlot())
    plotted.run(3)
    with pytest.raises(SampleError, match=r"shape \(8, 6\)"):
        plotted.scene.step()
    assert recorder.status.received == 3


def test_steps_and_episodes_stand_beside_the_values(plotted, rows_of):
    rows = rows_of(lambda: 1.0, 3, MPLLinePlot(hz=50))
    assert rows["step"].tolist() == [0, 2]
    plotted.scene.reset()
    plotted.scene.step(3)
    link = plotted.recorders[0].link
    rows = link._channel._rows[: link.sent]
    assert rows["step"].tolist() == [0, 2, 0, 2]
    assert rows["episode"].tolist() == [0, 0, 1, 1]


def test_a_data_function_that_stops_its_plot_gives_one_last_sample(plotted):
    def data():
        if plotted.step == 3:
            recorder.stop()
        return 1.0

    recorder = plotted.plot(data, MPLLinePlot())
    plotted.run(6)
    assert not recorder.is_alive
    assert recorder.status.received == 4


def test_an_interrupted_step_is_sampled_once(plotted):
    interrupts = iter([True])

    def data():
        value = float(plotted.step)
        if plotted.step == 2 and next(interrupts, False):
            raise KeyboardInterrupt
        return value

    recorder = plotted.plot(data, MPLLinePlot())
    plotted.run(2)
    with pytest.raises(KeyboardInterrupt):
        plotted.scene.step()
    plotted.scene.step(2)
    assert recorder.link._channel._rows["0"][:4].tolist() == [0, 1, 2, 3]
    assert recorder.status.received == 4


def test_a_window_process_that_ends_is_told_of_by_a_later_step(plotted, monkeypatch):
    monkeypatch.setattr("simreel.recorders.plots.sampler._LOOK", 0.0)
    recorder = plotted.plot(lambda: 1.0, PyQtLinePlot(window_size=SIZE))
    plotted.run(3)
    os.kill(plotted.process, signal.SIGKILL)
    recorder._window._process.wait()
    with pytest.warns(UserWarning, match="signal 9: its plots are not shown any more"):
        plotted.scene.step()
    plotted.scene.step(5)
    assert recorder.status.received == 9 == recorder.status.dropped
    assert recorder.status.error is None


def test_a_plotter_that_fails_ends_its_plot_at_a_later_step(plotted, monkeypatch):
    monkeypatch.setattr("simreel.recorders.plots.sampler._LOOK", 0.0)
    monkeypatch.setattr(MPLLinePlot, "plotter", "simreel.recorders.plots.nowhere:Nothing")
    recorder = plotted.plot(lambda: 1.0, MPLLinePlot(window_size=SIZE))
    plotted.run(1)
    with pytest.raises(PlotError, match="nowhere"):
        recorder.get_image_array()
    assert recorder.status.error is None, "it was told"
    plotted.scene.stop_recording()


@pytest.mark.parametrize("kind", [MPLLinePlot, PyQtLinePlot])
def test_ten_thousand_samples_a_second_draw_the_newest_and_keep_nothing(plotted_at, kind):
    plotted, options = plotted_at(1e-4), kind(history_length=200, window_size=SIZE)

    def data():
        # Each window of the history has the same limits.
        return [plotted.step % 50, -(plotted.step % 40)]

    recorder = plotted.plot(data, options)
    plotted.run(1)
    for _ in range(4):
        plotted.scene.step(5_000)
        recorder.get_image_array()
    # It never had more than this.
    alone = plotted.plot(data, options)
    plotted.scene.step(200)
    pictures = [plot.get_image_array().astype(int) for plot in (recorder, alone)]
    # A line that is elsewhere differs by a hundred levels; matplotlib rounds one or two.
    assert np.abs(pictures[0] - pictures[1]).max() <= 3
    assert np.ptp(pictures[0]) > 200
    assert recorder.status.received == recorder.status.written == 20_201
    assert recorder.link._channel.capacity == alone.link._channel.capacity == 800
    assert recorder._queue.received == 0, "what waits in a queue"
