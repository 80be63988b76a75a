"""What live plots cost the stepping thread, beside drawing in it with matplotlib as most tools do."""

from __future__ import annotations

import argparse
import hashlib
import math
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

Array = np.ndarray[Any, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--steps", type=int, default=300, help="steps of a loop in a round")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--step-time", type=float, default=1.0, help="of the simulation without plots [ms]")
    parser.add_argument("--drawn-steps", type=int, default=20, help="steps of a loop that draws in the step")


def run(arguments: argparse.Namespace) -> None:
    """Prints the table."""
    seen = "windows are shown" if has_display() else "NO DISPLAY: nothing is drawn; try xvfb-run"
    print(head_line(f"a step of {arguments.step_time:g} ms with a live plot; {seen}"))
    print(f"{'':36}{'taking the sample, +us':^22}{'the whole step, +us':^22}{'':>12}")
    print(f"{'plot':36}{'median':>11}{'99 %':>11}{'median':>11}{'99 %':>11}{'mean, ratio':>12}")
    work = _Work(arguments.step_time)
    for name, (what, data_func, options) in _plots().items():
        bare, copied, plotted = _measure(work, data_func, options, arguments.steps, arguments.rounds)
        _print(name, bare, plotted)
        _print(f"a copy of the {what} instead", bare, copied)
    print("drawn by matplotlib in the stepping thread, at each sample:")
    for name, draw in _peers().items():
        bare, drawn = (
            _Times(work, work, arguments.drawn_steps),
            _Times(work, lambda draw=draw: (work(), draw()), arguments.drawn_steps),
        )
        _print(name, bare, drawn)


def _plots() -> dict[str, tuple[str, Callable[[int], Array], Any]]:
    return {
        "PyQtLinePlot, 10 values": ("values", lambda k: np.sin(_ANGLES + k / 50), PyQtLinePlot()),
        "MPLLinePlot, 10 values": ("values", lambda k: np.sin(_ANGLES + k / 50), MPLLinePlot()),
        "MPLImagePlot, 320 x 240 colours": ("image", _image, MPLImagePlot()),
        "MPLVectorFieldPlot, 64 vectors": (
            "vectors",
            lambda k: np.full((64, 3), np.sin(k / 50)),
            MPLVectorFieldPlot(positions=_POSITIONS, scale_factor=0.1),
        ),
    }


_frames = np.random.default_rng(0).integers(0, 255, (8, 240, 320, 3), np.uint8)


def _image(k: int) -> Array:
    return _frames[k % len(_frames)]


class _Work:
    """Computes for some time [ms], with the interpreter's lock released as MuJoCo does, and notes how long."""

    def __init__(self, milliseconds: float) -> None:
        block = bytes(2**16)
        seconds = min(_timed(lambda: hashlib.sha256(block)) for _ in range(50)) / 1e6
        self._data = bytes(round(len(block) * milliseconds / 1e3 / seconds))
        self.took = 0.0

    def __call__(self) -> None:
        self.took = _timed(lambda: hashlib.sha256(self._data))


def _timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e6


class _Times:
    """The times of some steps [us]: `whole`, and `beside` the simulation.

    Memory and caches are shared by all that runs: the simulation itself varies more than a sample takes.
    """

    def __init__(self, work: _Work, call: Callable[[], object] | None = None, steps: int = 0) -> None:
        self.whole: list[float] = []
        self.beside: list[float] = []
        self._work = work
        if call is not None:
            self.take(call, steps)

    def take(self, call: Callable[[], object], steps: int) -> None:
        for _ in range(steps):
            whole = _timed(call)
            self.whole.append(whole)
            self.beside.append(whole - self._work.took)


def _measure(
    work: _Work, data_func: Callable[[int], Array], options: Any, steps: int, rounds: int
) -> tuple[_Times, _Times, _Times]:
    """Steps without, with a copy of the data that the loop makes itself, and with the plot, a round of each in turn.

    The data are computed in all of them.
    """
    bare, plotted = (sr.Scene(engine=sr.scene.FunctionEngine(work, dt=1e-3)) for _ in range(2))
    recorder: Any = plotted.start_recording(lambda: data_func(plotted.step_count), options)
    for scene in (bare, plotted):
        scene.build()
        scene.step(10)
    # What is measured is a plot that runs, not one that starts.
    recorder.get_image_array()
    kept = data_func(0).copy()

    def step_and_copy() -> None:
        kept[...] = data_func(bare.step_count)
        bare.step()

    loops = (lambda: (data_func(bare.step_count), bare.step()), step_and_copy, plotted.step)
    times = (_Times(work), _Times(work), _Times(work))
    for _ in range(rounds):
        for each, loop in zip(times, loops, strict=True):
            each.take(loop, steps)
    for scene in (bare, plotted):
        scene.destroy()
    return times


def _print(name: str, bare: _Times, other: _Times) -> None:
    columns = ""
    for base, values in ((bare.beside, other.beside), (bare.whole, other.whole)):
        columns += f"{statistics.median(values) - statistics.median(base):11.1f}"
        columns += f"{np.percentile(values, 99) - np.percentile(base, 99):11.1f}"
    print(f"{name:36}{columns}{_mean(other.whole) / _mean(bare.whole):12.3f}")


def _mean(times: list[float]) -> float:
    """Of all but the slowest 1 %, in which other programs had their turn."""
    return statistics.mean(sorted(times)[: math.ceil(0.99 * len(times))])


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
