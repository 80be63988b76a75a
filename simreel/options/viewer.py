"""How the scene is shown while it runs."""

from __future__ import annotations

from pydantic import Field

from simreel.options.base import Options

__all__ = ["ViewerOptions"]


class ViewerOptions(Options):
    """The window of `Scene(show_viewer=True)`."""

    fps: float = Field(60, gt=0)
    """Pictures a second of wall time at most [1/s]; more cost the simulation time."""
    show_ui: bool = False
    """Whether the panels of MuJoCo's viewer are open at the start."""
