"""What live plots cost the stepping thread, beside drawing in it with matplotlib as most tools do."""

from __future__ import annotations

import argparse
import hashlib
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import simreel as sr
from benchmarks.measure import head_line
from simreel.recorders import MPLImagePlot, MPLLinePlot, MPLVectorFieldPlot, PyQtLinePlot
from simreel.recorders.plots.window import has_display

__all__ = ["add_arguments", "run"]

_ANGLES = np.linspace(0, 6, 10)
_POSITIONS = [(x / 10, y / 10, 0.0) for x in range(8) for y in range(8)]

Timer = Callable[[int], list[float]]
"""Takes some steps; the time of each [us]."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--steps", type=int, default=500, help="steps of a loop in a round")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--step-time", type=float, default=1.0, help="of the simulation without plots [ms]")
    parser.add_argument("--drawn-steps", type=int, default=20, help="steps of a loop that draws in the step")


def run(arguments: argparse.Namespace) -> None:
    """Prints the table."""
    seen = "windows are shown" if has_display() else "NO DISPLAY: nothing is drawn; try xvfb-run"
    print(head_line(f"a step of {arguments.step_time:g} ms with a live plot; {seen}"))
    print(f"{'plot':44}{'median +us':>11}{'99 % +us':>10}{'mean, ratio':>13}")
    work = _work(arguments.step_time)
    for name, (data_func, options) in _plots().items():
        _print(name, *_measure(work, data_func, options, arguments.steps, arguments.rounds))
    frame = _image(0)
    copy = statistics.median(_timed(frame.copy) for _ in range(100))
    print(f"{'a copy of the image':44}{copy:11.1f}")
    print("drawn by matplotlib in the stepping thread, at each sample:")
    for name, draw in _peers().items():
        bare, drawn = (
            _times(work, arguments.drawn_steps),
            _times(lambda draw=draw: (work(), draw()), arguments.drawn_steps),
        )
        _print(name, bare, drawn)


def _plots() -> dict[str, tuple[Callable[[int], Any], Any]]:
    return {
        "PyQtLinePlot, 10 values": (lambda k: np.sin(_ANGLES + k / 50), PyQtLinePlot()),
        "MPLLinePlot, 10 values": (lambda k: np.sin(_ANGLES + k / 50), MPLLinePlot()),
        "MPLImagePlot, 320 x 240 colours": (_image, MPLImagePlot()),
        "MPLVectorFieldPlot, 64 vectors": (
            lambda k: np.full((64, 3), np.sin(k / 50)),
            MPLVectorFieldPlot(positions=_POSITIONS, scale_factor=0.1),
        ),
    }


_frames = np.random.default_rng(0).integers(0, 255, (8, 240, 320, 3), np.uint8)


def _image(k: int) -> np.ndarray[Any, Any]:
    return _frames[k % len(_frames)]  # type: ignore[no-any-return]


def _work(milliseconds: float) -> Callable[[], object]:
    """Computes for some time, with the interpreter's lock released as MuJoCo does."""
    block = bytes(2**16)
    seconds = min(_timed(lambda: hashlib.sha256(block)) for _ in range(50)) / 1e6
    data = bytes(round(len(block) * milliseconds / 1e3 / seconds))
    return lambda: hashlib.sha256(data)


def _timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e6


def _times(call: Callable[[], object], steps: int) -> list[float]:
    return [_timed(call) for _ in range(steps)]


def _measure(
    work: Callable[[], object], data_func: Callable[[int], Any], options: Any, steps: int, rounds: int
) -> tuple[list[float], list[float]]:
    """Times of steps without and with the plot [us], a round of each in turn. The data are computed in both."""
    bare, plotted = (sr.Scene(engine=sr.scene.FunctionEngine(work, dt=1e-3)) for _ in range(2))
    recorder: Any = plotted.start_recording(lambda: data_func(plotted.step_count), options)
    for scene in (bare, plotted):
        scene.build()
        scene.step(10)
    # What is measured is a plot that runs, not one that starts.
    recorder.get_image_array()
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        times[0].extend(_times(lambda: (data_func(bare.step_count), bare.step()), steps))
        times[1].extend(_times(plotted.step, steps))
    for scene in (bare, plotted):
        scene.destroy()
    return times


def _print(name: str, bare: list[float], plotted: list[float]) -> None:
    median = statistics.median(plotted) - statistics.median(bare)
    rare = float(np.percentile(plotted, 99) - np.percentile(bare, 99))
    print(f"{name:44}{median:11.1f}{rare:10.1f}{statistics.mean(plotted) / statistics.mean(bare):13.3f}")


def _peers() -> dict[str, Callable[[], None]]:
    """Each draws one sample."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    def canvas() -> tuple[Any, Any]:
        figure = Figure(figsize=(8, 6))
        FigureCanvasAgg(figure)
        return figure, figure.subplots()

    lines_figure, axes = canvas()
    values = np.zeros((100, 10))
    lines = axes.plot(values)

    def draw_lines() -> None:
        for line in lines:
            line.set_ydata(values[:, 0])
        lines_figure.canvas.draw()

    image_figure, axes = canvas()
    image = axes.imshow(_image(0))

    def draw_image() -> None:
        image.set_data(_image(1))
        image_figure.canvas.draw()

    vector_figure, axes = canvas()
    arrows = axes.quiver(*np.array(_POSITIONS).T[:2], np.ones(64), np.ones(64))

    def draw_vectors() -> None:
        arrows.set_UVC(np.ones(64), np.ones(64))
        vector_figure.canvas.draw()

    return {"10 lines": draw_lines, "an image of 320 x 240": draw_image, "64 vectors": draw_vectors}
