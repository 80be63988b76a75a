"""A progress bar, on stderr and only where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simreel.scene.progress import Progress as Report
    from simreel.scene.scene import Scene

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(scene: Scene, steps: int) -> Iterator[None]:
    """Shows how far the scene is on its way to `steps`, within the block."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    # Drawn by the scene's calls: a thread that draws would take its time from the simulation.
    with Progress(*columns, console=Console(stderr=True), auto_refresh=False, transient=True) as bar:
        task = bar.add_task("0 s", total=steps)

        def show(report: Report) -> None:
            bar.update(task, completed=report.step, description=f"{report.time:.2f} s", refresh=True)

        scene.on_progress(show)
        yield
