"""What Qt draws, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import textwrap


def run(program):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(PRELUDE) + textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


PRELUDE = """
import os, sys
os.environ["QT_QPA_PLATFORM"] = "offscreen"
from types import SimpleNamespace
import numpy as np
from simreel.options.recorders import PyQtLinePlot
from simreel.recorders.plots.application import make_application
from simreel.recorders.plots.plotter import Samples
app = make_application()
from simreel.recorders.plots.pyqt_lines import PyQtLines
from simreel.recorders.plots.pyqt_surface import PyQtSurface

def make(**options):
    options = PyQtLinePlot(window_size=(320, 240), **options)
    plotter = PyQtLines(SimpleNamespace(**options.model_dump(mode="json")))
    surface = PyQtSurface((320, 240), is_fixed=True)
    plotter.setup(surface.target, samples(0))
    return plotter, surface

def samples(k):
    return Samples(np.array([k / 100]), {"a": np.array([[np.sin(k / 10), 0.5]]), "b": np.array([np.cos(k / 10)])}, True)
"""


def test_no_reference_to_none_is_lost_by_drawing():
    # PySide6 6.12.0 lost one at each redraw on Python 3.11, which ends the interpreter after some hundred.
    (lost,) = run(
        """
        plotter, surface = make()
        surface.show("a", lambda: None)
        def draw(k):
            plotter.draw(samples(k)); surface.picture(); app.processEvents()
        for k in range(20):
            draw(k)
        before = sys.getrefcount(None)
        for k in range(20, 220):
            draw(k)
        print(before - sys.getrefcount(None))
        """
    )
    assert int(lost) < 100


def test_lines_are_changed_in_place_and_trimmed():
    lines, same, first, last, lengths = run(
        """
        plotter, surface = make(history_length=50)
        items = [plot.lines for plot in plotter._subplots]
        for k in range(120):
            plotter.draw(samples(k))
        picture = surface.picture()
        print(sum(map(len, items)))
        print(items == [plot.lines for plot in plotter._subplots])
        x, y = items[0][0].getData()
        print(round(x[0], 6))
        print(round(x[-1], 6))
        print(len(x), len(y), picture.shape)
        """
    )
    assert (lines, same, first, last, lengths) == ("3", "True", "0.7", "1.19", "50 50 (240, 320, 4)")


def test_names_are_text_and_not_markup():
    (shown,) = run(
        """
        plotter, surface = make(title="<b>T</b> & [m]", labels={"a": ["<i>p</i>", "q"], "b": "r"})
        plotter.draw(samples(0))
        import pyqtgraph
        labels = [item.item.toPlainText() for item in surface.target.ci.items if isinstance(item, pyqtgraph.LabelItem)]
        print([label.split() for label in labels])
        """
    )
    assert "'<b>T</b>', '&', '[m]'" in shown
    assert "<i>p</i>" in shown


def test_a_log_axis_has_gaps_where_there_is_no_logarithm():
    low, high = run(
        """
        plotter, surface = make(y_log_scale=True)
        for k in range(40):
            plotter.draw(samples(k))
        surface.picture()
        low, high = plotter._subplots[1].item.viewRange()[1]
        print(low)
        print(high)
        """
    )
    assert -4 < float(low) < float(high) < 1
