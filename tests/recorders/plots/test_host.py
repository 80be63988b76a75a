"""The window process beside the simulation."""

from __future__ import annotations

import pytest

from simreel.recorders import MPLLinePlot

SIZE = (320, 240)


@pytest.fixture
def running(plotted):
    """A plot that has drawn."""
    recorder = plotted.plot(lambda: 1.0, MPLLinePlot(window_size=SIZE))
    plotted.run(3)
    recorder.get_image_array()
    return recorder


def test_it_asks_to_be_woken_only_where_samples_are_drawn_as_they_come(plotted, running, until):
    header = running.link._header
    plotted.scene.step(100)
    assert not header.receiver_waits, "nobody sees them"
    assert running.link.lost == 0


def test_a_window_waits_for_the_first_sample_after_a_rest(plotted, display, until):
    recorder = plotted.plot(lambda: 1.0, MPLLinePlot(window_size=SIZE))
    plotted.run(3)
    header = recorder.link._header
    until(lambda: header.tail == header.head and header.receiver_waits)
    plotted.scene.step()
    until(lambda: header.tail == header.head and header.receiver_waits)
    assert header.head == 4
