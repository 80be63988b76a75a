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
# The run is timed in so many pieces, with and without recording by turns, so that a busy machine slows down both.
_PIECES = 40


def demo(
    out: Annotated[
        str, typer.Option(metavar="DIR", help="The folder to write to; what an earlier demo wrote is replaced.")
    ] = "simreel-demo",
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
    _tell(recorders, _film(robot, out), seconds)


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

    npz, csv = os.path.join(out, "motion.npz"), os.path.join(out, "path.csv")
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


def _film(robot: Walker, out: str) -> tuple[str, str, Recorder[Any]]:
    """Has the robot walk once more before a camera: pictures would spoil the timing."""
    from simreel.cli.controls import drive
    from simreel.cli.filming import exact_hz, film_camera
    from simreel.options.recorders import VideoFile

    video = os.path.join(out, "demo.mp4")
    scene = _scene(robot)
    camera = film_camera(scene, None, (640, 480))
    with scene:
        options = VideoFile(filename=Path(video), hz=exact_hz(scene.dt), name=robot.name, overwrite=True)
        recorder = scene.start_recording(camera.render, options)
        drive(scene.step, scene.data.ctrl, robot.law(), scene.dt, 0, round(_FILMED / scene.dt))
        scene.stop_recording()
    scene.destroy()
    return video, "a film of the first seconds", recorder


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


def _tell(
    recorders: list[tuple[str, str, Recorder[Any]]], film: tuple[str, str, Recorder[Any]], seconds: tuple[float, float]
) -> None:
    from simreel.recorders.base import format_bytes

    files = [
        (file, f"{recorder.status.written} rows", format_bytes(os.path.getsize(file)), content)
        for file, content, recorder in [*recorders, film]
    ]
    for line in table(files, indent="  "):
        put(line)
    bare, recorded = seconds
    rates = f"{1 / bare:,.0f} steps/s without recording, {1 / recorded:,.0f} with it"
    put(f"{rates}: {(recorded - bare) * 1e6:.1f} us a step.")
    put("To read them:")
    put(f"  import numpy as np; run = np.load({files[0][0]!r}); print(run['timestamp'][-1], run['qpos'].shape)")
    put(f"  path = np.genfromtxt({files[1][0]!r}, delimiter=',', names=True); print(path['speed'].max())")
