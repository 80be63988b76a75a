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

def make(first=None, size=(320, 240), **options):
    options = PyQtLinePlot(window_size=size, **options)
    plotter = PyQtLines(SimpleNamespace(**options.model_dump(mode="json")))
    surface = PyQtSurface(size, is_fixed=True)
    plotter.setup(surface.target, first or samples(0))
    return plotter, surface

def of(**values):
    return Samples(np.zeros(1), {key: np.asarray(value)[None] for key, value in values.items()}, True)

def boxes(surface):
    items = [item for item in surface.target.ci.items]
    return [item.mapRectToScene(item.boundingRect()).getRect() for item in items]

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


def test_all_plots_and_names_are_in_the_picture_and_share_its_height():
    for keys, count in (("abcd", 12), ("abcdef", 6), ("abcd", 81)):
        (found,) = run(
            f"""
            data = of(**{{key: np.arange({count}) / 10 for key in {keys!r}}})
            plotter, surface = make(data, (800, 600), title="Robot", y_label="angle [rad]")
            plotter.draw(data)
            surface.picture()
            inside = [x >= 0 and y >= 0 and x + w <= 800 and y + h <= 600 for x, y, w, h in boxes(surface)]
            heights = [plot.item.size().height() for plot in plotter._subplots]
            print(all(inside), max(heights) - min(heights) < 40)
            """
        )
        assert found == "True True", (keys, count)


def test_a_time_is_at_the_same_place_in_all_plots_whatever_their_numbers():
    first, second = run(
        """
        plotter, surface = make(of(a=1.0, b=1.0, c=1.0))
        for b in (1.0, 123456.0):
            plotter.draw(of(a=1.0, b=b, c=1.0))
            surface.picture()
            views = [plot.item.vb for plot in plotter._subplots]
            print(*{round(view.mapRectToScene(view.boundingRect()).x()) for view in views})
        """
    )
    assert int(first) < int(second)


def test_long_texts_are_not_cut():
    title, narrow = run(
        """
        long = "a very long text that tells all about the experiment of the third of May with the robot and its joints"
        data = of(a=[1, 2], b=3)
        plotter, surface = make(data, (500, 350), title=long, labels={"a": [long, "b"], "b": long}, y_label=long)
        plotter.draw(data)
        surface.picture()
        print("<br>" in surface.target.ci.getItem(0, 0).text)
        print(all(x >= 0 and x + w <= 500 for x, y, w, h in boxes(surface)))
        """
    )
    assert (title, narrow) == ("True", "True")
