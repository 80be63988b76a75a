"""The counts of a recorder."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RecorderStatus"]


@dataclass(frozen=True)
class RecorderStatus:
    """What became of a recorder's samples: `received = written + dropped + queued`."""

    received: int
    """Samples taken."""

    written: int
    """Samples that the recorder has processed."""

    dropped: int
    """Samples that a full queue, or a recorder that failed, has lost."""

    queued: int
    """Samples that wait, the ones being processed included."""

    bytes: int
    """Bytes that the recorder has written."""

    error: str | None
    """What ended the recorder before its time."""
