"""Which renderer this process draws with: EGL, else OSMesa, else the schematic one, unless the user has said."""

from __future__ import annotations

import logging
import os
import sys
import threading
from typing import TYPE_CHECKING, Literal

from simreel.errors import UnknownNameError
from simreel.render.errors import BackendError

if TYPE_CHECKING:
    import mujoco

    from simreel.render.base import Renderer

__all__ = ["BACKENDS", "choose_backend", "make_renderer"]

logger = logging.getLogger("simreel")

BACKENDS = ("egl", "osmesa", "schematic")
"""What SIMREEL_RENDERER may name; without it they are tried in this order."""

# The values of MUJOCO_GL with which MuJoCo uses no GL.
_OFF = ("disable", "disabled", "off", "false", "0")

_lock = threading.Lock()
_chosen: str | None = None


def choose_backend() -> str:
    """The name of the backend of this process; the first call decides.

    SIMREEL_RENDERER names one; else MUJOCO_GL is followed where it names EGL or OSMesa or turns GL off. Otherwise the
    first that works is taken; where that is the schematic one it is told once, at INFO.

    Raises:
        UnknownNameError: SIMREEL_RENDERER names none.
        BackendError: the one that was named cannot be used here.
    """
    global _chosen
    with _lock:
        if _chosen is None:
            _chosen = _choose()
        return _chosen


def make_renderer(
    model: mujoco.MjModel, size: tuple[int, int] = (640, 480), *, quality: Literal["draft", "full"] | None = None
) -> Renderer:
    """A renderer of the model. One of GL must be used and closed on the thread that made it.

    Args:
        model: what is drawn. A renderer of GL keeps its meshes and textures as they are now.
        size: width and height of the first picture [pixels]; views may have other sizes.
        quality: of GL: "full", or "draft" without shadows, reflections and multisampling; None is "draft" where the
            processor draws. The schematic renderer has one quality only.

    Raises:
        UnknownNameError: SIMREEL_RENDERER names no backend, or `quality` is none.
        BackendError: the backend that was named cannot be used here.
        RenderError: MuJoCo cannot draw with the GL that is here.
    """
    if quality not in (None, "draft", "full"):
        raise UnknownNameError("quality", quality, ("draft", "full"))
    backend = choose_backend()
    if backend == "schematic":
        from simreel.render.schematic.renderer import SchematicRenderer

        return SchematicRenderer(model)
    from simreel.render.gl.renderer import GLRenderer

    return GLRenderer(model, backend, size, quality=quality)


def _choose() -> str:
    named = os.environ.get("SIMREEL_RENDERER", "").strip().lower()
    if named and named not in BACKENDS:
        raise UnknownNameError("renderer", named, BACKENDS)
    if not named:
        wanted = os.environ.get("MUJOCO_GL", "").strip().lower()
        named = "schematic" if wanted in _OFF else wanted if wanted in BACKENDS else ""
    if named:
        _try(named)
        return named
    # MuJoCo uses the GL library of its first context; where the user has imported one, that is the one.
    order = ("osmesa", "egl") if "mujoco.osmesa" in sys.modules else ("egl", "osmesa")
    reasons = []
    for backend in order:
        try:
            _try(backend)
        except BackendError as error:
            reasons.append(error.reason)
        else:
            return backend
    logger.info(
        "pictures come from the schematic renderer, as no GL can be used (%s). MuJoCo's own pictures need the Debian "
        "packages libegl1 and libegl-mesa0, or libosmesa6",
        "; ".join(reasons),
    )
    return "schematic"


def _try(backend: str) -> None:
    """Makes a context and frees it."""
    if backend != "schematic":
        from simreel.render.gl.renderer import CONTEXTS

        CONTEXTS[backend]().free()
