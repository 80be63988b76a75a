"""MuJoCo's passive viewer, where there is a display."""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import mujoco

    from simreel.options.viewer import ViewerOptions

__all__ = ["Viewer", "open_viewer"]

logger = logging.getLogger("simreel")


class Viewer:
    """A window that shows the data as they are at each `sync`."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def is_open(self) -> bool:
        """Whether the user has not closed the window."""
        return bool(self._handle.is_running())

    def sync(self) -> None:
        """Shows the state that stands; nothing where the user has closed the window."""
        if self.is_open():
            self._handle.sync()

    def close(self) -> None:
        """Closes the window."""
        self._handle.close()


def open_viewer(model: mujoco.MjModel, data: mujoco.MjData, options: ViewerOptions) -> Viewer | None:
    """The window, or None where there is no display, which is told at INFO."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        logger.info("no viewer: there is no display (DISPLAY and WAYLAND_DISPLAY are empty)")
        return None
    import mujoco.viewer

    return Viewer(
        mujoco.viewer.launch_passive(model, data, show_left_ui=options.show_ui, show_right_ui=options.show_ui)
    )
