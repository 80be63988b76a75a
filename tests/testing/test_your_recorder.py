"""The recorder of the tutorial keeps the contract, as pytest shows to its reader."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from simreel.testing import RecorderContract

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "your-recorder.md"


def test_the_tests_of_the_tutorial_pass(tmp_path):
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    (tmp_path / "test_stats.py").write_text("\n".join(blocks), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_stats.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    checks = [name for name in vars(RecorderContract) if name.startswith("test_")]
    # Two contracts, and the test with strategies.
    assert f"{2 * len(checks) + 1} passed" in done.stdout
