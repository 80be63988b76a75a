from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "installed",
    ["None", "types.ModuleType('gymnasium')"],
    ids=["none", "one without AutoresetMode"],
)
def test_without_a_gymnasium_that_is_new_enough_the_error_names_it_and_the_extra(installed: str) -> None:
    program = f"""
import sys, types
sys.modules["gymnasium"] = {installed}
sys.modules["gymnasium.vector"] = types.ModuleType("gymnasium.vector")
import simreel as sr
sr.gym, sr.Scene
try:
    sr.gym.Record
except ImportError as error:
    print(type(error).__name__, error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("MissingExtraError simreel.gym needs gymnasium>=1.1")
    assert "pip install 'simreel[gym]'" in done.stdout
