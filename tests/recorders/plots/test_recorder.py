"""What a plot takes, counts, and tells; without a display unless one is asked for."""

from __future__ import annotations

import importlib.util
import logging
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from simreel.errors import MissingExtraError, OptionsError, PlotError, SampleError
from simreel.recorders import MPLImagePlot, MPLLinePlot, MPLVectorFieldPlot, NPZFile, PyQtLinePlot

SIZE = (320, 240)


@pytest.fixture
def picture_of(plotted):
    """The picture of a plot after some samples."""

    def picture(values, options):
        recorder = plotted.plot(lambda: values[plotted.step], options)
        plotted.run(len(values) - 1)
        return recorder.get_image_array()

    return picture


def test_without_a_display_there_is_no_window_and_a_line_says_so(plotted, caplog):
    with caplog.at_level(logging.INFO, "simreel"):
        recorder = plotted.plot(lambda: 1, MPLLinePlot(title="Angle", window_size=SIZE))
        plotted.run(3)
        plotted.scene.stop_recording()
    assert any("Angle: no window: there is no display" in line for line in caplog.messages)
    assert recorder.status.received == recorder.status.written == 4


def test_a_picture_can_be_had_while_it_records(plotted):
    recorder = plotted.plot(lambda: np.sin(plotted.step), PyQtLinePlot(window_size=SIZE))
    with pytest.raises(PlotError, match="between build and stop"):
        recorder.get_image_array()
    plotted.scene.build()
    with pytest.raises(PlotError, match="before the first sample"):
        recorder.get_image_array()
    plotted.scene.step(10)
    first = recorder.get_image_array()
    assert first.shape == (240, 320, 3)
    assert first.dtype == np.uint8
    plotted.scene.step(10)
    assert not np.array_equal(first, recorder.get_image_array())
    plotted.scene.stop_recording()
    with pytest.raises(PlotError, match="between build and stop"):
        recorder.get_image_array()


@pytest.mark.parametrize("kind", [MPLLinePlot, PyQtLinePlot])
@pytest.mark.parametrize(
    "values",
    [
        [np.nan, np.nan, np.nan],
        [1.0, np.nan, 2.0, np.inf, -np.inf, 3.0],
        [5.0] * 4,
        [0.0] * 4,
        [1e-300, 1e300, -1e308, 1.7e308],
        [True, False, True],
        [2**62, -(2**62), 3],
        [list(range(50)), list(range(50, 0, -1))],
        [{"a": 1.0, "nested": {"b": [1, 2], 3: np.float32(4)}}] * 3,
    ],
    ids=["only nan", "gaps", "constant", "zero", "huge", "bool", "int", "50 series", "nested"],
)
@pytest.mark.parametrize("log", [False, True])
def test_lines_take_any_numbers(picture_of, kind, values, log):
    picture = picture_of(values, kind(window_size=SIZE, y_log_scale=log))
    assert picture.shape == (240, 320, 3)
    assert picture.min() < 100 < picture.max()


def test_an_image_may_be_zero_at_first(picture_of):
    pictures = [np.zeros((12, 16)), np.full((12, 16), np.nan), np.arange(192.0).reshape(12, 16) - 90]
    assert len(np.unique(picture_of(pictures, MPLImagePlot(window_size=SIZE)))) > 50


@pytest.mark.parametrize(
    ("options", "data", "words"),
    [
        (MPLLinePlot(), "text", "str returned, MPLLinePlot shows real numbers"),
        (MPLLinePlot(), 1j, "complex128 returned, MPLLinePlot shows real numbers"),
        (MPLLinePlot(), {"a": np.zeros((2, 3))}, r"key 'a': shape \(2, 3\) returned"),
        (MPLLinePlot(), {"a": 1, "b": []}, "key 'b': an empty list"),
        (MPLImagePlot(), np.zeros(3), r"shape \(3,\)"),
        (MPLImagePlot(), np.zeros((4, 4, 2)), r"shape \(4, 4, 2\)"),
        (MPLImagePlot(), np.zeros((4, 4, 3), int), r"shape \(4, 4, 3\) int64"),
        (MPLImagePlot(), {"a": np.zeros((4, 4))}, "key 'a': a dict returned, MPLImagePlot shows one array"),
        (MPLVectorFieldPlot(positions=[(0, 0, 0)]), np.zeros((2, 3)), r"\(2, 3\) returned, \(1, 3\) needed"),
        (
            MPLVectorFieldPlot(positions=[(0, 0, 0)], subplot_titles=["a", "b"]),
            np.zeros((1, 3)),
            r"\(1, 3\) returned, \(2, 1, 3\) needed",
        ),
        (
            MPLVectorFieldPlot(positions=[(0, 0, 0)], twist_scale_factor=1),
            np.zeros((1, 3)),
            r"\(1, 3\) returned, a pair of \(1, 3\) needed",
        ),
    ],
)
def test_what_cannot_be_shown_is_an_error_at_the_first_sample(plotted, options, data, words):
    plotted.plot(lambda: data, options)
    plotted.scene.build()
    with pytest.raises(SampleError, match=words):
        plotted.scene.step()


