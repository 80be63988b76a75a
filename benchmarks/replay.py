"""What it takes to open a trajectory, to seek in it and to run it again, in milliseconds."""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import simreel as sr
from benchmarks.measure import head_line
from benchmarks.robots import load, robots

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--frames", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=101)


def run(arguments: argparse.Namespace) -> None:
    """Prints the table."""
    print(head_line(f"ms, medians of {arguments.rounds}; a seek ends with mj_forward"))
    seeks = f"{'seek, cold':>12}{'90 %':>8}{'seek, warm':>12}{'90 %':>8}"
    print(f"{'model':14}{'open':>8}{'first frame':>13}{seeks}{'verify, a step':>16}")
    for name, path in robots("arm", "humanoid", "ant").items():
        with tempfile.TemporaryDirectory() as folder:
            _measure(name, path, Path(folder, "run.reel"), arguments)


def _measure(name: str, path: Path, file: Path, arguments: argparse.Namespace) -> None:
    _record(path, file, arguments.frames)
    rng = np.random.default_rng(0)
    opening, first, cold, warm = [], [], [], []
    for _ in range(arguments.rounds):
        # Anew each time, so that no chunk is decoded yet.
        opening.append(_time(lambda: sr.Scene.load_trajectory(file)))
        with sr.Scene.load_trajectory(file) as trajectory:
            first.append(_time(lambda trajectory=trajectory: trajectory.seek(0)))
            frame = int(rng.integers(arguments.frames // 2, arguments.frames))
            cold.append(_time(lambda trajectory=trajectory, frame=frame: trajectory.seek(frame)))
            near = frame - frame % 256 + int(rng.integers(0, frame % 256 + 1))
            warm.append(_time(lambda trajectory=trajectory, near=near: trajectory.seek(near)))
    with sr.Scene.load_trajectory(file) as trajectory:
        verify = _time(trajectory.verify) / arguments.frames
    numbers = f"{statistics.median(opening):8.2f}{statistics.median(first):13.2f}"
    for times in (cold, warm):
        numbers += f"{statistics.median(times):12.2f}{sorted(times)[len(times) * 9 // 10]:8.2f}"
    print(f"{name:14}{numbers}{verify:16.3f}")


def _record(path: Path, file: Path, frames: int) -> None:
    model, data = load(path)
    scene = sr.Scene.from_mujoco(model, data)
    scene.start_recording(sr.recorders.TrajectoryFile(file))
    scene.build()
    for step in range(frames):
        data.ctrl[:] = 0.1 * np.sin(0.01 * step + np.arange(model.nu))
        scene.step()
    scene.destroy()


def _time(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e3
