"""The schematic renderer: numpy alone, no GL, for machines that have none.

Exact are spheres, capsules, cylinders, ellipsoids, boxes and planes, and flexes and height fields as their triangles;
meshes are their convex hulls. Light comes from far away, shadows fall on the largest plane only, textures count with
their mean, except for checkers on planes. What is transparent is blended over the rest, the nearest of it only; a plane
is opaque. Skins, and the thickness of cloth, are not drawn.

While a view stands still, what does not move either is drawn once and kept.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from simreel.render.base import Asked, Renderer
from simreel.render.errors import RenderError
from simreel.render.schematic.layer import Layer
from simreel.render.schematic.world import World, signature

if TYPE_CHECKING:
    import mujoco
    from numpy.typing import NDArray

    from simreel.render.view import View

__all__ = ["SchematicRenderer"]

# Each view keeps some 30 bytes a pixel; views that were not used for longest go first.
_MAX_VIEWS = 8


class SchematicRenderer(Renderer):
    """Draws with numpy, on any thread.

    Args:
        model: what is drawn.
    """

    backend = "schematic"

    def __init__(self, model: mujoco.MjModel) -> None:
        super().__init__(model)
        self._lock = threading.Lock()
        self._layers: dict[View, Layer] = {}
        self._world: World | None = None
        self._looks = b""
        self._is_closed = False

    def _draw(self, data: mujoco.MjData, view: View, asked: Asked) -> tuple[NDArray[np.generic], ...]:
        with self._lock, np.errstate(all="ignore"):
            if self._is_closed:
                raise RenderError("the renderer is closed")
            looks = signature(self.model)
            if self._world is None or looks != self._looks:
                self._world, self._looks = World(self.model), looks
                self._layers.clear()
            layer = self._layers.pop(view, None) or Layer(self.model, self._world, view)
            self._layers[view] = layer  # the last is the one used last
            while len(self._layers) > _MAX_VIEWS:
                del self._layers[next(iter(self._layers))]
            return layer.draw(data, asked)

    def close(self) -> None:
        """Lets go of all pictures. May be called twice."""
        with self._lock:
            self._is_closed = True
            self._layers.clear()
            self._world = None
