"""From a model, its data and a view to pixels: MuJoCo's own pictures where GL can be loaded, ray-cast ones elsewhere.

Each name is loaded on first use; none of them loads GL before `choose_backend` or `make_renderer` is called.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from simreel.errors import nearest

if TYPE_CHECKING:
    from simreel.render.backend import BACKENDS, choose_backend, make_renderer
    from simreel.render.base import Renderer
    from simreel.render.errors import BackendError, RenderError
    from simreel.render.view import View

__all__ = ["BACKENDS", "BackendError", "RenderError", "Renderer", "View", "choose_backend", "make_renderer"]

# Each name and the module that holds it.
_HOMES = {
    "BACKENDS": "simreel.render.backend",
    "BackendError": "simreel.render.errors",
    "RenderError": "simreel.render.errors",
    "Renderer": "simreel.render.base",
    "View": "simreel.render.view",
    "choose_backend": "simreel.render.backend",
    "make_renderer": "simreel.render.backend",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}.{nearest(name, __all__)}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
