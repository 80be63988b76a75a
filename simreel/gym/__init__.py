"""Recorders on any Gymnasium environment (extra `gym`).

Gymnasium is loaded with the first name that is asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from simreel.errors import nearest

if TYPE_CHECKING:
    from simreel.gym.record import Record, RecordEnv, RecordVectorEnv

__all__ = ["Record", "RecordEnv", "RecordVectorEnv"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}.{nearest(name, __all__)}")
    return getattr(importlib.import_module("simreel.gym.record"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
