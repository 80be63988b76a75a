"""A progress bar, on stderr and only where that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simreel.scene.scene import Scene

__all__ = ["counting_bar", "progress_bar"]


@contextmanager
def progress_bar(scene: Scene, steps: int) -> Iterator[None]:
    """Shows how far the scene is on its way to `steps`, within the block."""
    with _bar() as update:
        if update is not None:
            scene.on_progress(lambda report: update(report.step, steps, f"{report.time:.2f} s"))
        yield


@contextmanager
def counting_bar(unit: str) -> Iterator[Callable[[int, int], None] | None]:
    """A function that shows how many of all are done, within the block; None where there is no terminal."""
    with _bar() as update:
        yield None if update is None else lambda done, total: update(done, total, f"{done} of {total} {unit}")


@contextmanager
def _bar() -> Iterator[Callable[[int, int, str], None] | None]:
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    # Drawn by whoever works: a thread that draws would take its time from the simulation.
    with Progress(*columns, console=Console(stderr=True), auto_refresh=False, transient=True) as bar:
        task = bar.add_task("")

        def update(done: int, total: int, text: str) -> None:
            bar.update(task, completed=done, total=total, description=text, refresh=True)

        yield update
