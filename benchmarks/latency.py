"""What a reset and a stop take with several recorders that have nothing left to write, in milliseconds."""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import simreel as sr
from benchmarks.measure import head_line
from benchmarks.robots import load, robots

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--recorders", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=51)


def run(arguments: argparse.Namespace) -> None:
    """Prints the table."""
    count = arguments.recorders
    print(head_line(f"ms with {count} recorders, medians"))
    print(f"{'call':44}{'median':>8}{'90 %':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for name, times in _measure(Path(folder), count, arguments.rounds).items():
            print(f"{name:44}{statistics.median(times):8.2f}{sorted(times)[len(times) * 9 // 10]:8.2f}")


def _measure(folder: Path, count: int, rounds: int) -> dict[str, list[float]]:
    model, data = load(robots("arm")["arm"])
    scene = sr.Scene.from_mujoco(model, data)
    scene.build()
    times: dict[str, list[float]] = {
        "reset without a recorder": [],
        "reset, idle": [],
        "reset, a file for each episode": [],
        "stop, idle, files of one row": [],
    }
    for index in range(rounds):
        scene.step()
        times["reset without a recorder"].append(_time(scene.reset))
        for per_episode, name in ((False, "reset, idle"), (True, "reset, a file for each episode")):
            for number in range(count):
                target = folder / f"{per_episode}_{index}_{number}.npz"
                scene.start_recording(lambda: data.qpos, sr.recorders.NPZFile(target, save_on_reset=per_episode))
            scene.step()
            for recorder in scene.recorders:
                recorder.sync()
            times[name].append(_time(scene.reset))
            if per_episode:
                scene.stop_recording()
            else:
                times["stop, idle, files of one row"].append(_time(scene.stop_recording))
    scene.destroy()
    return times


def _time(call: Callable[[], None]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e3
