"""What a verification found."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["VerifyReport"]


@dataclass(frozen=True)
class VerifyReport:
    """Whether running a recording again reaches each of its states, bit for bit."""

    ok: bool
    """Whether every state that was compared was reached."""

    steps: int
    """Steps that were taken and compared."""

    first_step: int | None = None
    """The number of the first frame whose state was not reached; None where all were."""

    field: str | None = None
    """The first field of that frame that differs."""

    max_abs: float = 0.0
    """The largest difference in that field, in its unit; NaN where one of the two is."""

    worlds: tuple[int, ...] = ()
    """The worlds that differ in that frame."""

    unchecked: tuple[tuple[int, int], ...] = ()
    """Spans of frames whose states cannot be compared, though they follow from others: the first, and the first after
    it. They are lost or stand behind a lost frame; somebody changed parameters there, at a step nobody knows, or the
    time, or took steps past the scene; with a model that sleeps, those that do not begin an episode."""
