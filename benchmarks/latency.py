"""What a reset and a stop take with several recorders that have nothing left to write, in milliseconds."""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import simreel as sr
from benchmarks.measure import head_line
from benchmarks.robots import load, robots

if TYPE_CHECKING:
    from simreel.options.recorders import FileOptions

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
        "stop, idle, CSVFile": [],
        "stop, idle, NPZFile: two rows to an archive": [],
        "np.savez of as many such archives": [],
    }
    csv, npz = sr.recorders.CSVFile, sr.recorders.NPZFile
    for index in range(rounds):
        scene.step()
        times["reset without a recorder"].append(_time(scene.reset))
        _record(scene, [csv(folder / f"idle_{index}_{i}.csv") for i in range(count)])
        times["reset, idle"].append(_time(scene.reset))
        _step_and_sync(scene)
        times["stop, idle, CSVFile"].append(_time(scene.stop_recording))
        scene.reset()
        _record(scene, [npz(folder / f"idle_{index}_{i}.npz") for i in range(count)])
        times["stop, idle, NPZFile: two rows to an archive"].append(_time(scene.stop_recording))
        scene.reset()
        _record(scene, [npz(folder / f"{index}_{i}.npz", save_on_reset=True) for i in range(count)])
        times["reset, a file for each episode"].append(_time(scene.reset))
        scene.stop_recording()
        saved = [folder / f"saved_{index}_{i}.npz" for i in range(count)]
        times["np.savez of as many such archives"].append(_time(lambda paths=saved: _save(paths, model.nq)))
    scene.destroy()
    return times


def _record(scene: sr.Scene, options: list[FileOptions]) -> None:
    for each in options:
        scene.start_recording(lambda: scene.data.qpos, each)
    _step_and_sync(scene)


def _step_and_sync(scene: sr.Scene) -> None:
    scene.step()
    for recorder in scene.recorders:
        recorder.sync()


def _save(paths: list[Path], nq: int) -> None:
    for path in paths:
        columns = {"timestamp": np.zeros(2), "step": np.zeros(2, np.int64), "episode": np.zeros(2, np.int32)}
        np.savez(path, data=np.zeros((2, nq)), **columns)


def _time(call: Callable[[], None]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e3
