"""The benchmarks run, at toy size."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("arguments", "rows"),
    [
        (["stepping", "--steps", "3", "--rounds", "2"], ["cartpole", "arm", "quadruped"]),
        (["overhead", "--steps", "20", "--rounds", "2", "--worlds", "2"], ["arm", "quadruped x 2"]),
        (["latency", "--rounds", "2", "--recorders", "2"], ["reset, idle", "stop, idle"]),
        (["memory", "--steps", "20"], ["NPZFile", "CSVFile", "own append"]),
        (
            ["video", "--frames", "3", "--rounds", "2", "--size", "64x48"],
            ["PyAV, its defaults", "VideoFile", "a frame"],
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