@pytest.mark.parametrize(
    ("labels", "data", "words"),
    [
        (["a"], [1, 2], "1 given, the data need 2"),
        (["a"], {"x": 1}, "the data have the keys 'x': give a dict"),
        ({"x": "a"}, 1, "the data have no keys: give a list"),
        ({"x": "a"}, {"x": 1, "y": 2}, "key 'y' of the data has none; the data have the keys 'x', 'y'"),
        ({"x": "a", "z": "b"}, {"x": 1}, "the data have no key 'z', but 'x'"),
        ({"x": ["a", "b"]}, {"x": 1}, "2 given, key 'x' needs 1"),
    ],
)
def test_labels_that_do_not_fit_name_what_is_expected(plotted, labels, data, words):
    plotted.plot(lambda: data, PyQtLinePlot(labels=labels))
    plotted.scene.build()
    with pytest.raises(OptionsError, match=words):
        plotted.scene.step()


@pytest.mark.parametrize(
    ("then", "words"),
    [({"x": [1, 2, 3], "y": 1}, r"key 'x': shape \(3,\)"), ({"x": [1, 2]}, "key 'y': no value")],
    ids=["another length", "a key that vanishes"],
)
def test_data_that_change_their_form_end_the_plot_by_name(plotted, then, words):
    data = {"x": [1, 2], "y": 1}
    recorder = plotted.plot(lambda: data if plotted.step < 3 else then, MPLLinePlot(window_size=SIZE))
    plotted.run(3)
    with pytest.raises(SampleError, match=words):
        plotted.scene.step()
    assert not recorder.is_alive
    plotted.scene.stop_recording()
    assert recorder.status.written == 3


def test_worlds_are_lines_and_more_axes_are_refused_with_a_hint(plotted):
    bad = plotted.plot(lambda: np.zeros((3, 7)), MPLLinePlot())
    recorder = plotted.plot(lambda: np.zeros(3), MPLLinePlot(window_size=SIZE))
    plotted.scene.build(n_envs=3)
    with pytest.raises(SampleError, match="choose a world"):
        plotted.scene.step()
    assert not bad.is_alive
    assert recorder.get_image_array().shape == (240, 320, 3)


@pytest.mark.parametrize("missing", ["matplotlib", "pyqtgraph", "PySide6"])
def test_without_the_extra_the_error_names_it_and_all_else_works(plotted, tmp_path, monkeypatch, missing):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "simreel.recorders.plots.recorder.find_spec", lambda name: None if name == missing else found(name)
    )
    options = MPLLinePlot() if missing == "matplotlib" else PyQtLinePlot()
    with pytest.raises(MissingExtraError, match=rf"{missing}.*pip install 'simreel\[gui\]'"):
        plotted.plot(lambda: 1, options)
    npz = plotted.plot(lambda: 1, NPZFile(tmp_path / "a.npz"))
    plotted.run(3)
    plotted.scene.stop_recording()
    assert npz.status.written == 4


def test_figures_need_no_qt_where_nobody_sees_them(plotted, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "simreel.recorders.plots.recorder.find_spec", lambda name: None if name == "PySide6" else found(name)
    )
    plotted.plot(lambda: 1, MPLLinePlot())
    monkeypatch.setenv("DISPLAY", ":1")
    plotted.plot(lambda: 1, MPLLinePlot(show_window=False))
    with pytest.raises(MissingExtraError, match="PySide6"):
        plotted.plot(lambda: 1, MPLLinePlot())


def test_all_plots_of_a_scene_share_a_process_and_an_unguarded_script_runs_once(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            """
            import simreel as sr
            from simreel.testing import FakeEngine
            print("started")
            scene = sr.Scene(engine=FakeEngine(dt=0.01))
            kinds = (sr.recorders.MPLLinePlot, sr.recorders.PyQtLinePlot)
            plots = [scene.start_recording(lambda: 1, kind()) for kind in kinds]
            scene.build()
            scene.step(3)
            print(*(plot.get_image_array().shape for plot in plots))
            print(plots[0]._window is plots[1]._window)
            """
        )
    )
    done = subprocess.run([sys.executable, "-W", "error", str(script)], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["started", "(600, 800, 3) (600, 800, 3)", "True"], done.stderr


def test_importing_the_options_loads_neither_qt_nor_matplotlib():
    program = "import sys, simreel as sr; sr.recorders.MPLLinePlot(); sr.recorders.Plotter; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"matplotlib", "PySide6", "pyqtgraph", "av", "mujoco"} & set(done.stdout.split())
