"""The trajectory file: frames of fixed layout, exact to the bit, that survive a kill.

Each name is loaded on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from simreel.errors import nearest

if TYPE_CHECKING:
    from simreel.reel.columns import Column
    from simreel.reel.layout import Field, Joint, Layout
    from simreel.reel.mujoco import layout_from_mujoco
    from simreel.reel.reader import Reel
    from simreel.reel.side import Side
    from simreel.reel.writer import ReelWriter

__all__ = ["Column", "Field", "Joint", "Layout", "Reel", "ReelWriter", "Side", "layout_from_mujoco"]

_HOME = {
    "Column": "simreel.reel.columns",
    "Field": "simreel.reel.layout",
    "Joint": "simreel.reel.layout",
    "Layout": "simreel.reel.layout",
    "Reel": "simreel.reel.reader",
    "ReelWriter": "simreel.reel.writer",
    "Side": "simreel.reel.side",
    "layout_from_mujoco": "simreel.reel.mujoco",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}.{nearest(name, __all__)}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
