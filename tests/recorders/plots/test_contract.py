"""Plots keep the contract of all recorders."""

from __future__ import annotations

import pytest

from simreel.recorders import MPLLinePlot, PyQtLinePlot
from simreel.testing import RecorderContract

# A window process for each of some hundred recordings.
pytestmark = pytest.mark.slow


class TestPyQtLinePlot(RecorderContract):
    def make_options(self, folder):
        return PyQtLinePlot(window_size=(64, 48), show_window=False)


class TestMPLLinePlotSaved(RecorderContract):
    # Around what the ring and the queue hold.
    sizes = (0, 1, 2, 31, 32, 33, 64, 65)
    # Two thousand drawings; what one of them keeps is in another process anyway.
    test_samples_are_not_kept = None

    def make_options(self, folder):
        return MPLLinePlot(save_to_filename=folder / "run.mp4", window_size=(64, 48))
