"""`simreel run`: simulates a model and records it."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simreel.cli.console import put
from simreel.cli.filming import Film, exact_hz
from simreel.cli.parsers import choice, picture_size, positive, split_names, whole
from simreel.errors import MissingFileError, OptionsError, SimreelError, UnstableError

if TYPE_CHECKING:
    from simreel.cli.controls import Law
    from simreel.cli.fields import FieldSource
    from simreel.cli.plotting import Plots
    from simreel.options.recorders import FileOptions
    from simreel.recorders import Recorder
    from simreel.scene import Scene

__all__ = ["run"]

_CONTROLS = ("random", "zero")
_SIZE = "640x480"
# Beyond this a float64 no longer counts steps.
_MAX_STEPS = 2**53


def run(
    model: Annotated[str, typer.Argument(metavar="MODEL.xml", help="The MJCF file to simulate.")],
    duration: Annotated[float, typer.Option(parser=positive, metavar="S", help="Simulated seconds.")] = 5.0,
    hz: Annotated[
        float | None,
        typer.Option(parser=positive, metavar="F", help="Samples per simulated second; without it each step."),
    ] = None,
    npz: Annotated[str | None, typer.Option(metavar="F", help="Record to this NumPy archive.")] = None,
    csv: Annotated[str | None, typer.Option(metavar="F", help="Record to this CSV file.")] = None,
    reel: Annotated[
        str | None, typer.Option(metavar="F", help="Record the simulation itself to this .reel, to replay and re-run.")
    ] = None,
    video: Annotated[str | None, typer.Option(metavar="F", help="Film to this .mp4, .mkv, .webm or .gif.")] = None,
    camera: Annotated[
        str | None, typer.Option(metavar="NAME", help="The camera of the model to film with; by default its first.")
    ] = None,
    size: Annotated[str | None, typer.Option(metavar="WxH", help=f"Pixels of the video; {_SIZE} without it.")] = None,
    fps: Annotated[
        float | None,
        typer.Option(parser=positive, metavar="F", help="Frames per simulated second; about 30 without it."),
    ] = None,
    record: Annotated[
        str, typer.Option(metavar="a,b", help="What to record: arrays of mujoco.MjData, such as xpos,sensordata.")
    ] = "qpos,qvel,ctrl",
    plot: Annotated[
        str | None,
        typer.Option(
            metavar="a,b",
            help="Plot these arrays while it runs, in simulated time; where there is no display, to a video "
            "and a picture in the current folder, such as MODEL_plot.mp4.",
        ),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")] = False,
    control: Annotated[
        str, typer.Option(parser=choice(_CONTROLS), metavar="random|zero", help="Smooth random controls, or none.")
    ] = "random",
    seed: Annotated[int, typer.Option(parser=whole, metavar="N", help="Seed of the random controls.")] = 0,
) -> int:
    """Simulate a model for some seconds and record it."""
    if all(given is None for given in (plot, npz, csv, reel, video)):
        raise typer.BadParameter("nothing to record to: give --npz, --csv, --reel, --video or --plot")
    for option, value in (("--camera", camera), ("--size", size), ("--fps", fps and f"{fps:g}")):
        if video is None and value is not None:
            raise typer.BadParameter(f"{option} {value}: give --video too, which it is about")
    files = _files(hz, overwrite, npz, csv, reel)
    res = picture_size("--size", _SIZE if size is None else size)
    if not os.path.isfile(model):
        raise MissingFileError(model, "the model to run")

    from simreel.cli.controls import smooth_random, zero
    from simreel.cli.fields import FieldSource
    from simreel.options.morphs import MJCF
    from simreel.options.recorders import VideoFile
    from simreel.scene import Scene

    source = FieldSource(split_names("--record", record))
    scene = Scene()
    scene.add_entity(MJCF(file=model))
    if not duration / scene.dt < _MAX_STEPS:
        raise typer.BadParameter(f"--duration {duration:g}: too many steps of {scene.dt:g} s")
    steps = max(1, round(duration / scene.dt))
    film = None
    recorders = [
        (file, scene.start_recording(None if options.reads_scene else source, options)) for file, options in files
    ]
    if video is not None:
        film = Film(model, camera, res)
        options = _options("--video", video, VideoFile, fps or exact_hz(scene.dt), overwrite)
        recorders.append((video, scene.start_recording(film, options)))
    plots, plotted = _plots(scene, model, plot, overwrite)
    # All mistakes but those of the model have been told, and no file is open: from here on all are, or none.
    scene.build()
    for bound in (source, film, plotted):
        if bound is not None:
            bound.bind(scene)
    law = zero(scene.model) if control == "zero" else smooth_random(scene.model, seed)
    try:
        rate = _simulate(scene, steps, law, plots)
    except UnstableError as error:
        at = f"at step {error.step} ({scene.get_time():g} s)"
        raise SimreelError(f"{model}: unstable {at}: {error.reason} The samples before are kept.") from None
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"interrupted at {scene.get_time():g} s; the files are complete") from None
    finally:
        _report(recorders)
    put(f"{steps} steps of {scene.dt:g} s: {rate:,.0f} steps/s")
    return 0


def _files(
    hz: float | None, overwrite: bool, npz: str | None, csv: str | None, reel: str | None
) -> list[tuple[str, FileOptions]]:
    """Each file as it was written, and its options."""
    from simreel.options.recorders import CSVFile, NPZFile, TrajectoryFile

    files: list[tuple[str, FileOptions]] = []
    kinds: list[tuple[str, str | None, type[FileOptions]]] = [
        ("--npz", npz, NPZFile),
        ("--csv", csv, CSVFile),
        ("--reel", reel, TrajectoryFile),
    ]
    for option, file, kind in kinds:
        if file is None:
            continue
        files.append((file, _options(option, file, kind, hz, overwrite)))
    return files


def _options(option: str, file: str, kind: type[FileOptions], hz: float | None, overwrite: bool) -> FileOptions:
    try:
        return kind(filename=Path(file), hz=hz, overwrite=overwrite)
    except OptionsError as error:
        reason = error.problems[0].removeprefix(f"filename = {str(Path(file))!r}: ")
        raise typer.BadParameter(f"{option} {file}: {reason}") from None


def _plots(scene: Scene, model: str, names: str | None, overwrite: bool) -> tuple[Plots | None, FieldSource | None]:
    """The plots, and what they show, to be bound to the built scene."""
    if names is None:
        return None, None
    from simreel.cli.fields import FieldSource
    from simreel.cli.plotting import SECONDS, Plots
    from simreel.options.recorders import MPLLinePlot

    source = FieldSource(split_names("--plot", names), option="--plot")
    hz = exact_hz(scene.dt)
    plots = Plots(scene, hz, overwrite=overwrite)
    stem = Path(model).stem
    plots.start(
        f"{stem}_plot",
        lambda: {name: values.ravel() for name, values in source().items()},
        MPLLinePlot,
        title=stem,
        history_length=max(2, round(SECONDS * hz)),
    )
    return plots, source


def _simulate(scene: Scene, steps: int, law: Law, plots: Plots | None) -> float:
    """Steps the scene and closes its recorders; the steps taken in a second."""
    from simreel.cli.controls import drive
    from simreel.cli.plotting import paced
    from simreel.cli.progress import progress_bar

    with scene, progress_bar(scene, steps):
        step = paced(scene.step, scene.dt) if plots is not None and plots.are_shown else scene.step
        start = time.perf_counter()
        drive(step, scene.data.ctrl, law, scene.dt, 0, steps)
        seconds = time.perf_counter() - start
        for file in [] if plots is None else plots.pictures():
            put(file)
    return steps / seconds


def _report(recorders: Sequence[tuple[str, Recorder[Any]]]) -> None:
    from simreel.recorders.base import format_bytes

    for file, recorder in recorders:
        status = recorder.status
        path = os.path.expanduser(file)
        size = format_bytes(os.path.getsize(path)) if os.path.isfile(path) else "no file"
        put(f"{file}: {status.written} samples, {status.dropped} dropped, {size}")
