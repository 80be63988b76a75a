"""Makes the gallery of the live plots: `python docs/plot_pictures.py`."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import simreel as sr
from simreel.cli.plotting import write_png
from simreel.recorders import MPLImagePlot, MPLLinePlot, MPLVectorFieldPlot, PyQtLinePlot
from simreel.testing import FakeEngine

_IMG = Path(__file__).resolve().parent / "img"
_DT = 0.01
_STEPS = 120
_GRID = np.array([(x, y, 0) for y in np.linspace(-0.6, 0.6, 4) for x in np.linspace(-1, 1, 6)])


def main() -> None:
    """A plot of each kind after some steps, each as small as it is legible."""
    scene = sr.Scene(engine=FakeEngine(dt=_DT))
    started = {name: scene.start_recording(_at(scene, data), options) for name, (data, options) in _plots().items()}
    scene.build()
    scene.step(_STEPS)
    for name, recorder in started.items():
        write_png(_IMG / f"plot_{name}.png", recorder.get_image_array())
    scene.destroy()


def _at(scene: sr.Scene, data: Callable[[float], Any]) -> Callable[[], Any]:
    return lambda: data(scene.get_time())


def _plots() -> dict[str, tuple[Callable[[float], Any], Any]]:
    common: dict[str, Any] = {"window_size": (400, 300), "show_window": False}
    fields: dict[str, Any] = {**common, "positions": _GRID, "max_magnitude": 1.5, "window_size": (560, 420)}
    return {
        "single": (
            lambda t: math.exp(-t) * math.sin(8 * t),
            PyQtLinePlot(title="Pendulum", y_label="angle [rad]", history_length=200, **common),
        ),
        "dict": (
            lambda t: {"angle [rad]": [math.sin(5 * t), math.cos(3 * t)], "speed [m/s]": 0.2 * math.cos(5 * t)},
            MPLLinePlot(title="Arm", labels={"angle [rad]": ("shoulder", "elbow"), "speed [m/s]": "tip"}, **common),
        ),
        "log": (
            lambda t: [1e3 * math.exp(-6 * t), abs(math.sin(4 * t))],
            PyQtLinePlot(
                title="Solver",
                labels=("residual", "step"),
                y_label="[N]",
                y_log_scale=True,
                history_length=200,
                **common,
            ),
        ),
        "image": (_depth, MPLImagePlot(title="Depth [m]", **common)),
        "subplots": (
            lambda t: np.stack([_swirl(t), _swirl(t + 0.5)]),
            MPLVectorFieldPlot(title="Force [N]", scale_factor=0.25, subplot_titles=("left", "right"), **fields),
        ),
        "twists": (
            lambda t: (_swirl(t), _GRID[:, [2, 2, 0]] * math.cos(t / 2)),
            MPLVectorFieldPlot(title="Force [N] and torque [N m]", scale_factor=0.2, twist_scale_factor=0.8, **fields),
        ),
    }


def _swirl(t: float) -> np.ndarray[Any, Any]:
    return np.cross((0, 0, 1), _GRID) * (1 + 0.5 * math.sin(2 * t))  # type: ignore[no-any-return]


def _depth(t: float) -> np.ndarray[Any, Any]:
    y, x = np.mgrid[0:60, 0:80]
    ground = 3.0 - y / 30
    ball = (x - 40 - 20 * math.sin(t)) ** 2 + (y - 30) ** 2
    return np.where(ball < 200, 0.6 + ball / 600, ground)  # type: ignore[no-any-return]


if __name__ == "__main__":
    main()
