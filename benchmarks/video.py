"""Frames a second encoded by VideoFile, by PyAV alone and by Gymnasium, and what a frame costs the step."""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

import simreel as sr
from benchmarks.measure import head_line, interleaved

__all__ = ["add_arguments", "run"]

_FPS = 25
# Different pictures; more of them change nothing.
_PICTURES = 60

Frames = list[np.ndarray[Any, Any]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--frames", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--size", type=lambda text: tuple(map(int, text.split("x"))), default=(640, 480), metavar="WxH")


def run(arguments: argparse.Namespace) -> None:
    """Prints the table."""
    width, height = arguments.size
    pictures = _pictures(width, height)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loops: dict[str, Callable[[int], None]] = {
            "PyAV, its defaults": lambda n: _raw(Path(folder), pictures, n, {}),
            "PyAV, preset veryfast": lambda n: _raw(Path(folder), pictures, n, {"preset": "veryfast"}),
            "VideoFile": lambda n: _video_file(Path(folder), pictures, n),
        }
        missing = _gymnasium(Path(folder), pictures, loops)
        print(head_line(f"frames of {width} x {height}, medians of {arguments.rounds} rounds of {arguments.frames}"))
        times = interleaved(loops, steps=arguments.frames, rounds=arguments.rounds)
        print(f"{'writer':32}{'frames/s':>10}{'ratio':>8}")
        base = times["PyAV, its defaults"]
        for name, values in times.items():
            ratio = statistics.median(b / value for b, value in zip(base, values, strict=True))
            print(f"{name:32}{1e6 / statistics.median(values):10.0f}{ratio:8.2f}")
        if missing:
            print(missing)
        step, copy = _on_the_stepping_thread(Path(folder), pictures, arguments.frames)
        print(f"{'a frame on the stepping thread':32}{step:8.0f} us, {step / copy:.2f} copies of it of {copy:.0f} us")


def _pictures(width: int, height: int) -> Frames:
    """A ball over a smooth ground, as a render of a simple scene."""
    y, x = np.mgrid[0:height, 0:width]
    ground = np.stack([x * 255 / width, y * 255 / height, 128 + 60 * np.sin(x / 40) * np.cos(y / 30)], -1)
    pictures = []
    for i in range(_PICTURES):
        picture = ground.copy()
        centre = width * (0.5 + 0.3 * np.sin(i / 15)), height * (0.5 + 0.3 * np.cos(i / 11))
        picture[(x - centre[0]) ** 2 + (y - centre[1]) ** 2 < (height / 8) ** 2] = (230, 60, 40)
        pictures.append(picture.astype(np.uint8))
    return pictures


def _raw(folder: Path, pictures: Frames, n: int, options: dict[str, str]) -> None:
    import av

    height, width = pictures[0].shape[:2]
    with av.open(str(folder / "raw.mp4"), "w") as container:
        stream = container.add_stream("libx264", rate=_FPS, options=options)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for i in range(n):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pictures[i % _PICTURES], format="rgb24")))
        container.mux(stream.encode(None))


def _start(folder: Path, pictures: Frames) -> tuple[sr.Scene, sr.Recorder[Any]]:
    scene = sr.Scene(engine=sr.testing.FakeEngine(1 / _FPS))
    recorder = scene.start_recording(
        lambda: pictures[scene.step_count % _PICTURES],
        sr.recorders.VideoFile(folder / "videofile.mp4", overwrite=True),
    )
    scene.build()
    return scene, recorder


def _video_file(folder: Path, pictures: Frames, n: int) -> None:
    scene, _ = _start(folder, pictures)
    # The stop takes one more.
    scene.step(n - 1)
    scene.stop_recording()


def _gymnasium(folder: Path, pictures: Frames, loops: dict[str, Callable[[int], None]]) -> str:
    """Adds the loop of what Gymnasium's RecordVideo does with its frames; else what is missing."""
    try:
        from moviepy.video.io.ImageSequenceClip import ImageSequenceClip
    except ImportError:
        return "not installed, so not compared: moviepy, Gymnasium's RecordVideo (pip install --group bench)"

    def write(n: int) -> None:
        frames = [pictures[i % _PICTURES] for i in range(n)]
        with redirect_stdout(StringIO()):
            ImageSequenceClip(frames, fps=_FPS).write_videofile(str(folder / "gym.mp4"), logger=None)

    loops["Gymnasium RecordVideo (moviepy)"] = write
    return ""


def _on_the_stepping_thread(folder: Path, pictures: Frames, n: int) -> tuple[float, float]:
    """What a frame adds to a step, where the encoder keeps up, and what a copy of it takes, medians [us]."""
    scene, recorder = _start(folder, pictures)
    bare = sr.Scene(engine=sr.testing.FakeEngine(1 / _FPS))
    bare.build()
    added, copies = [], []
    for i in range(n):
        # Each comes first in turn: what does finds the caches cold.
        first, second = (scene, bare) if i % 2 else (bare, scene)
        took = {first: _seconds(first.step), second: _seconds(second.step)}
        added.append(took[scene] - took[bare])
        recorder.sync()
        copies.append(_seconds(pictures[i % _PICTURES].copy))
    scene.stop_recording()
    return statistics.median(added) * 1e6, statistics.median(copies) * 1e6


def _seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
