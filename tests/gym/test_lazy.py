from __future__ import annotations

import subprocess
import sys


def test_without_gymnasium_the_error_names_the_extra_and_nothing_else_fails() -> None:
    program = """
import sys
sys.modules["gymnasium"] = None
import simreel as sr
sr.gym, sr.Scene
try:
    sr.gym.Record
except ImportError as error:
    print(type(error).__name__, error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("MissingExtraError simreel.gym needs gymnasium")
    assert "pip install 'simreel[gym]'" in done.stdout
