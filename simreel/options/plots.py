"""What each live plot is asked to do."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, field_validator, model_validator

from simreel.options.recorder import RecorderOptions

__all__ = ["MPLImagePlot", "MPLLinePlot", "MPLPlot", "MPLVectorFieldPlot", "PlotOptions", "PyQtLinePlot", "PyQtPlot"]

_SUFFIXES = (".mp4", ".mkv", ".webm", ".gif")
# Samples that may wait for a plot that saves: drawing one takes some milliseconds, and a stop waits for all of them.
_SAVING_BUFFER = 32

Vector = tuple[float, float, float]
Positive = Annotated[float, Field(gt=0)]
# Less than this holds no axes; more than this no encoder takes.
Pixels = Annotated[int, Field(ge=16, le=8192)]


class PlotOptions(RecorderOptions):
    """What every live plot has: its window, and a video of it."""

    positional: ClassVar[tuple[str, ...]] = ()

    plotter: ClassVar[str] = ""
    """What draws it: `module:Class`, imported by the window process."""

    surface: ClassVar[str] = ""
    """What it draws on: "matplotlib" or "pyqtgraph"."""

    suffixes: ClassVar[tuple[str, ...]] = _SUFFIXES

    title: str = ""
    """The title of the plot and its window."""

    window_size: tuple[Pixels, Pixels] = (800, 600)
    """Width and height [px]."""

    save_to_filename: Path | None = None
    """A video to save it to, with a frame for each sample: .mp4, .mkv, .webm or .gif. A step then waits where samples
    come faster than they are drawn: `when_full` is "block" and `buffer_size` 32, unless given."""

    show_window: bool | None = None
    """Whether it has a window. None: where there is a display."""

    overwrite: bool = False
    """Replace a file of that name. Without it, one that exists is an error."""

    @model_validator(mode="before")
    @classmethod
    def _set_queue(cls, data: Any) -> Any:
        if isinstance(data, dict):
            is_saving = data.get("save_to_filename") is not None
            queue = {"when_full": "block", "buffer_size": _SAVING_BUFFER} if is_saving else {"when_full": "drop_oldest"}
            return {**queue, **data}
        return data

    @field_validator("save_to_filename")
    @classmethod
    def _check_filename(cls, path: Path | None) -> Path | None:
        if path is not None and ("\0" in str(path) or path.suffix.lower() not in _SUFFIXES):
            raise ValueError(f"a name that ends in {' or '.join(_SUFFIXES)} is needed")
        return path


class MPLPlot(PlotOptions):
    """A plot in a matplotlib figure; the base of your own."""

    surface = "matplotlib"


class PyQtPlot(PlotOptions):
    """A plot in a pyqtgraph window, faster than matplotlib; the base of your own."""

    surface = "pyqtgraph"


def _as_labels(labels: Any) -> Any:
    if isinstance(labels, Mapping):
        return {str(key): _as_names(value) for key, value in labels.items()}
    return None if labels is None else _as_names(labels)


def _as_names(names: Any) -> tuple[str, ...]:
    names = (names,) if isinstance(names, str) else names
    if not (isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)):
        # Here, and not by pydantic, which would tell of each type that it is none of.
        raise ValueError("the name of each value, or a dict of such names by key, is needed")
    return tuple(names)


class _LineOptions(PlotOptions):
    labels: Annotated[tuple[str, ...] | dict[str, tuple[str, ...]] | None, BeforeValidator(_as_labels)] = None
    """The name of each value, or for a dict of values such names by key."""

    x_label: str = ""
    """What is written at the x axis. Empty: time [s]."""

    y_label: str = ""
    """What is written at the y axis."""

    y_log_scale: bool = False
    """Whether the y axis is logarithmic; what is not above 0 is a gap then."""

    history_length: int = Field(100, ge=2)
    """Samples that are shown: the newest."""


class MPLLinePlot(_LineOptions, MPLPlot):
    """Plots numbers over time with matplotlib, a dict of them with a subplot for each key."""

    plotter = "simreel.recorders.plots.mpl_lines:MPLLines"


class PyQtLinePlot(_LineOptions, PyQtPlot):
    """Plots numbers over time with pyqtgraph, a dict of them with a subplot for each key; the fastest to draw."""

    plotter = "simreel.recorders.plots.pyqt_lines:PyQtLines"


class MPLImagePlot(MPLPlot):
    """Shows pictures: (H, W) numbers by a colour map, (H, W, 3) or (H, W, 4) colours."""

    plotter = "simreel.recorders.plots.mpl_image:MPLImage"

    clim: tuple[float, float] | None = None
    """The numbers that get the first and the last colour. None: the least and the greatest of each picture."""

    @field_validator("clim")
    @classmethod
    def _check_clim(cls, clim: tuple[float, float] | None) -> tuple[float, float] | None:
        if clim is not None and not clim[0] < clim[1]:
            raise ValueError("the lower number first, and another one, is needed")
        return clim


class MPLVectorFieldPlot(MPLPlot):
    """Shows vectors at fixed positions as arrows, in the plane across `normal`.

    The data are (N, 3), with `subplot_titles` (K, N, 3), and with `twist_scale_factor` a pair of these: vectors and
    twists, which are drawn as bent arrows by their part along `normal`, such as forces and torques.
    """

    plotter = "simreel.recorders.plots.mpl_vectors:MPLVectors"

    positions: tuple[Vector, ...]
    """Where the arrows start, (N, 3) [m]."""

    normal: Vector = (0, 0, 1)
    """What points at the viewer, (3,)."""

    scale_factor: Positive = 1.0
    """How long the arrow of a vector of magnitude 1 is [m]."""

    max_magnitude: Positive = 1.0
    """The magnitude that gets the last colour; greater ones are drawn as this one."""

    subplot_titles: tuple[str, ...] | None = None
    """The title of each of K plots side by side. None: one plot."""

    twist_scale_factor: Positive | None = None
    """How many turns the arrow of a twist of magnitude 1 makes. None: the data have no twists."""

    twist_max_magnitude: Positive = 1.0
    """The magnitude that gets the last colour; greater ones are drawn as this one."""

    @field_validator("positions", "subplot_titles")
    @classmethod
    def _check_length(cls, values: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
        if values is not None and not values:
            raise ValueError("at least one is needed")
        return values

    @field_validator("normal")
    @classmethod
    def _check_normal(cls, normal: Vector) -> Vector:
        if not math.hypot(*normal) > 0:
            raise ValueError("a vector with a direction is needed")
        return normal
