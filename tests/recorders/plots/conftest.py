"""Scenes whose plots are drawn by a window process that must be gone at the end of a test."""

from __future__ import annotations

import importlib.util
import os
import select
import shutil
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

# Loaded now: what is first imported while a test has other recorders registered is not registered afterwards.
import simreel.recorders.plots.kinds  # noqa: F401
from simreel.scene import Scene
from simreel.testing import FakeEngine

LIBRARIES = "apt install libegl1 libgl1 libfontconfig1 libglib2.0-0 libdbus-1-3 libxkbcommon0"


@pytest.fixture(autouse=True, scope="session")
def gui():
    """What the window process imports."""
    for package in ("matplotlib", "pyqtgraph", "PySide6"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: pip install 'simreel[gui]'")
    pytest.importorskip(
        "PySide6.QtWidgets", reason=f"Qt's libraries are not installed: {LIBRARIES}", exc_type=ImportError
    )


def window_processes():
    """The window processes of this one, by number."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_bytes().rpartition(b")")[2].split()[1])
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if parent == os.getpid() and b"simreel.recorders.plots.host" in command:
            found.append(int(folder.name))
    return found


def shared_memory():
    """What of shared memory this process holds open, and what has a name."""
    held = []
    for link in Path("/proc/self/fd").iterdir():
        try:
            held.append(os.readlink(link))
        except OSError:
            continue
    named = Path("/dev/shm")
    return sorted(name for name in held if "memfd:simreel" in name), sorted(
        path.name for path in named.iterdir() if "simreel" in path.name
    )


@pytest.fixture(autouse=True)
def nothing_left(monkeypatch):
    """No display, no process and no shared memory that outlives a test."""
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    yield
    assert not window_processes(), "a window process is left"
    assert shared_memory() == ([], []), "shared memory is left"


@pytest.fixture(scope="session")
def x_server():
    """The name of a display that nobody sees."""
    if shutil.which("Xvfb") is None:
        pytest.skip("Xvfb is not installed: apt install xvfb")
    qt = Path(pytest.importorskip("PySide6").__file__).with_name("Qt") / "plugins/platforms/libqxcb.so"
    missing = [line.split()[0] for line in _linked(qt) if "not found" in line]
    if missing:
        packages = "libegl1 libxcb-cursor0 libxcb-icccm4 libxcb-keysyms1 libxkbcommon-x11-0"
        pytest.skip(f"{', '.join(missing)} of Qt's windows are not installed: apt install {packages}")
    reader, writer = os.pipe()
    command = ["Xvfb", "-displayfd", str(writer), "-noreset", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[writer], stderr=subprocess.DEVNULL)
    os.close(writer)
    assert select.select([reader], [], [], 20)[0], "Xvfb does not start"
    yield f":{os.read(reader, 32).decode().strip()}"
    os.close(reader)
    server.terminate()
    server.wait()


def _linked(library):
    return subprocess.run(["ldd", str(library)], capture_output=True, text=True, check=False).stdout.splitlines()


@pytest.fixture
def display(x_server, monkeypatch):
    """Has windows shown on a display that nobody sees."""
    monkeypatch.setenv("DISPLAY", x_server)
    return x_server


class Plotted:
    """A scene and its plots."""

    def __init__(self, dt):
        self.scene = Scene(engine=FakeEngine(dt=dt))
        self.recorders = []

    @property
    def step(self):
        return self.scene.step_count

    def plot(self, data_func, options):
        self.recorders.append(self.scene.start_recording(data_func, options))
        return self.recorders[-1]

    def run(self, steps):
        """Builds the scene and takes some steps."""
        if not self.scene.is_built:
            self.scene.build()
        self.scene.step(steps)

    @property
    def process(self):
        """The number of the window process."""
        (number,) = window_processes()
        return number


@pytest.fixture
def plotted_at():
    """Makes a scene with a time step."""
    made = []

    def make(dt):
        made.append(Plotted(dt))
        return made[-1]

    yield make
    for each in made:
        each.scene.destroy()


@pytest.fixture
def plotted(plotted_at):
    """A scene of a hundred steps a second."""
    return plotted_at(0.01)


@pytest.fixture(scope="session")
def until():
    """Waits until something holds."""

    def wait(holds, patience=20.0):
        deadline = time.monotonic() + patience
        while not holds():
            assert time.monotonic() < deadline, "it does not come"
            time.sleep(0.01)

    return wait


def _red_corner(index=0, height=60, width=80):
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[...] = (0, 0, 200)
    pixels[: height // 3, : width // 4] = (220, 0, 0)
    pixels[-height // 4 :, -width // 4 :] = (0, 180, 0)
    pixels[height // 2 : height // 2 + 4, : 2 * (index % 40)] = 255
    return pixels


@pytest.fixture(scope="session")
def red_corner():
    """A blue picture, (H, W, 3), with a red top left and a green bottom right corner."""
    return _red_corner


POSITIONS = [(x, y, 0.0) for x in (-1.0, 0.0, 1.0) for y in (-1.0, 1.0)]


@pytest.fixture(scope="session")
def positions():
    """Six points in the plane z = 0."""
    return POSITIONS
