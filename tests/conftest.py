"""What holds for every test: an empty current folder, and nothing left behind."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from pathlib import Path

import pytest

# A shell starts what runs in the background with Ctrl-C ignored, and so would the programs that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def clean_end(request, tmp_path, tmp_path_factory, monkeypatch):
    """Runs the test in an empty folder beside `tmp_path`; files are for `tmp_path`, and all threads must end.

    A test of relative names changes into `tmp_path` first.
    """
    cwd = tmp_path_factory.mktemp("cwd")
    monkeypatch.chdir(cwd)
    before = set(threading.enumerate())
    yield
    assert not _threads_since(before), "threads are left"
    assert not [path.name for path in cwd.iterdir()], "files are left in the current folder"
    if not request.node.get_closest_marker("leaves_spools"):
        assert not [path.name for path in Path(tmp_path).rglob("*.spool")], "spools are left"


@pytest.fixture
def hidden(tmp_path_factory):
    """`hidden("EGL", "OSMesa")` is a value of LD_LIBRARY_PATH with which the loader finds broken files for these."""

    def hide(*names):
        folder = tmp_path_factory.mktemp("broken")
        for name in names:
            for end in ("", ".0", ".1", ".6", ".8"):
                (folder / f"lib{name}.so{end}").touch()
        return os.pathsep.join([str(folder), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])

    return hide


def _threads_since(before, patience=1.0):
    deadline = time.monotonic() + patience
    while left := set(threading.enumerate()) - before:
        if time.monotonic() > deadline:
            break
        gc.collect()  # a scene that nobody holds any more closes its recorders
        time.sleep(0.01)
    return left
