"""`simreel demo`: records a robot that walks, and shows what that costs."""

from __future__ import annotations

import math
import os
import time
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simreel.cli.console import put, table

if TYPE_CHECKING:
    from simreel.cli.gaits import Walker
    from simreel.recorders import Recorder
    from simreel.scene import Scene

__all__ = ["demo"]

# Simulated time [s].
_DURATION = 10.0
# So much of it is filmed [s]: where the processor draws, a picture takes longer than the steps between two.
_FILMED = 6.0
# And so much is plotted [s].
_PLOTTED = 3.0
_NPZ, _CSV, _REEL = "motion.npz", "path.csv", "demo.reel"
# The run is timed in so many pieces, with and without recording by turns, so that a busy machine slows down both.
_PIECES = 40


def demo(
    out: Annotated[
        str, typer.Option(metavar="DIR", help="The folder to write to; what an earlier demo wrote is replaced.")
    ] = "simreel-demo",
    plots: Annotated[
        bool,
        typer.Option("--plots", help="Plot it too: in windows, or where there is no display, to videos and pictures."),
    ] = False,
) -> None:
    """Record a robot that walks, and tell what recording costs."""
    from simreel.cli.gaits import walker

    robot = walker()
    bare, recorded = _scene(robot), _scene(robot)
    recorders = _record(recorded, out)
    with bare, recorded:
        seconds = _walk(robot, bare, recorded)
        distance = math.hypot(*recorded.entities[0].get_pos()[:2])
        steps = recorded.step_count
        recorded.stop_recording()
        put(f"{robot.name} walked {distance:.1f} m in {recorded.get_time():g} s, {steps} steps of {recorded.dt:g} s.")
    _tell([*recorders, *_film(robot, out)], seconds)
    _verify(os.path.join(out, _REEL))
    _tell_how_to_read(out)
    if plots:
        _plot(robot, out)


def _scene(robot: Walker) -> Scene:
    from simreel.options.morphs import MJCF
    from simreel.scene import Scene

    scene = Scene()
    scene.add_entity(MJCF(file=str(robot.file)))
    scene.build()
    return scene


def _record(scene: Scene, out: str) -> list[tuple[str, str, Recorder[Any]]]:
    """Starts the recordings: for each its file, what is in it, and its handle."""
    from simreel.options.recorders import CSVFile, NPZFile

    data = scene.data
    # Live views, which the recorder copies. Body 0 is the world: its subtree is all there is.
    motion = {"qpos": data.qpos, "qvel": data.qvel, "ctrl": data.ctrl, "com": data.subtree_com[0]}
    base = scene.model.jnt_bodyid[0]
    position, velocity = data.xpos[base], data.qvel[:3]

    def path() -> dict[str, float]:
        x, y, z = position.tolist()
        return {"x": x, "y": y, "height": z, "speed": math.hypot(*velocity.tolist())}

    npz, csv = os.path.join(out, _NPZ), os.path.join(out, _CSV)
    return [
        (
            npz,
            "qpos, qvel, ctrl and com (the centre of mass) of each step",
            scene.start_recording(lambda: motion, NPZFile(filename=Path(npz), overwrite=True)),
        ),
        (
            csv,
            "x, y, height and speed, 50 times a second",
            scene.start_recording(path, CSVFile(filename=Path(csv), overwrite=True, hz=50)),
        ),
    ]


def _film(robot: Walker, out: str) -> list[tuple[str, str, Recorder[Any]]]:
    """Has the robot walk once more before a camera: pictures would spoil the timing."""
    from simreel.cli.controls import drive
    from simreel.cli.filming import exact_hz, film_camera
    from simreel.options.recorders import VideoFile
    from simreel.options.trajectory import TrajectoryFile

    video, reel = os.path.join(out, "demo.mp4"), os.path.join(out, _REEL)
    scene = _scene(robot)
    camera = film_camera(scene, None, (640, 480))
    with scene:
        options = VideoFile(filename=Path(video), hz=exact_hz(scene.dt), name=robot.name, overwrite=True)
        film = scene.start_recording(camera.render, options)
        trajectory = scene.start_recording(TrajectoryFile(filename=Path(reel), exact=True, overwrite=True))
        drive(scene.step, scene.data.ctrl, robot.law(), scene.dt, 0, round(_FILMED / scene.dt))
        scene.stop_recording()
    scene.destroy()
    return [
        (video, "a film of the first seconds", film),
        (reel, "the scene itself, in each step of the film", trajectory),
    ]


