"""What recording costs a run, as a ratio to the run without, beside what people use today."""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import simreel as sr
from benchmarks.measure import head_line, interleaved
from benchmarks.robots import load, robots

__all__ = ["add_arguments", "run"]

Loop = Callable[[int], None]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--steps", type=int, default=1000, help="steps of a loop in a round; a tenth for worlds")
    parser.add_argument("--rounds", type=int, default=61)
    parser.add_argument("--worlds", type=int, default=64)


def run(arguments: argparse.Namespace) -> None:
    """Prints the table."""
    print(head_line("a recorded step, medians of rounds in turn; the ratio is to the first line of its group"))
    print(f"{'run':20}{'recorded by':44}{'us a step':>10}{'ratio':>8}")
    for name, path in robots("arm", "humanoid").items():
        _group(name, arguments, arguments.steps, lambda folder, _, path=path: _one_world(path, folder))
    worlds = arguments.worlds
    _group(
        f"quadruped x {worlds}",
        arguments,
        max(arguments.steps // 10, 1),
        lambda folder, ends: _many_worlds(sr.models.path("quadruped"), worlds, folder, ends),
    )
    if importlib.util.find_spec("gymnasium") is not None:
        _group("Ant-v5", arguments, max(arguments.steps // 10, 1), _environments)


def _group(
    name: str, arguments: argparse.Namespace, steps: int, make: Callable[[Path, ExitStack], dict[str, Loop]]
) -> None:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as ends:
        _print(name, interleaved(make(Path(folder), ends), steps=steps, rounds=arguments.rounds))


def _print(name: str, times: Mapping[str, list[float]]) -> None:
    base = next(iter(times.values()))
    for loop, values in times.items():
        ratio = statistics.median(a / b for a, b in zip(values, base, strict=True))
        print(f"{name:20}{loop:44}{statistics.median(values):10.2f}{ratio:8.3f}")


def _one_world(path: Path, folder: Path) -> dict[str, Loop]:
    return {
        "nobody: mj_step": _own(path, None),
        "own append, savez_compressed at the end": _own(path, folder / "own.npz"),
        "nobody: scene.step": _scene(path, None),
        "NPZFile(qpos)": _scene(path, folder / "qpos.npz"),
        "CSVFile(qpos)": _scene(path, folder / "qpos.csv"),
    }


def _own(path: Path, target: Path | None) -> Loop:
    model, data = load(path)

    def loop(steps: int) -> None:
        rows = []
        for _ in range(steps):
            if target is not None:
                rows.append(data.qpos.copy())
            mujoco.mj_step(model, data)
        if target is not None:
            np.savez_compressed(target, data=rows)
        mujoco.mj_resetData(model, data)

    return loop


def _scene(path: Path, target: Path | None) -> Loop:
    """With the end of the file in the loop, as the peer has it."""
    model, data = load(path)
    scene = sr.Scene.from_mujoco(model, data)
    scene.build()

    def loop(steps: int) -> None:
        if target is not None:
            kind = sr.recorders.NPZFile if target.suffix == ".npz" else sr.recorders.CSVFile
            scene.start_recording(lambda: data.qpos, kind(target, overwrite=True))
        for _ in range(steps):
            scene.step()
        scene.stop_recording()
        scene.reset()

    return loop


def _many_worlds(path: Path, worlds: int, folder: Path, ends: ExitStack) -> dict[str, Loop]:
    def loop(field: str | None = None) -> Loop:
        return _batch(path, worlds, field, folder / f"{field}.npz", ends)

    return {
        "nobody: scene.step": loop(),
        "NPZFile(qpos)": loop("qpos"),
        "NPZFile(xpos), derived": loop("xpos"),
        "NPZFile(sensordata), with accelerations": loop("sensordata"),
    }


def _batch(path: Path, worlds: int, field: str | None, target: Path, ends: ExitStack) -> Loop:
    scene = sr.Scene()
    scene.add_entity(sr.morphs.MJCF(path))
    scene.build(n_envs=worlds)
    ends.callback(scene.destroy)
    engine: Any = scene.engine
    if field is not None:
        array = engine.array(field)
        scene.start_recording(lambda: array, sr.recorders.NPZFile(target))

    def loop(steps: int) -> None:
        for _ in range(steps):
            scene.step()
        scene.reset()

    return loop


def _environments(folder: Path, ends: ExitStack) -> dict[str, Loop]:
    import gymnasium

    plain, counted, recorded = (gymnasium.make("Ant-v5") for _ in range(3))
    inner: Any = recorded.unwrapped
    options = sr.recorders.NPZFile(folder / "ant.npz")
    envs = {
        "nobody: env.step": plain,
        "RecordEpisodeStatistics": gymnasium.wrappers.RecordEpisodeStatistics(counted),
        "gym.Record with NPZFile(qpos)": sr.gym.Record(recorded, [(lambda: inner.data.qpos, options)]),
    }
    for env in envs.values():
        ends.callback(env.close)
    return {name: _episodes(env) for name, env in envs.items()}


def _episodes(env: Any) -> Loop:
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(100)]

    def loop(steps: int) -> None:
        env.reset(seed=0)
        for i in range(steps):
            _, _, terminated, truncated, _ = env.step(actions[i % 100])
            if terminated or truncated:
                env.reset(seed=0)

    return loop
