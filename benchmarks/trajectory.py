"""What a step costs more while it is recorded to a trajectory, in microseconds, one by one and a hundred at once."""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np

import simreel as sr
from benchmarks.measure import differences, head_line, interleaved
from benchmarks.robots import load, robots

__all__ = ["add_arguments", "run"]

BARE, SCENE, REEL, BLOCK = "bare loop", "scene.step", "TrajectoryFile", "the same, step(100)"
_BLOCK = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--steps", type=int, default=2000, help="steps of a loop in a round")
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--worlds", type=int, default=64)


def run(arguments: argparse.Namespace) -> None:
    """Prints the table."""
    print(head_line("us a step, medians of rounds in turn"))
    print(f"{'model':16}{'loop':20}{'fastest':>10}{'median':>10}{'over bare':>11}{'of bare':>9}{'bytes a step':>14}")
    for name, path in robots("arm", "humanoid").items():
        _measure(name, path, 0, arguments.steps, arguments)
    for name, path in robots("quadruped").items():
        steps = max(_BLOCK, arguments.steps // arguments.worlds)
        _measure(f"{name} x {arguments.worlds}", path, arguments.worlds, steps, arguments)


def _measure(name: str, path: Path, n_envs: int, steps: int, arguments: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        recordings = {REEL: Path(folder, "loop.reel"), BLOCK: Path(folder, "block.reel")}
        scenes = {loop: _scene(path, n_envs, recordings.get(loop)) for loop in (SCENE, REEL, BLOCK)}
        loops: dict[str, Callable[[int], None]] = {BARE: _bare(path, n_envs)}
        loops |= {loop: _stepping(scene, _BLOCK if loop == BLOCK else 1) for loop, scene in scenes.items()}
        times = interleaved(loops, steps=steps, rounds=arguments.rounds)
        taken = steps * (arguments.rounds + 1)
        for scene in scenes.values():
            scene.destroy()
        for loop, values in times.items():
            over = differences(times, loop, BARE)
            share = 100 * over / statistics.median(times[BARE])
            numbers = f"{min(values):10.2f}{statistics.median(values):10.2f}{over:11.2f}{share:8.0f}%"
            size = f"{recordings[loop].stat().st_size / taken:14.0f}" if loop in recordings else ""
            print(f"{name:16}{loop:20}{numbers}{size}")


def _bare(path: Path, n_envs: int) -> Callable[[int], None]:
    model, data = load(path)
    data.ctrl[:] = _controls(model.nu)
    if n_envs:
        from mujoco.batch import Batch

        batch = Batch(model, n_envs, persistent=True)
        batch.bind("ctrl")[:] = data.ctrl

    def loop(steps: int) -> None:
        for _ in range(steps):
            mujoco.mj_step(model, data)

    def loop_of_worlds(steps: int) -> None:
        for _ in range(steps):
            batch.step()

    return loop_of_worlds if n_envs else loop


def _scene(path: Path, n_envs: int, file: Path | None) -> sr.Scene:
    model, data = load(path)
    data.ctrl[:] = _controls(model.nu)
    scene = sr.Scene.from_mujoco(model, data)
    if file is not None:
        scene.start_recording(sr.recorders.TrajectoryFile(file))
    scene.build(n_envs)
    return scene


def _controls(n: int) -> np.ndarray:
    """So that something moves, but nothing wild."""
    return 0.1 * np.sin(np.arange(n))


def _stepping(scene: sr.Scene, at_once: int) -> Callable[[int], None]:
    def loop(steps: int) -> None:
        for _ in range(steps // at_once):
            scene.step(at_once)

    return loop
