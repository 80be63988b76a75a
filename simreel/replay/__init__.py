"""Recorded runs: read, put back into the scene, played, and run again.

Each name is loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simreel._lazy import lazy_names

if TYPE_CHECKING:
    from simreel.replay.kinds import DataKind
    from simreel.replay.report import VerifyReport
    from simreel.replay.trajectory import Trajectory
    from simreel.replay.values import Values

__all__ = ["DataKind", "Trajectory", "Values", "VerifyReport"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "DataKind": "simreel.replay.kinds",
        "Trajectory": "simreel.replay.trajectory",
        "Values": "simreel.replay.values",
        "VerifyReport": "simreel.replay.report",
    },
)
