"""A scene without physics, for tests of what is written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

# Now: what is first imported while a test has other recorders registered is not registered afterwards.
import simreel.recorders.video  # noqa: F401
from simreel.errors import SampleError
from simreel.options.recorders import RecorderOptions
from simreel.recorders import Recorder, register_recording

# Also the first lines of the scripts that run in a process of their own.
PRELUDE = """
import os, sys, time
from pathlib import Path
import numpy as np
import simreel as sr
from simreel.recorders import CSVFile, NPZFile


class StillEngine:
    n_envs = 0

    def __init__(self, dt=0.01):
        self.dt = dt

    def build(self, n_envs):
        pass

    def step(self):
        pass

    def reset(self, envs_idx):
        pass

    def refresh(self):
        pass


def still_scene(dt=0.01):
    return sr.Scene(engine=StillEngine(dt))
"""
_names: dict = {}
exec(PRELUDE, _names)


@pytest.fixture(scope="session")
def still_scene():
    """Makes a scene in which nothing moves."""
    return _names["still_scene"]


@pytest.fixture(scope="session")
def record(still_scene):
    """Records values, one a step, with any number of options, and stops; returns the recorders."""

    def record(values, *options, dt=0.01):
        return record_episodes([values], *options, dt=dt)

    def record_episodes(episodes, *options, dt=0.01):
        scene = still_scene(dt)
        current = [None]
        recorders = [scene.start_recording(lambda: current[0], each) for each in options]
        scene.build()
        try:
            for i, values in enumerate(episodes):
                if i:
                    assert len(values) != 1, "a state after a reset that no step uses is no sample"
                    scene.reset()
                for value in values[:-1]:
                    current[0] = value
                    scene.step()
                if len(values):
                    # The last one is taken by the reset or the stop.
                    current[0] = values[-1]
                elif not i:
                    for recorder in recorders:
                        recorder.pause()
        finally:
            scene.stop_recording()
        return recorders

    record.episodes = record_episodes
    return record


@pytest.fixture
def script():
    """Starts Python code in a process of its own; each is ended with the test."""
    running = []

    def start(code, *args, **options):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
        command = [sys.executable, "-W", "error", "-c", PRELUDE + textwrap.dedent(code), *map(str, args)]
        running.append(subprocess.Popen(command, **options))
        return running[-1]

    yield start
    for process in running:
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.fixture
def run_script(script):
    """Runs Python code in a process of its own and returns what it printed; its failure is the test's."""

    def run(code, *args, **options):
        process = script(code, *args, **options)
        out, err = process.communicate(timeout=50)
        assert process.returncode == 0, err
        return out

    return run


@pytest.fixture
def memory_growth(run_script):
    """`memory_growth(path, options, width)` records rows of so many floats in a process of its own.

    Returned is how much more memory ten times as many rows take while they are recorded, and then at the stop [KiB].
    """
    code = """
        import resource
        scene = still_scene()
        row = np.random.default_rng(1).normal(size=int(sys.argv[2]))
        rec = scene.start_recording(lambda: row, {options})
        scene.build()
        peaks = []
        # The first rounds reach what the queue may hold.
        for n in (4, 4, 40):
            for _ in range(n):
                scene.step(1000)
                rec.sync()
            peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        scene.stop_recording()
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        print(peaks[2] - peaks[1], peaks[3] - peaks[1])
        """

    def measure(path, options, width):
        return list(map(int, run_script(code.replace("{options}", options), path, width).split()))

    return measure


@pytest.fixture(scope="session")
def step_and_sync():
    """Steps so many times and waits after each until the sample is written; where a recorder fails, that is raised."""

    def go_on(scene, recorder, steps):
        for _ in range(steps):
            scene.step()
            recorder.sync()

    return go_on


@pytest.fixture
def folder(tmp_path) -> Path:
    """An empty folder for the files of a test."""
    path = tmp_path / "folder"
    path.mkdir()
    return path


