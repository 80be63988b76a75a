"""The Qt application of the window process."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

__all__ = ["has_screen", "make_application"]


def make_application() -> QApplication:
    """The one application; without a display, or with one that cannot be opened, windows are drawn in memory."""
    if sys.platform.startswith("linux") and "QT_QPA_PLATFORM" not in os.environ:
        display = {"WAYLAND_DISPLAY": "wayland", "DISPLAY": "xcb"}
        # Qt takes the first that works.
        os.environ["QT_QPA_PLATFORM"] = ";".join(
            [each for name, each in display.items() if os.environ.get(name)] + ["offscreen"]
        )
    from PySide6.QtGui import QFontDatabase
    from PySide6.QtWidgets import QApplication

    application = QApplication(["simreel"])
    application.setApplicationDisplayName("simreel")
    application.setQuitOnLastWindowClosed(False)
    if not QFontDatabase.families():
        # A bare system: text would be boxes.
        import matplotlib

        QFontDatabase.addApplicationFont(str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"))
    return application


def has_screen(application: Any) -> bool:
    """Whether somebody can see its windows."""
    return application.platformName() not in {"offscreen", "minimal"}
