"""What matplotlib draws, in this process."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from simreel.options.recorders import MPLImagePlot, MPLLinePlot, MPLVectorFieldPlot
from simreel.recorders.plots.plotter import Samples

SIZE = (320, 240)


@pytest.fixture
def drawing():
    """A plotter on a figure: `draw(k, data, ...)` gives the picture."""
    from simreel.recorders.plots.mpl_figure import PlainFigure
    from simreel.recorders.plots.mpl_image import MPLImage
    from simreel.recorders.plots.mpl_lines import MPLLines
    from simreel.recorders.plots.mpl_vectors import MPLVectors

    kinds = {MPLLinePlot: MPLLines, MPLImagePlot: MPLImage, MPLVectorFieldPlot: MPLVectors}

    class Drawing:
        def __init__(self, options):
            self.plotter = kinds[type(options)](SimpleNamespace(**options.model_dump(mode="json")))
            self.surface = PlainFigure(options.window_size)
            self.figure = self.surface.target
            self.is_new = True

        def draw(self, k, data):
            columns = (
                {str(key): np.asarray(value)[None] for key, value in data.items()} if isinstance(data, dict) else None
            )
            samples = Samples(np.array([k / 100]), columns or {"data": np.asarray(data)[None]}, columns is not None)
            if self.is_new:
                self.plotter.setup(self.figure, samples)
                self.is_new = False
            self.plotter.draw(samples)
            return self.surface.picture()[..., :3].copy()

    return Drawing


def names_beside(axes):
    """The texts of a legend."""
    from matplotlib.legend import Legend

    return [text.get_text() for legend in axes.findobj(Legend) for text in legend.get_texts()]


def texts_outside(figure):
    """The texts that are cut by the edge of a picture."""
    from matplotlib.text import Text

    renderer, edge, found = figure.canvas.get_renderer(), figure.bbox, []
    for text in figure.findobj(lambda artist: isinstance(artist, Text) and artist.get_visible()):
        box = text.get_window_extent(renderer)
        is_inside = box.x0 >= 0 and box.y0 >= 0 and box.x1 <= edge.x1 and box.y1 <= edge.y1
        if text.get_text() and box.width and not is_inside:
            found.append(text.get_text())
    return found


def count_draws(figure):
    """A list that grows with each drawing of the whole figure."""
    drawn = []
    figure.canvas.mpl_connect("draw_event", drawn.append)
    return drawn


def test_lines_are_changed_in_place_and_the_axes_seldom_drawn(drawing):
    made = drawing(MPLLinePlot(window_size=SIZE, history_length=100))
    made.draw(0, {"a": [0.0, 1.0], "b": 0.0})
    artists = set(map(id, made.figure.findobj()))
    drawn = count_draws(made.figure)
    pictures = [made.draw(k, {"a": [np.sin(k / 10), 1.0], "b": np.cos(k / 10)}) for k in range(1, 300)]
    lines = [line for axes in made.figure.axes for line in axes.get_lines()]
    assert len(lines) == 3
    assert {id(line) for line in lines} <= artists
    assert len(drawn) < 40
    assert all(not np.array_equal(a, b) for a, b in zip(pictures[-20:], pictures[-19:], strict=False))
    x, y = lines[0].get_data()
    assert len(x) == len(y) == 100


def test_a_picture_over_the_background_is_the_same_as_one_drawn_anew(drawing):
    made = drawing(MPLLinePlot(window_size=SIZE))
    for k in range(30):
        picture = made.draw(k, np.sin(k / 3))
    made.surface.target.stale = True
    assert np.array_equal(made.surface.picture()[..., :3], picture)


def test_labels_titles_and_units_are_there(drawing):
    options = MPLLinePlot(
        title="T", labels={"a": ["p", "q"], "b": "r"}, x_label="x [s]", y_label="y [m]", window_size=SIZE
    )
    made = drawing(options)
    made.draw(0, {"a": [1, 2], "b": 3})
    first, second = made.figure.axes
    assert names_beside(first) == ["p", "q"]
    assert names_beside(second) == ["r"]
    assert first.get_lines()[0].get_color() == second.get_lines()[0].get_color()
    assert second.get_xlabel() == "x [s]"
    assert first.get_ylabel() == second.get_ylabel() == "y [m]"
    assert (first.get_title(loc="left"), second.get_title(loc="left")) == ("a", "b")
    assert made.figure.get_suptitle() == "T"


@pytest.mark.parametrize(("keys", "count", "least"), [("abcd", 12, 90), ("abcdef", 6, 45), ("abcd", 81, 90)])
def test_legends_take_no_height_and_are_whole(drawing, keys, count, least):
    from matplotlib.legend import Legend

    made = drawing(MPLLinePlot(title="Robot", y_label="angle [rad]"))
    made.draw(0, {key: np.arange(count) / 10 for key in keys})
    heights = [axes.bbox.height for axes in made.figure.axes]
    assert min(heights) > least
    for axes in made.figure.axes:
        (legend,) = axes.findobj(Legend)
        box = legend.get_window_extent()
        assert axes.bbox.y0 <= box.y0
        assert box.y1 <= axes.bbox.y1
        assert box.x1 <= 800
        assert names_beside(axes)[-1] in {str(count - 1), "…"}
    assert not texts_outside(made.figure)


@pytest.mark.parametrize("count", [7, 9, 11, 12])
def test_two_columns_of_plots_have_times_below_both(drawing, count):
    made = drawing(MPLLinePlot())
    made.draw(0, {f"k{i}": i for i in range(count)})
    all_axes = [plot.axes for plot in made.plotter._subplots]
    assert set(made.figure.axes) == set(all_axes)
    rows = -(-count // 2)
    for i, axes in enumerate(all_axes):
        assert axes.get_title(loc="left") == f"k{i}"
        is_lowest = i in {rows - 1, count - 1}
        assert axes.get_xlabel() == ("time [s]" if is_lowest else "")
        assert axes.xaxis.get_tick_params()["labelbottom"] == is_lowest


def test_a_name_with_an_underscore_is_a_name(drawing):
    made = drawing(MPLLinePlot(labels=["_q", "shown"], window_size=SIZE))
    made.draw(0, [1, 2])
    assert names_beside(made.figure.axes[0]) == ["_q", "shown"]


LONG = "a very long text that tells all about the experiment of the third of May with the robot and its many joints"


@pytest.mark.parametrize("size", [(500, 350), (800, 600)])
def test_long_texts_are_not_cut(drawing, size):
    made = drawing(
        MPLLinePlot(title=LONG, labels={"a": [LONG, "b"], LONG: "c"}, x_label=LONG, y_label=LONG, window_size=size)
    )
    made.draw(0, {"a": [1, 2], LONG: 3})
    assert not texts_outside(made.figure)
    assert "\n" in made.figure.get_suptitle()
    assert made.figure.axes[0].bbox.width > 0.4 * size[0]


def test_a_long_formula_is_whole(drawing):
    formula = "$" + "x" * 20 + "$"
    made = drawing(MPLLinePlot(title=formula, labels=[formula], window_size=SIZE))
    made.draw(0, [1])
    assert names_beside(made.figure.axes[0]) == [made.figure.get_suptitle()] == [formula]


@pytest.mark.parametrize("data", [np.zeros((60, 80)), np.zeros((60, 80, 3))])
def test_the_long_title_of_an_image_is_not_cut(drawing, data):
    made = drawing(MPLImagePlot(title=LONG, window_size=(500, 350)))
    made.draw(0, data)
    assert made.figure.axes[0].get_title() not in texts_outside(made.figure)


@pytest.mark.parametrize("size", [(400, 300), (500, 350), (800, 600)])
def test_the_texts_of_a_field_are_not_cut(drawing, size):
    made = drawing(MPLVectorFieldPlot(positions=[(0, 0, 0)], window_size=size))
    made.draw(0, np.zeros((1, 3)))
    assert not texts_outside(made.figure)


def test_colours_beyond_their_range_are_clipped_in_silence(drawing, caplog):
    made = drawing(MPLImagePlot(window_size=SIZE))
    made.draw(0, np.full((4, 4, 3), 1.01))
    picture = made.draw(1, np.full((4, 4, 3), -0.01))
    assert (picture[120, 160] == 0).all()
    assert not caplog.records


def test_a_log_axis_shows_what_is_above_zero(drawing):
    made = drawing(MPLLinePlot(y_log_scale=True, window_size=SIZE))
    for k, value in enumerate([1e-3, 0.0, -1.0, 1e3, np.nan]):
        made.draw(k, value)
    (axes,) = made.figure.axes
    assert axes.get_yscale() == "log"
    low, high = axes.get_ylim()
    assert 1e-5 < low < 1e-3 < 1e3 < high < 1e5


def test_an_image_is_upright_in_its_colours_and_fills_its_picture(drawing, red_corner):
    picture = drawing(MPLImagePlot(window_size=SIZE)).draw(0, red_corner())
    assert picture.shape == (240, 320, 3)
    assert picture[0, 0].tolist() == [220, 0, 0]
    assert picture[-1, -1].tolist() == [0, 180, 0]
    assert picture[0, -1].tolist() == picture[-1, 0].tolist() == [0, 0, 200]


def test_pixels_are_square(drawing):
    picture = drawing(MPLImagePlot(window_size=SIZE)).draw(0, np.zeros((10, 40, 3), np.uint8))
    dark = (picture < 50).all(-1)
    assert abs(dark.any(1).sum() - 80) <= 2
    assert dark.any(0).sum() >= 318


def test_numbers_take_their_colours_from_their_range_or_the_given_one(drawing):
    auto, fixed = drawing(MPLImagePlot(window_size=SIZE)), drawing(MPLImagePlot(window_size=SIZE, clim=(0, 10)))
    for made in (auto, fixed):
        made.draw(0, np.zeros((4, 4)))
        made.draw(1, np.arange(16.0).reshape(4, 4))
    assert auto.plotter._image.get_clim() == (0, 15)
    assert fixed.plotter._image.get_clim() == (0, 10)


@pytest.mark.parametrize("data", [np.zeros((3, 4, 4), np.uint8), np.zeros((3, 4, 3)), np.zeros((3, 4, 1), bool)])
def test_other_pictures_are_shown(drawing, data):
    assert drawing(MPLImagePlot(window_size=SIZE)).draw(0, data).shape == (240, 320, 3)


@pytest.mark.parametrize(
    ("normal", "right", "up"),
    [
        ((0, 0, 1), (1, 0, 0), (0, 1, 0)),
        ((0, 0, -2), (-1, 0, 0), (0, 1, 0)),
        ((0, -1, 0), (1, 0, 0), (0, 0, 1)),
        ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    ],
)
def test_a_field_is_seen_from_where_its_normal_points(normal, right, up):
    from simreel.recorders.plots.mpl_vectors import plane_of

    assert np.allclose(plane_of(normal), [right, up])


def test_arrows_have_the_direction_length_and_colour_of_their_vectors(drawing, positions):
    options = MPLVectorFieldPlot(positions=positions, scale_factor=0.5, max_magnitude=2, window_size=SIZE)
    made = drawing(options)
    vectors = np.zeros((6, 3))
    vectors[:4] = [(1, 0, 0), (0, -1, 0), (8, 6, 0), (0, 0, 1)]
    made.draw(0, vectors)
    (arrows,) = made.plotter._arrows
    assert np.allclose(arrows.U[:4], [1, 0, 1.6, 0])
    assert np.allclose(arrows.V[:4], [0, -1, 1.2, 0])
    assert arrows.get_array()[:4].tolist() == [1, 1, 10, 1]
    assert arrows.scale == 2
    vectors[5] = np.nan
    assert made.draw(1, vectors).shape == (240, 320, 3)


def test_several_fields_have_their_titles_and_data(drawing, positions):
    options = MPLVectorFieldPlot(positions=positions, subplot_titles=["a", "b", "c"], window_size=SIZE)
    made = drawing(options)
    data = np.zeros((3, 6, 3))
    data[1, :, 0] = 1
    made.draw(0, data)
    assert [axes.get_title() for axes in made.figure.axes[:3]] == ["a", "b", "c"]
    assert [float(arrows.U.sum()) for arrows in made.plotter._arrows] == [0, 6, 0]


def test_twists_turn_counterclockwise_around_the_normal():
    from simreel.recorders.plots.mpl_vectors import bent_arrows

    left, right, none = bent_arrows(np.array([(0, 0), (10, 0), (20, 0)]), np.array([0.25, -0.25, 0]), 1.0)
    assert np.allclose(left[0], (0, 1))
    assert np.allclose(left[31], (-1, 0))
    assert np.allclose(right[31], (11, 0))
    assert np.isnan(none).all()
    # The head is behind its tip, on both sides of the arc.
    assert all(left[k][1] > 0 for k in (32, 34))
    assert left[32][0] != left[34][0]


def test_twists_are_drawn_by_their_part_along_the_normal(drawing, positions):
    options = MPLVectorFieldPlot(
        positions=positions,
        twist_scale_factor=0.5,
        twist_max_magnitude=1.0,
        subplot_titles=["a", "b"],
        window_size=SIZE,
    )
    made = drawing(options)
    twists = np.zeros((2, 6, 3))
    twists[0, :, 2], twists[1, :, 0] = 3, 5
    made.draw(0, (np.zeros((2, 6, 3)), twists))
    first, second = made.plotter._bends
    assert first.get_array().tolist() == [3] * 6
    assert second.get_array().tolist() == [0] * 6
    # 3 is drawn as 1: half a turn.
    assert np.allclose(first.get_segments()[0][31] - np.array(positions[0][:2]), (0, -0.6), atol=0.7)


@pytest.mark.parametrize("kind", [MPLLinePlot, MPLImagePlot])
def test_a_hundred_draws_leave_no_more_artists_than_one(drawing, kind):
    made = drawing(kind(window_size=SIZE))
    data = np.zeros((4, 4)) if kind is MPLImagePlot else 0.0
    made.draw(0, data)
    before = len(made.figure.findobj())
    for k in range(100):
        made.draw(k, data + k % 7)
    assert len(made.figure.findobj()) <= before + 40  # ticks come and go
