"""Videos of plots, without a display."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from simreel.errors import DuplicateTargetError, OptionsError, PlotError, SimreelWarning, TargetExistsError
from simreel.recorders import MPLImagePlot, MPLLinePlot, MPLVectorFieldPlot, PyQtLinePlot

SIZE = (320, 240)


def all_four(tmp_path, positions, **options):
    """Options of each plot and a data function of the step."""
    common = {"window_size": SIZE, **options}

    def saved(name):
        return {"save_to_filename": tmp_path / f"{name}.mp4", **common}

    return {
        "mpl": (lambda k: {"a": math.sin(k / 5), "b": [k, -k]}, MPLLinePlot(title="Lines", **saved("mpl"))),
        "pyqt": (lambda k: {"a": math.sin(k / 5), "b": [k, -k]}, PyQtLinePlot(title="Lines", **saved("pyqt"))),
        "image": (lambda k: np.full((24, 32), k), MPLImagePlot(**saved("image"))),
        "vectors": (
            lambda k: np.full((6, 3), math.cos(k / 5)),
            MPLVectorFieldPlot(positions=positions, **saved("vectors")),
        ),
    }


def steps_until_an_error(scene):
    for _ in range(1000):
        scene.step()
        scene.recorders[0].sync()


def test_each_plot_saves_one_frame_for_each_due_sample(plotted, tmp_path, positions, watch):
    plots = all_four(tmp_path, positions, hz=50)
    for data, options in plots.values():
        plotted.plot(lambda data=data: data(plotted.step), options)
    plotted.run(20)
    plotted.scene.stop_recording()
    for name, recorder in zip(plots, plotted.recorders, strict=True):
        video = watch(tmp_path / f"{name}.mp4")
        assert len(video) == 11 == recorder.status.written, name
        assert video.frames[0].shape == (240, 320, 3), name
        assert video.rate == 50
        assert video.comment["frames"] == 11
        assert video.comment["complete"]
        assert recorder.status.bytes == (tmp_path / f"{name}.mp4").stat().st_size
        assert not np.array_equal(video.frames[1], video.frames[-1]), f"{name} does not move"


@pytest.mark.parametrize(("suffix", "size"), [(".mp4", (322, 242)), (".webm", (321, 241))])
def test_odd_sizes_are_padded_where_the_codec_needs_it_and_said_once(plotted, tmp_path, watch, suffix, size):
    options = MPLLinePlot(save_to_filename=tmp_path / f"a{suffix}", window_size=(321, 241))
    recorder = plotted.plot(lambda: 1.0, options)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        plotted.run(3)
        assert recorder.get_image_array().shape == (241, 321, 3)
        plotted.scene.stop_recording()
    said = [str(each.message) for each in told if each.category is SimreelWarning]
    assert len(said) == (suffix == ".mp4")
    assert all("MPLLinePlot a.mp4: libx264 takes even sizes only: frames of 321 x 241" in text for text in said)
    assert watch(tmp_path / f"a{suffix}").size == size


def test_a_picture_keeps_its_orientation_and_colours(plotted, tmp_path, red_corner, watch):
    options = MPLImagePlot(save_to_filename=tmp_path / "a.mp4", window_size=SIZE)
    recorder = plotted.plot(lambda: red_corner(plotted.step), options)
    plotted.run(5)
    shown = recorder.get_image_array()
    plotted.scene.stop_recording()
    for frame in (shown, watch(tmp_path / "a.mp4").frames[-1]):
        assert frame.shape == (240, 320, 3)
        assert np.allclose(frame[20, 20], (220, 0, 0), atol=25)
        assert np.allclose(frame[220, 300], (0, 180, 0), atol=25)
        assert np.allclose(frame[20, 300], (0, 0, 200), atol=25)


@pytest.mark.parametrize("suffix", [".mkv", ".webm", ".gif"])
def test_other_files_hold_the_same_frames(plotted, tmp_path, watch, suffix):
    path = tmp_path / f"new/folder/a{suffix}"
    plotted.plot(lambda: plotted.step, MPLLinePlot(save_to_filename=path, window_size=SIZE, hz=25))
    plotted.run(20)
    plotted.scene.stop_recording()
    assert len(watch(path)) == 6


def test_resets_leave_one_video_that_starts_anew(plotted, tmp_path, watch):
    recorder = plotted.plot(lambda: 1.0, MPLLinePlot(save_to_filename=tmp_path / "a.mp4", window_size=SIZE))
    plotted.run(3)
    plotted.scene.reset()
    plotted.scene.step(2)
    plotted.scene.stop_recording()
    video = watch(tmp_path / "a.mp4")
    assert len(video) == 7 == recorder.status.written
    # The first of each episode: a line of one point.
    assert np.abs(video.frames[4].astype(int) - video.frames[0]).mean() < 3


def test_mistakes_are_told_at_the_start(plotted, tmp_path):
    (tmp_path / "old.mp4").write_bytes(b"old")
    with pytest.raises(TargetExistsError, match="overwrite"):
        plotted.plot(lambda: 1, MPLLinePlot(save_to_filename=tmp_path / "old.mp4"))
    with pytest.raises(OptionsError, match=r"^MPLLinePlot: fps: .* at most 50 frames .*; give a lower hz, or"):
        plotted.plot(lambda: 1, MPLLinePlot(save_to_filename=tmp_path / "a.gif"))
    plotted.plot(lambda: 1, MPLLinePlot(save_to_filename=tmp_path / "a.mp4"))
    with pytest.raises(DuplicateTargetError):
        plotted.plot(lambda: 1, PyQtLinePlot(save_to_filename=tmp_path / "a.mp4"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old.mp4"]


def test_overwrite_replaces_a_video(plotted, tmp_path, watch):
    (tmp_path / "a.mp4").write_bytes(b"old")
    options = MPLLinePlot(save_to_filename=tmp_path / "a.mp4", overwrite=True, window_size=SIZE)
    plotted.plot(lambda: 1, options)
    plotted.run(2)
    plotted.scene.stop_recording()
    assert len(watch(tmp_path / "a.mp4")) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.mp4"]


def test_a_video_that_cannot_be_written_ends_its_plot_alone(plotted, tmp_path):
    folder = tmp_path / "gone"
    bad = plotted.plot(lambda: 1, MPLLinePlot(save_to_filename=folder / "a.mp4", window_size=SIZE))
    good = plotted.plot(lambda: 2, MPLLinePlot(window_size=SIZE))
    plotted.scene.build()
    folder.rmdir()
    with pytest.raises(PlotError, match=r"MPLLinePlot a\.mp4: .*gone"):
        steps_until_an_error(plotted.scene)
    assert not bad.is_alive
    assert good.get_image_array().shape == (240, 320, 3)
