"""What the options of plots accept and refuse; nothing is drawn."""

import numpy as np
import pytest

from simreel.errors import OptionsError
from simreel.options.recorders import MPLImagePlot, MPLLinePlot, MPLVectorFieldPlot, PyQtLinePlot


def test_the_defaults_are_those_of_the_api():
    for made in (PyQtLinePlot(), MPLLinePlot(), MPLImagePlot()):
        common = (made.title, made.window_size, made.save_to_filename, made.show_window, made.overwrite)
        assert common == ("", (800, 600), None, None, False)
    lines = PyQtLinePlot()
    assert (lines.labels, lines.x_label, lines.y_label, lines.y_log_scale, lines.history_length) == (
        None,
        "",
        "",
        False,
        100,
    )
    assert MPLImagePlot().clim is None
    field = MPLVectorFieldPlot(positions=[(0, 0, 0)])
    assert (field.normal, field.scale_factor, field.max_magnitude) == ((0, 0, 1), 1.0, 1.0)
    assert (field.subplot_titles, field.twist_scale_factor, field.twist_max_magnitude) == (None, None, 1.0)


def test_a_plot_that_saves_waits_and_one_that_shows_does_not():
    assert (MPLLinePlot().when_full, MPLLinePlot().buffer_size) == ("drop_oldest", 0)
    saved = MPLLinePlot(save_to_filename="a.mp4")
    assert (saved.when_full, saved.buffer_size) == ("block", 32)
    chosen = MPLLinePlot(save_to_filename="a.mp4", when_full="raise", buffer_size=5)
    assert (chosen.when_full, chosen.buffer_size) == ("raise", 5)


@pytest.mark.parametrize(
    "made",
    [
        MPLLinePlot(labels=["a", "b"], save_to_filename="x/ü.GIF", hz=25, y_log_scale=True),
        PyQtLinePlot(labels={"a": "x", "b": ["y", "z"]}, show_window=False, window_size=[640, 480]),
        MPLImagePlot(clim=(0, 1), overwrite=True),
        MPLVectorFieldPlot(positions=np.zeros((2, 3)), subplot_titles=["a"], twist_scale_factor=2, normal=[0, 1, 0]),
    ],
)
def test_options_survive_json(made):
    again = type(made).model_validate_json(made.model_dump_json())
    assert again == made
    assert repr(again) == repr(made)


def test_one_name_may_stand_alone():
    assert MPLLinePlot(labels="a").labels == ("a",)
    assert MPLLinePlot(labels={"x": "a", 0: ["b"]}).labels == {"x": ("a",), "0": ("b",)}


@pytest.mark.parametrize(
    ("kind", "values", "words"),
    [
        (MPLLinePlot, {"labels": 3}, "labels = 3: the name of each value, or a dict of such names by key, is needed"),
        (MPLLinePlot, {"labels": {"a": 3}}, "labels = {'a': 3}: the name of each value"),
        (MPLLinePlot, {"window_size": (8, 600)}, "window_size = 8: greater than or equal to 16"),
        (MPLLinePlot, {"save_to_filename": "a.png"}, "save_to_filename = 'a.png': a name that ends in .mp4 or .mkv"),
        (MPLLinePlot, {"history_length": 1}, "history_length = 1: greater than or equal to 2"),
        (MPLLinePlot, {"label": "a"}, "label is not an option. Did you mean 'labels'?"),
        (MPLImagePlot, {"clim": (1, 1)}, "clim = (1, 1): the lower number first, and another one, is needed"),
        (MPLVectorFieldPlot, {}, "positions is missing"),
        (MPLVectorFieldPlot, {"positions": []}, "positions = []: at least one is needed"),
        (MPLVectorFieldPlot, {"positions": [(0, 0, 0)], "normal": (0, 0, 0)}, "normal = (0, 0, 0): a vector with a"),
        (MPLVectorFieldPlot, {"positions": [(0, 0, 0)], "scale_factor": 0}, "scale_factor = 0: greater than 0"),
        (MPLVectorFieldPlot, {"positions": [(0, 0, 0)], "subplot_titles": []}, "subplot_titles = []: at least one"),
    ],
)
def test_a_mistake_names_its_field(kind, values, words):
    with pytest.raises(OptionsError) as error:
        kind(**values)
    assert words in str(error.value)
