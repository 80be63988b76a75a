"""What a step costs more while its whole state is recorded, in microseconds: one by one, many at once, and by peers.

The peers record the state of `mj_getState` before each step: appended to a list and saved at the end, as people write
it by hand, and in rows of a chunked HDF5 file where h5py is there. "whole" has the end of the file in it too. Genesis
is left out: its recorder takes no state of another simulator, and a step of its own is another one.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import simreel as sr
from benchmarks.measure import differences, head_line, interleaved
from benchmarks.robots import load, robots

__all__ = ["add_arguments", "run"]

BARE, SCENE, REEL, BLOCK = "bare loop", "scene.step", "TrajectoryFile", "the same, step(100)"
SAVEZ, HDF5 = "own append, np.savez", "h5py, a row a step"
_BLOCK = 100
_STATE = mujoco.mjtState.mjSTATE_INTEGRATION


@dataclass
class _Run:
    """A loop, and how its file is finished."""

    loop: Callable[[int], None]
    finish: Callable[[], object] | None = None
    file: Path | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--steps", type=int, default=2000, help="steps of a loop in a round")
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--worlds", type=int, default=64)


def run(arguments: argparse.Namespace) -> None:
    """Prints the table."""
    print(head_line("us a step, medians of rounds in turn"))
    columns = ("fastest", "median", "over bare", "of bare", "whole", "bytes a step")
    print(f"{'model':16}{'loop':22}" + "".join(f"{column:>13}" for column in columns))
    for name, path in robots("arm", "humanoid").items():
        _measure(name, path, 0, arguments.steps, arguments)
    for name, path in robots("quadruped").items():
        steps = max(_BLOCK, arguments.steps // arguments.worlds)
        _measure(f"{name} x {arguments.worlds}", path, arguments.worlds, steps, arguments)


def _measure(name: str, path: Path, n_envs: int, steps: int, arguments: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as ends:
        runs = {BARE: _bare(path, n_envs)}
        for loop, file in ((SCENE, None), (REEL, Path(folder, "loop.reel")), (BLOCK, Path(folder, "block.reel"))):
            runs[loop] = _scene(path, n_envs, file, _BLOCK if loop == BLOCK else 1, ends)
        runs[SAVEZ] = _savez(path, n_envs, Path(folder, "own.npz"))
        if importlib.util.find_spec("h5py") is not None:
            runs[HDF5] = _hdf5(path, n_envs, Path(folder, "own.h5"), ends)
        times = interleaved({loop: each.loop for loop, each in runs.items()}, steps=steps, rounds=arguments.rounds)
        taken = steps * (arguments.rounds + 1)
        for loop, each in runs.items():
            over, median = differences(times, loop, BARE), statistics.median(times[loop])
            share = 100 * over / statistics.median(times[BARE])
            line = f"{min(times[loop]):13.2f}{median:13.2f}{over:13.2f}{share:12.0f}%"
            if each.finish is not None and each.file is not None:
                start = time.perf_counter()
                each.finish()
                whole = median + (time.perf_counter() - start) / taken * 1e6
                line += f"{whole:13.2f}{each.file.stat().st_size / taken:13.0f}"
            print(f"{name:16}{loop:22}{line}")


def _stepping(path: Path, n_envs: int) -> tuple[Callable[[], None], Callable[[], np.ndarray]]:
    """Without simreel: what makes a step, and what reads the state, (worlds * width,)."""
    model, data = load(path)
    data.ctrl[:] = _controls(model.nu)
    if not n_envs:
        width = mujoco.mj_stateSize(model, _STATE)

        def read() -> np.ndarray:
            row = np.empty(width)
            mujoco.mj_getState(model, data, row, _STATE)
            return row

        return lambda: mujoco.mj_step(model, data), read
    from mujoco.batch import Batch

    batch = Batch(model, n_envs, persistent=True)
    batch.bind("ctrl")[:] = data.ctrl
    return batch.step, lambda: batch.state.flatten()


def _bare(path: Path, n_envs: int) -> _Run:
    model, data = load(path)
    data.ctrl[:] = _controls(model.nu)
    if n_envs:
        step, _ = _stepping(path, n_envs)

        def loop_of_worlds(steps: int) -> None:
            for _ in range(steps):
                step()

        return _Run(loop_of_worlds)

    def loop(steps: int) -> None:
        for _ in range(steps):
            mujoco.mj_step(model, data)

    return _Run(loop)


def _savez(path: Path, n_envs: int, file: Path) -> _Run:
    step, read = _stepping(path, n_envs)
    rows: list[np.ndarray] = []

    def loop(steps: int) -> None:
        for _ in range(steps):
            rows.append(read())
            step()

    return _Run(loop, lambda: np.savez(file, state=np.array(rows)), file)


def _hdf5(path: Path, n_envs: int, file: Path, ends: ExitStack) -> _Run:
    import h5py

    step, read = _stepping(path, n_envs)
    width = len(read())
    opened = h5py.File(file, "w")
    ends.callback(opened.close)
    # Of 64 KiB or one row; by itself HDF5 splits the columns.
    shape = (max(1, 2**16 // (8 * width)), width)
    stored: Any = opened.create_dataset("state", (0, width), "f8", maxshape=(None, width), chunks=shape)

    def loop(steps: int) -> None:
        for _ in range(steps):
            stored.resize(len(stored) + 1, 0)
            stored[-1] = read()
            step()

    return _Run(loop, opened.close, file)


def _scene(path: Path, n_envs: int, file: Path | None, at_once: int, ends: ExitStack) -> _Run:
    model, data = load(path)
    data.ctrl[:] = _controls(model.nu)
    scene = sr.Scene.from_mujoco(model, data)
    ends.callback(scene.destroy)
    if file is not None:
        scene.start_recording(sr.recorders.TrajectoryFile(file))
    scene.build(n_envs)

    def loop(steps: int) -> None:
        for _ in range(steps // at_once):
            scene.step(at_once)

    return _Run(loop, None if file is None else scene.stop_recording, file)


def _controls(n: int) -> np.ndarray:
    """So that something moves, but nothing wild."""
    return 0.1 * np.sin(np.arange(n))
