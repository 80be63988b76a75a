"""What a step costs more with recorders, in microseconds, beside what people write by hand."""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path

import mujoco

import simreel as sr
from benchmarks.measure import differences, head_line, interleaved
from benchmarks.robots import load, robots

__all__ = ["add_arguments", "run"]

BARE, APPEND, SCENE, NPZ, CSV = "mj_step", "own append", "scene.step", "NPZFile(qpos)", "CSVFile(qpos)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--steps", type=int, default=2000, help="steps of a loop in a round")
    parser.add_argument("--rounds", type=int, default=31)


def run(arguments: argparse.Namespace) -> None:
    """Prints the table."""
    print(head_line("us a step, medians of rounds in turn"))
    print(f"{'model':12}{'loop':18}{'fastest':>8}{'median':>8}{'over mj_step':>14}{'over own append':>17}")
    for name, path in robots("cartpole", "arm", "quadruped", "humanoid").items():
        with tempfile.TemporaryDirectory() as folder:
            _measure(name, path, Path(folder), arguments)


def _measure(name: str, path: Path, folder: Path, arguments: argparse.Namespace) -> None:
    scenes: list[sr.Scene] = []
    loops: dict[str, Callable[[int], None]] = {
        BARE: _bare(path),
        APPEND: _append(path),
        SCENE: _scene(path, None, scenes),
        NPZ: _scene(path, sr.recorders.NPZFile(folder / "qpos.npz"), scenes),
        CSV: _scene(path, sr.recorders.CSVFile(folder / "qpos.csv"), scenes),
    }
    times = interleaved(loops, steps=arguments.steps, rounds=arguments.rounds)
    for scene in scenes:
        scene.destroy()
    for loop, values in times.items():
        over_bare, over_append = differences(times, loop, BARE), differences(times, loop, APPEND)
        numbers = f"{min(values):8.2f}{statistics.median(values):8.2f}{over_bare:14.2f}{over_append:17.2f}"
        print(f"{name:12}{loop:18}{numbers}")


def _bare(path: Path) -> Callable[[int], None]:
    model, data = load(path)

    def loop(steps: int) -> None:
        for _ in range(steps):
            mujoco.mj_step(model, data)

    return loop


def _append(path: Path) -> Callable[[int], None]:
    model, data = load(path)

    def loop(steps: int) -> None:
        rows = []
        for _ in range(steps):
            rows.append(data.qpos.copy())
            mujoco.mj_step(model, data)

    return loop


def _scene(path: Path, options: sr.recorders.RecorderOptions | None, scenes: list[sr.Scene]) -> Callable[[int], None]:
    model, data = load(path)
    scene = sr.Scene.from_mujoco(model, data)
    if options is not None:
        scene.start_recording(lambda: data.qpos, options)
    scene.build()
    scenes.append(scene)

    def loop(steps: int) -> None:
        for _ in range(steps):
            scene.step()

    return loop
