"""What every recorder is asked."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from simreel.options.base import Options

__all__ = ["RecorderOptions"]


class RecorderOptions(Options):
    """What every recorder has: its rate and its queue."""

    positional: ClassVar[tuple[str, ...]] = ("hz", "buffer_size", "buffer_full_wait_time", "when_full")
    reads_scene: ClassVar[bool] = False
    """Whether the scene itself is recorded, so that no data function is given."""

    hz: Annotated[float, Field(gt=0)] | None = None
    """Samples per simulated second [Hz]; the nearest rate that divides the steps evenly is taken. None: every step."""

    buffer_size: int = Field(0, ge=0)
    """Samples that may wait to be written; 0 sets no bound but `buffer_bytes`."""

    buffer_bytes: int = Field(32 * 2**20, gt=0)
    """Bytes of samples that may wait to be written."""

    buffer_full_wait_time: float = Field(0.1, ge=0)
    """How long a step waits for room in a full queue before `when_full` applies [s]."""

    when_full: Literal["block", "drop_oldest", "raise"] = "block"
    """What a queue does that stays full: make the step wait, drop the oldest samples and count them, or raise."""
