"""The benchmarks run, at toy size."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("arguments", "rows"),
    [
        (["stepping", "--steps", "3", "--rounds", "2"], ["cartpole", "arm", "quadruped"]),
        (["overhead", "--steps", "20", "--rounds", "2", "--worlds", "2"], ["arm", "quadruped x 2"]),
        (["trajectory", "--steps", "100", "--rounds", "1", "--worlds", "2"], ["arm", "humanoid", "quadruped x 2"]),
        (["replay", "--frames", "600", "--rounds", "2"], ["arm", "humanoid"]),
        (["latency", "--rounds", "2", "--recorders", "2"], ["reset, idle", "stop, idle"]),
        (["memory", "--steps", "20"], ["NPZFile", "CSVFile", "own append"]),
        (
            ["video", "--frames", "3", "--rounds", "2", "--size", "64x48"],
            ["PyAV, its defaults", "VideoFile", "a frame"],
        ),
        (
            ["plots", "--steps", "5", "--rounds", "2", "--step-time", "0.05", "--drawn-steps", "2"],
            ["PyQtLinePlot", "MPLImagePlot", "a copy of the image", "10 lines"],
        ),
    ],
    ids=lambda value: value[0],
)
def test_a_benchmark_prints_its_table(
    arguments: list[str], rows: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    importlib.import_module("benchmarks.__main__").main(arguments)
    out = capsys.readouterr().out
    assert f"Python {sys.version_info.major}.{sys.version_info.minor}" in out.splitlines()[0]
    for row in rows:
        assert any(line.startswith(row) for line in out.splitlines()[2:]), out


def test_the_benchmark_of_reels_prints_its_tables() -> None:
    # In a process of its own: the libraries that it compares with leave threads.
    command = [sys.executable, "-m", "benchmarks", "reel", "--frames", "40", "--rounds", "1", "--steps", "20"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for row in ("arm, 720 bytes", "quadruped", "phys1", "diff1", "XOR, zlib 6", "all, geometric mean", "phys1 is"):
        assert any(line.startswith(row) for line in done.stdout.splitlines()), done.stdout
    last = done.stdout.splitlines()[-1]
    assert len(last.split()) == 6
