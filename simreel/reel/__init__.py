"""The trajectory file: frames of fixed layout, exact to the bit, that survive a kill.

Each name is loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simreel._lazy import lazy_names

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

__getattr__, __dir__ = lazy_names(
    __name__,
    {
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
    },
)
