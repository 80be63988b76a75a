"""Each example runs as it is, in an empty folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def test_there_are_examples() -> None:
    assert EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_twice_without_a_word_on_stderr(example: Path, tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, str(example)], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
    assert [path.suffix for path in tmp_path.iterdir() if path.suffix in {".npz", ".csv", ".mp4"}]
