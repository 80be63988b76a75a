"""What the stepping thread has to look up for, and at which step."""

from __future__ import annotations

import math
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simreel.errors import SimreelError
    from simreel.recorders.base import Recorder

__all__ = ["Agenda"]


class Agenda:
    """Shared by the stepping thread and the workers; `next_step` costs a step one comparison."""

    __slots__ = ("next_step", "reads_state", "reports")

    def __init__(self) -> None:
        self.next_step: float = math.inf
        self.reads_state = False
        """Whether no recorder reads what a step derives from state and inputs."""
        self.reports: deque[tuple[Recorder[Any], SimreelError]] = deque()

    def report(self, recorder: Recorder[Any], error: SimreelError) -> None:
        """Leaves an error for the next step, sync or stop. Called on any thread."""
        self.reports.append((recorder, error))
        self.next_step = -1

    def plan(self, step: float) -> None:
        """Sets the next step to look up at, at once where a report waits."""
        self.next_step = step
        # Read after the write: a worker that reported in between has set its own, or is seen here.
        if self.reports:
            self.next_step = -1

    def take_reports(self, recorder: Recorder[Any] | None = None) -> list[tuple[Recorder[Any], SimreelError]]:
        """Removes and returns what was reported, of one recorder or of all."""
        taken = []
        # Two threads may ask at once.
        with suppress(IndexError):
            while True:
                taken.append(self.reports.popleft())
        if recorder is None:
            return taken
        self.reports.extend(report for report in taken if report[0] is not recorder)
        return [report for report in taken if report[0] is recorder]
