"""Recorders on any Gymnasium environment (extra `gym`).

Gymnasium is loaded with the first name that is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simreel._lazy import lazy_names

if TYPE_CHECKING:
    from simreel.gym.record import Record, RecordEnv, RecordVectorEnv

__all__ = ["Record", "RecordEnv", "RecordVectorEnv"]

__getattr__, __dir__ = lazy_names(__name__, dict.fromkeys(__all__, "simreel.gym.record"))
