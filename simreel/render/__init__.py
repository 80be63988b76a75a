"""From a model, its data and a view to pixels: MuJoCo's own pictures where GL can be loaded, ray-cast ones elsewhere.

Each name is loaded on first use; none of them loads GL before `choose_backend` or `make_renderer` is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simreel._lazy import lazy_names

if TYPE_CHECKING:
    from simreel.render.backend import BACKENDS, choose_backend, make_renderer
    from simreel.render.base import Renderer
    from simreel.render.errors import BackendError, RenderError
    from simreel.render.view import View

__all__ = ["BACKENDS", "BackendError", "RenderError", "Renderer", "View", "choose_backend", "make_renderer"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "BACKENDS": "simreel.render.backend",
        "BackendError": "simreel.render.errors",
        "RenderError": "simreel.render.errors",
        "Renderer": "simreel.render.base",
        "View": "simreel.render.view",
        "choose_backend": "simreel.render.backend",
        "make_renderer": "simreel.render.backend",
    },
)
