"""The command in this process, and in one of its own."""

import subprocess
import sys
from dataclasses import dataclass

import pytest

import simreel
from simreel.cli import execute


@dataclass(frozen=True)
class Ended:
    """What a command left: its status and its lines."""

    status: int
    out: list[str]
    err: list[str]


@pytest.fixture
def call(capsys):
    """`call("run", ...)` runs a command in this process."""

    def call(*words):
        capsys.readouterr()
        status = execute([str(word) for word in words])
        shown = capsys.readouterr()
        return Ended(status, shown.out.splitlines(), shown.err.splitlines())

    return call


@pytest.fixture
def call_piped(tmp_path):
    """`call_piped("run", ...)` runs a command in a process of its own, with both outputs piped."""

    def call_piped(*words):
        command = [sys.executable, "-m", "simreel", *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=50)
        return Ended(done.returncode, done.stdout.splitlines(), done.stderr.splitlines())

    return call_piped


@pytest.fixture
def arm():
    """A model file."""
    return simreel.models.path("arm")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The current folder, for tests of relative names."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
