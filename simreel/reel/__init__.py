"""The trajectory file: frames of fixed layout, exact to the bit, that survive a kill.

Each name is loaded on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from simreel.errors import nearest

if TYPE_CHECKING:
    from simreel.reel.layout import Field, Joint, Layout
    from simreel.reel.mujoco import layout_from_mujoco
    from simreel.reel.reader import Reel
    from simreel.reel.recovery import RecoverReport, recover
    from simreel.reel.repacking import RepackReport, repack
    from simreel.reel.writer import ReelWriter

__all__ = [
    "Field",
    "Joint",
    "Layout",
    "RecoverReport",
    "Reel",
    "ReelWriter",
    "RepackReport",
    "layout_from_mujoco",
    "recover",
    "repack",
]

_HOME = {
    "Field": "simreel.reel.layout",
    "Joint": "simreel.reel.layout",
    "Layout": "simreel.reel.layout",
    "RecoverReport": "simreel.reel.recovery",
    "Reel": "simreel.reel.reader",
    "ReelWriter": "simreel.reel.writer",
    "RepackReport": "simreel.reel.repacking",
    "layout_from_mujoco": "simreel.reel.mujoco",
    "recover": "simreel.reel.recovery",
    "repack": "simreel.reel.repacking",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}.{nearest(name, __all__)}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