def _verify(reel: str) -> None:
    """Runs the recorded trajectory again."""
    from simreel.cli.commands.verify import verdict
    from simreel.replay import Trajectory

    with Trajectory(reel) as trajectory:
        put(f"{reel}, run again: {verdict(trajectory.verify(), len(trajectory))}.")


def _plot(robot: Walker, out: str) -> None:
    """Has the robot walk once more, and plots it."""
    from simreel.cli.controls import drive
    from simreel.cli.filming import exact_hz, film_camera
    from simreel.cli.plotting import SECONDS, Plots, paced
    from simreel.options.recorders import MPLImagePlot, MPLLinePlot, MPLVectorFieldPlot, PyQtLinePlot

    scene = _scene(robot)
    model, data = scene.model, scene.data
    hz = exact_hz(scene.dt)
    # Each motor turns a joint, and these are the last ones.
    names = [model.joint(model.njnt - model.nu + i).name for i in range(model.nu)]
    joints = data.qpos[-model.nu :]
    camera = film_camera(scene, None, (320, 240))
    bodies = data.xpos[1:].copy()
    lines: dict[str, Any] = {"history_length": round(SECONDS * hz), "window_size": (640, 480)}
    size: dict[str, Any] = {"window_size": (640, 480)}
    plots = Plots(scene, hz, overwrite=True)
    base = {"height [m]": data.xpos[1, 2:], "speed [m/s]": data.qvel[:3]}
    plots.start(
        os.path.join(out, "plot_base"),
        lambda: base,
        PyQtLinePlot,
        title=robot.name,
        labels={"height [m]": "z", "speed [m/s]": ("x", "y", "z")},
        **lines,
    )
    plots.start(
        os.path.join(out, "plot_joints"),
        lambda: joints,
        MPLLinePlot,
        title="Joints",
        labels=names,
        y_label="angle [rad]",
        **lines,
    )
    plots.start(os.path.join(out, "plot_camera"), camera.render, MPLImagePlot, title="Camera", **size)
    plots.start(
        os.path.join(out, "plot_velocities"),
        lambda: data.cvel[1:, 3:],
        MPLVectorFieldPlot,
        title="Velocities of the bodies [m/s]",
        positions=bodies - bodies.mean(axis=0),
        scale_factor=0.1,
        max_magnitude=3.0,
        **size,
    )
    with scene:
        step = paced(scene.step, scene.dt) if plots.are_shown else scene.step
        drive(step, data.ctrl, robot.law(), scene.dt, 0, round(_PLOTTED / scene.dt))
        for file in plots.pictures():
            put(f"  {file}")
    scene.destroy()


def _walk(robot: Walker, bare: Scene, recorded: Scene) -> tuple[float, float]:
    """Takes the same steps in both scenes; the time of one step in each [s]."""
    from simreel.cli.controls import drive

    law = robot.law()
    total = round(_DURATION / recorded.dt)
    bounds = [total * piece // _PIECES for piece in range(_PIECES + 1)]
    times: dict[Scene, list[float]] = {bare: [], recorded: []}
    for piece, (first, last) in enumerate(pairwise(bounds)):
        scenes = [bare, recorded] if piece % 2 else [recorded, bare]
        for scene in scenes:
            start = time.perf_counter()
            drive(scene.step, scene.data.ctrl, law, scene.dt, first, last)
            times[scene].append((time.perf_counter() - start) / (last - first))
    return median(times[bare]), median(times[recorded])


def _tell(recorders: list[tuple[str, str, Recorder[Any]]], seconds: tuple[float, float]) -> None:
    from simreel.recorders.base import format_bytes

    files = [
        (file, f"{recorder.status.written} rows", format_bytes(os.path.getsize(file)), content)
        for file, content, recorder in recorders
    ]
    for line in table(files, indent="  "):
        put(line)
    bare, recorded = seconds
    rates = f"{1 / bare:,.0f} steps/s without recording, {1 / recorded:,.0f} with it"
    put(f"{rates}: {(recorded - bare) * 1e6:.1f} us a step.")


def _tell_how_to_read(out: str) -> None:
    npz, csv, reel = (os.path.join(out, name) for name in (_NPZ, _CSV, _REEL))
    put("To read them:")
    put(f"  import numpy as np; run = np.load({npz!r}); print(run['timestamp'][-1], run['qpos'].shape)")
    put(f"  path = np.genfromtxt({csv!r}, delimiter=',', names=True); print(path['speed'].max())")
    put(f"  import simreel as sr; replay = sr.Scene.load_trajectory({reel!r}); replay.seek(20); replay.scene.step(20)")
