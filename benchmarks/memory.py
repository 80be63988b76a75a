"""Peak memory of a run and of one that is ten times longer, each in a process of its own."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import head_line

__all__ = ["add_arguments", "run"]

_PROGRAM = """
import resource, sys
import numpy as np
import simreel as sr
kind, target, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
scene = sr.Scene()
arm = scene.add_entity(sr.morphs.MJCF(sr.models.path("arm")))
scene.build()
if kind == "own append":
    rows = []
    for _ in range(steps):
        rows.append(np.concatenate([arm.get_qpos(), arm.get_qvel(), arm.get_ctrl()]))
        scene.step()
    np.savez_compressed(target, data=rows)
else:
    options = getattr(sr.recorders, kind)(target)
    scene.start_recording(lambda: np.concatenate([arm.get_qpos(), arm.get_qvel(), arm.get_ctrl()]), options)
    scene.step(steps)
    scene.stop_recording()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--steps", type=int, default=100_000, help="steps of the shorter run")


def run(arguments: argparse.Namespace) -> None:
    """Prints the table."""
    steps = arguments.steps
    print(head_line("peak resident memory, MB"))
    print(f"{'recorded by':20}{f'{steps} steps':>16}{f'{10 * steps} steps':>16}{'ratio':>8}")
    for kind, suffix in (("NPZFile", ".npz"), ("CSVFile", ".csv"), ("own append", ".npz")):
        short, long = (_peak(kind, suffix, n) for n in (steps, 10 * steps))
        print(f"{kind:20}{short:16.0f}{long:16.0f}{long / short:8.2f}")


def _peak(kind: str, suffix: str, steps: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / f"run{suffix}"
        command = [sys.executable, "-c", _PROGRAM, kind, str(target), str(steps)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    # Linux counts in KiB, macOS in bytes.
    return int(done.stdout) / (1e6 if sys.platform == "darwin" else 1e3)
