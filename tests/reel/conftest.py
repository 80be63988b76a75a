"""Small reels, what they hold, and a reading of them that trusts nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import warnings
from functools import partial

import numpy as np
import pytest

from simreel.errors import GapError, SimreelError, SimreelWarning
from simreel.reel import Field, Joint, Layout, Reel, ReelWriter

MIXED = Layout(
    (
        Field("step", "i8", 1),
        Field("qpos", "f8", 3, unit="m", kind="state"),
        Field("qvel", "f8", 3),
        Field("on", "bool", 2),
        Field("contacts", "f4", 2, ragged=True),
    ),
    (Joint("slide", 0, 0), Joint("hinge", 2, 1)),
)


def _same_bits(a, b):
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def _frames(layout, count, seed=0):
    """Frames with every bit pattern: by field, an array (count, width), or a list of arrays of a ragged one."""
    rng = np.random.default_rng(seed)

    def values(field, n):
        if field.dtype == bool:
            return rng.integers(0, 2, (n, field.width)).astype(bool)
        drawn = rng.integers(0, 256, (n, field.width * field.dtype.itemsize), np.uint8).view(field.dtype)
        if field.dtype.kind == "f" and n:
            # Some that a predictor fits, some that look like nothing.
            drawn[: n // 2] = np.linspace(-1, 1, n // 2)[:, None]
        return drawn

    def items(field):
        return [values(field, int(rng.integers(0, 4))) for _ in range(count)]

    return {field.name: (items if field.ragged else partial(values, n=count))(field) for field in layout.fields}


def _fill(writer, frames, start=0, stop=None):
    layout = writer.layout
    count = len(next(iter(frames.values()), ()))
    for i in range(start, count if stop is None else stop):
        row = writer.next_row()
        if row.dtype.names is None:
            row[:] = np.concatenate([frames[field.name][i] for field in layout.fields if not field.ragged])
        for field in layout.fields:
            if field.ragged:
                writer.ragged(field.name, frames[field.name][i])
            elif row.dtype.names is not None:
                row[field.name][:] = frames[field.name][i]
        writer.commit()


@pytest.fixture(scope="session")
def mixed():
    """A layout with fields of several dtypes, a ragged one and joints."""
    return MIXED


@pytest.fixture(scope="session")
def same_bits():
    """Whether two arrays are the same to the bit."""
    return _same_bits


@pytest.fixture(scope="session")
def make_frames():
    """Makes frames for a layout, the same for the same seed."""
    return _frames


@pytest.fixture(scope="session")
def fill():
    """Writes frames row by row."""
    return _fill


@pytest.fixture(scope="session")
def write(fill):
    """Writes a reel of frames."""

    def write(path, layout, frames, **options):
        with ReelWriter(path, layout, **options) as writer:
            fill(writer, frames)

    return write


@pytest.fixture(scope="session")
def small(tmp_path_factory, fill):
    """The bytes of a reel with records of every kind, and the frames in it: 3 chunks of 8 and one of 4."""
    path = tmp_path_factory.mktemp("small") / "small.reel"
    frames = _frames(MIXED, 28)
    blobs = {"a": b"x" * 99, "b": b"x" * 99}
    with ReelWriter(path, MIXED, dt=0.01, chunk_size=8, blobs=blobs, meta={"k": 1}) as writer:
        fill(writer, frames, 0, 12)
        writer.param({"mass": np.arange(3.0)}, value="heavier")
        writer.note({"said": "ü"}, arrays={"state": np.full((2, 2), np.nan)})
        fill(writer, frames, 12)
        writer.blob("c", b"the end")
    return path.read_bytes(), frames


@pytest.fixture(scope="session")
def examine():
    """Reads all of a file: each thing is as it was written, or named as lost.

    Returns the gaps and the number of frames; None where the file cannot be opened.
    """

    def examine(path, frames):
        try:
            reel = Reel.open(path)
        except SimreelError:
            return None
        with reel, warnings.catch_warnings():
            warnings.simplefilter("ignore", SimreelWarning)
            _examine(reel, frames)
            return reel.gaps, len(reel)

    return examine


def _examine(reel, frames):
    lost = {frame for start, stop in reel.gaps for frame in range(start, stop)}
    assert len(reel) <= len(frames["step"])
    for i in range(len(reel)):
        if i in lost:
            with pytest.raises(GapError):
                reel.row(i)
            continue
        row = reel.row(i)
        assert all(_same_bits(row[name], values[i]) for name, values in frames.items())
    good = [i for i in range(len(reel)) if i not in lost]
    for field in reel.layout.fields:
        values = reel.field(field.name)[:]
        assert all(_same_bits(values[i], frames[field.name][i]) for i in good)
        if not field.ragged and field.dtype.kind == "f":
            assert np.isnan(values[sorted(lost)]).all()
        else:
            assert not any(np.any(values[i]) for i in lost)
    contents = {"a": b"x" * 99, "b": b"x" * 99, "c": b"the end"}
    for name in reel.blobs:
        try:
            assert reel.blobs[name] == contents[name]
        except SimreelError:
            assert reel.damage
    assert len(reel.blobs) == 3 or reel.damage or not reel.is_complete
    for each in reel.params:
        assert (each.frame, each.value) == (12, "heavier")
        assert _same_bits(each.arrays["mass"], np.arange(3.0))
    for each in reel.notes:
        assert (each.frame, each.value) == (12, {"said": "ü"})
        assert _same_bits(each.arrays["state"], np.full((2, 2), np.nan))
    reel.info()


@pytest.fixture
def script():
    """Starts Python code in a process of its own; each is ended with the test."""
    running = []

    def start(code, *args):
        prelude = "import os, sys, time\nimport numpy as np\nfrom simreel.reel import *\n"
        command = [sys.executable, "-W", "error", "-c", prelude + textwrap.dedent(code), *map(str, args)]
        # A stdin of its own: that of the tests may be at its end.
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        running.append(subprocess.Popen(command, text=True, **pipes))
        return running[-1]

    yield start
    for process in running:
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.fixture
def run_script(script):
    """Runs Python code in a process of its own and returns what it printed; its failure is the test's."""

    def run(code, *args):
        process = script(code, *args)
        out, err = process.communicate(timeout=50)
        assert process.returncode == 0, err
        return out

    return run
