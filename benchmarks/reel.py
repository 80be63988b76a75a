"""A trajectory file against other formats, on the same frames, and what recording one costs a step."""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import mujoco
import numpy as np

from benchmarks.formats import Format, Frames, known_formats
from benchmarks.measure import head_line, interleaved
from benchmarks.robots import load, robots
from simreel.cli.controls import drive, smooth_random
from simreel.reel import ReelWriter, layout_from_mujoco

__all__ = ["add_arguments", "run"]

_STATE = mujoco.mjtState.mjSTATE_INTEGRATION
_ROBOTS = ("arm", "humanoid", "ant", "quadruped")
_STEPPED = ("arm", "humanoid")
_OURS = ("phys1", "diff1")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--frames", type=int, default=10_000, help="frames of a file")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is timed")
    parser.add_argument("--steps", type=int, default=4_000, help="steps of a loop in a round")


def run(arguments: argparse.Namespace) -> None:
    """Prints the tables."""
    formats, missing = known_formats()
    print(head_line(f"integration states, {arguments.frames} frames each; fastest of {arguments.rounds} (median)"))
    if missing:
        print(f"not installed, so not compared: {', '.join(missing)} (pip install --group bench)")
    measured: dict[str, list[_Figures]] = {each.name: [] for each in formats}
    for name, path in robots(*_ROBOTS).items():
        frames = _simulated(path, arguments.frames)
        rows = [_measured(each, frames, arguments.rounds) for each in formats]
        for each, figures in zip(formats, rows, strict=True):
            measured[each.name].append(figures)
        _print_table(f"{name}, {frames.matrix[0].nbytes} bytes a frame", list(measured), rows)
    means = [_mean(figures) for figures in measured.values()]
    _print_table("all, geometric mean", list(measured), means)
    ratios = {name: mean.ratio for name, mean in zip(measured, means, strict=True)}
    best = max(ratios.keys() - _OURS, key=lambda name: ratios[name])
    print(f"phys1 is {ratios['phys1'] / ratios[best]:.2f} times smaller than the best of the others, {best}")
    _print_steps(arguments.steps, arguments.rounds)


@dataclass(frozen=True)
class _Figures:
    ratio: float
    """Raw by stored bytes."""
    encode: tuple[float, float]
    """Of the raw bytes, fastest and median [MB/s]."""
    decode: tuple[float, float]
    frame: tuple[float, float]
    """One in the middle, with opening the file, fastest and median [ms]."""
    column: tuple[float, float]
    """One value of each frame, with opening the file, fastest and median [ms]."""


def _simulated(path: Path, count: int) -> Frames:
    model, data = load(path)
    matrix = np.empty((count, mujoco.mj_stateSize(model, _STATE)))
    rows = iter(matrix)

    def step() -> None:
        mujoco.mj_getState(model, data, next(rows), _STATE)
        mujoco.mj_step(model, data)

    drive(step, data.ctrl, smooth_random(model, 0), model.opt.timestep, 0, count)
    return Frames(matrix, layout_from_mujoco(model), model.opt.timestep)


def _measured(each: Format, frames: Frames, rounds: int) -> _Figures:
    middle, raw = len(frames.matrix) // 2, frames.matrix.nbytes
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        each.write(path, frames)
        stored = sum(file.stat().st_size for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file())
        _check(each.name, each.read(path, frames), frames.matrix)
        _check(each.name, each.frame(path, frames, middle), frames.matrix[middle])
        _check(each.name, each.column(path, frames), frames.matrix[:, frames.column])
        calls: dict[str, Callable[[], object]] = {
            "encode": partial(each.write, path, frames),
            "decode": partial(each.read, path, frames),
            "frame": partial(each.frame, path, frames, middle),
            "column": partial(each.column, path, frames),
        }
        loops = {name: partial(_call, call) for name, call in calls.items()}
        times = interleaved(loops, steps=1, rounds=rounds)
    best = {name: (min(values), statistics.median(values)) for name, values in times.items()}
    # Microseconds to MB/s and to ms.
    rates = {name: (raw / best[name][0], raw / best[name][1]) for name in ("encode", "decode")}
    waits = {name: (best[name][0] / 1e3, best[name][1] / 1e3) for name in ("frame", "column")}
    return _Figures(raw / stored, **rates, **waits)


def _call(call: Callable[[], object], times: int) -> None:
    for _ in range(times):
        call()


def _check(name: str, read: np.ndarray, written: np.ndarray) -> None:
    if read.tobytes() != written.tobytes():
        raise AssertionError(f"{name} does not give back what was written")


def _mean(figures: Sequence[_Figures]) -> _Figures:
    def of(values: Sequence[float]) -> float:
        return statistics.geometric_mean(values)

    pairs = {
        name: (of([getattr(each, name)[0] for each in figures]), of([getattr(each, name)[1] for each in figures]))
        for name in ("encode", "decode", "frame", "column")
    }
    return _Figures(of([each.ratio for each in figures]), **pairs)


def _print_table(title: str, names: Sequence[str], rows: Sequence[_Figures]) -> None:
    heads = ("encode MB/s", "decode MB/s", "frame ms", "column ms")
    print(f"\n{title:30}{'ratio':>8}" + "".join(f"{head:>18}" for head in heads))
    for name, row in zip(names, rows, strict=True):
        cells = [f"{a:.0f} ({b:.0f})" for a, b in (row.encode, row.decode)]
        cells += [f"{a:.2f} ({b:.2f})" for a, b in (row.frame, row.column)]
        print(f"{name:30}{row.ratio:8.2f}" + "".join(f"{cell:>18}" for cell in cells))


def _print_steps(steps: int, rounds: int) -> None:
    print(f"\n{'us a step, median (fastest)':30}{'bare':>18}{'recorded':>18}{'ratio':>8}")
    for name, path in robots(*_STEPPED).items():
        with _loops(path) as loops:
            times = interleaved(loops, steps=steps, rounds=rounds)
        bare, recorded = (statistics.median(times[each]) for each in ("bare", "recorded"))
        cells = [f"{statistics.median(times[each]):.2f} ({min(times[each]):.2f})" for each in ("bare", "recorded")]
        print(f"{name:30}{cells[0]:>18}{cells[1]:>18}{recorded / bare:8.3f}")


@contextmanager
def _loops(path: Path) -> Iterator[dict[str, Callable[[int], None]]]:
    """The same simulation twice, one of them recorded."""
    (model, data), (_, copy) = load(path), load(path)
    law = smooth_random(model, 0)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "run.reel"
        with ReelWriter(target, layout_from_mujoco(model), dt=model.opt.timestep) as writer:

            def recorded() -> None:
                mujoco.mj_getState(model, copy, writer.next_row(), _STATE)
                writer.commit()
                mujoco.mj_step(model, copy)

            def loop(step: Callable[[], None], data: mujoco.MjData, steps: int) -> None:
                first = round(data.time / model.opt.timestep)
                drive(step, data.ctrl, law, model.opt.timestep, first, first + steps)

            yield {
                "bare": partial(loop, lambda: mujoco.mj_step(model, data), data),
                "recorded": partial(loop, recorded, copy),
            }