class FakeOptions(RecorderOptions):
    """What the fake recorder does wrong."""

    fail: str = ""
    """One of build, accept, process, reset, cleanup."""

    at: int = 0
    """The sample at which `process` fails."""

    inline: bool = False
    slow: float = 0


@register_recording(FakeOptions)
class FakeRecorder(Recorder[FakeOptions]):
    """Keeps what it is given; fails, waits or dawdles on request."""

    def __init__(self, manager, options, data_func):
        super().__init__(manager, options, data_func)
        self.rows: list = []
        self.times: list = []
        self.calls: list = []
        self.threads: set = set()
        self.gate = threading.Event()
        """Cleared, it holds `process` up."""
        self.gate.set()
        self.entered = threading.Event()
        """Set by the first `process`."""

    @property
    def run_in_thread(self):
        return not self.options.inline

    def build(self):
        self._do("build")

    def accept(self, schema):
        self.schema = schema
        if self.options.fail == "accept":
            raise SampleError(schema.columns[0].key, "something", "something else")

    def process(self, data, cur_time):
        self.entered.set()
        self.threads.add(threading.current_thread())
        self.gate.wait()
        if self.options.slow:
            time.sleep(self.options.slow)
        if self.options.fail == "process" and len(self.rows) == self.options.at:
            raise ValueError("fake process")
        self.rows.append(data)
        self.times.append(cur_time)

    def reset(self, envs_idx=None):
        self._do("reset")

    def cleanup(self):
        self._do("cleanup")

    def _do(self, call):
        self.calls.append(call)
        if self.options.fail == call:
            raise ValueError(f"fake {call}")


@pytest.fixture(scope="session")
def fake():
    """Options of a recorder that keeps its rows in memory and fails on request."""
    return FakeOptions


@pytest.fixture
def gated(fake):
    """Starts a fake recorder whose `process` waits for `recorder.gate`; the test's end opens it."""
    started = []

    def start(scene, data_func, **options):
        recorder = scene.start_recording(data_func, fake(**options))
        recorder.gate.clear()
        started.append(recorder)
        return recorder

    yield start
    for recorder in started:
        recorder.gate.set()


def _picture(index, height=48, width=64, channels=3):
    import numpy as np

    y, x = np.mgrid[0:height, 0:width]
    planes = [x * 200 / max(1, width), y * 200 / max(1, height), np.full((height, width), 40 + 4 * index % 160)]
    planes.append(np.full((height, width), 255))
    pixels = np.stack(planes[:channels], -1).astype(np.uint8) + 20
    return pixels[..., 0] if channels == 1 else pixels


@pytest.fixture(scope="session")
def picture():
    """A smooth picture, another for each index: (H, W, 3) uint8."""
    return _picture


class Video:
    """What a video holds."""

    def __init__(self, path):
        import av

        with av.open(str(path)) as file:
            stream = file.streams.video[0]
            self.rate = stream.average_rate
            self.codec = stream.codec_context.name
            self.size = (stream.width, stream.height)
            self.tags = {key.lower(): value for key, value in file.metadata.items()}
            self.frames, self.times, self.durations = [], [], []
            for frame in file.decode(stream):
                self.frames.append(frame.to_ndarray(format="rgb24"))
                self.times.append(frame.pts * frame.time_base)
                self.durations.append((frame.duration or 0) * frame.time_base)
            self.duration = file.duration and file.duration / 10**6

    def __len__(self):
        return len(self.frames)

    @property
    def comment(self):
        """The comment of ours."""
        import json

        return json.loads(self.tags["comment"])

    def off(self, pictures):
        """By how much the pixels of the worst frame are off in the mean."""
        import numpy as np

        worst = 0.0
        for mine, picture in zip(self.frames, pictures, strict=True):
            given = picture if picture.ndim == 3 else picture[..., None]
            height, width = given.shape[:2]
            worst = max(worst, float(np.abs(mine[:height, :width].astype(int) - given[..., :3]).mean()))
        return worst


@pytest.fixture(scope="session")
def watch():
    """Reads a video."""
    return Video
