"""The live plots of the command: windows where there is a display, else files of the same."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simreel.errors import TargetExistsError

if TYPE_CHECKING:
    import numpy as np

    from simreel.recorders import PlotOptions, PlotRecorder
    from simreel.scene import Scene

__all__ = ["SECONDS", "Plots", "paced", "write_png"]

# What the lines show [s].
SECONDS = 5.0


class Plots:
    """Some plots of a scene. Where nobody can see them, each becomes a video, and a picture of its end.

    Args:
        scene: what is plotted.
        hz: samples a second of simulated time.
        overwrite: whether files may be replaced.
    """

    def __init__(self, scene: Scene, hz: float, *, overwrite: bool) -> None:
        from simreel.recorders.plots.window import has_display

        self.are_shown = has_display()
        self._scene = scene
        self._common: dict[str, Any] = {"hz": hz, "overwrite": overwrite}
        self._started: list[tuple[str, PlotRecorder[Any]]] = []

    def start(self, stem: str, data_func: Callable[[], Any], kind: Callable[..., PlotOptions], **options: Any) -> None:
        """Starts one.

        Args:
            stem: of its files.
            data_func: what it shows.
            kind: the class of its options.
            **options: beside those that all have.

        Raises:
            TargetExistsError: one of its files exists and may not be replaced.
            MissingExtraError: matplotlib or Qt is not installed.
        """
        files: dict[str, Any] = {}
        if not self.are_shown:
            # The steps wait for the drawing, as here they should, without a warning.
            files = {"save_to_filename": Path(f"{stem}.mp4"), "show_window": False, "buffer_full_wait_time": 3600.0}
            if not self._common["overwrite"] and os.path.lexists(f"{stem}.png"):
                raise TargetExistsError(f"{stem}.png")
        recorder: Any = self._scene.start_recording(data_func, kind(**self._common, **files, **options))
        self._started.append((stem, recorder))

    def pictures(self) -> list[str]:
        """Writes a picture of each, as it is now, unless they are shown; the files of all plots."""
        if self.are_shown:
            return []
        for stem, recorder in self._started:
            write_png(Path(f"{stem}.png"), recorder.get_image_array())
        return [f"{stem}{suffix}" for stem, _ in self._started for suffix in (".png", ".mp4")]


def paced(step: Callable[[], None], dt: float) -> Callable[[], None]:
    """A step that waits until as much time has passed as was simulated.

    Args:
        step: takes one step.
        dt: its time [s].
    """
    start, steps = time.monotonic(), 0

    def paced_step() -> None:
        nonlocal steps
        step()
        steps += 1
        time.sleep(max(0.0, start + steps * dt - time.monotonic()))

    return paced_step


def write_png(path: Path, picture: np.ndarray[Any, Any]) -> None:
    """Writes a picture, (H, W, 3) uint8."""
    import av

    codec: Any = av.CodecContext.create("png", "w")
    codec.height, codec.width = picture.shape[:2]
    codec.pix_fmt = "rgb24"
    frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
    path.write_bytes(b"".join(bytes(packet) for packet in [*codec.encode(frame), *codec.encode(None)]))
