"""The cameras of a scene, and the renderer that they share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simreel.errors import OptionsError, UnknownNameError
from simreel.scene.camera import Camera
from simreel.scene.ids import free_name

if TYPE_CHECKING:
    from collections.abc import Callable

    import mujoco

    from simreel.render import Renderer, View
    from simreel.scene.clock import Clock
    from simreel.scene.engines.model_engine import ModelEngine

__all__ = ["Studio"]


class Studio:
    """Makes cameras and gives them what they draw.

    Args:
        clock: of the scene.
        engine: gives the engine, or raises where the scene is not built.
    """

    def __init__(self, clock: Clock, engine: Callable[[str], ModelEngine]) -> None:
        self.cameras: list[Camera] = []
        self._of_model: dict[str, Camera] = {}
        self._clock = clock
        self._engine = engine
        self._renderer: Renderer | None = None

    def add(self, name: str | None, view: View) -> Camera:
        """A camera with a pose of its own.

        Raises:
            OptionsError: another camera has that name.
        """
        name = name or free_name("camera", [camera.name for camera in self.cameras])
        if any(camera.name == name for camera in self.cameras):
            raise OptionsError("add_camera", [f"name = {name!r}: another camera has that name"])
        self.cameras.append(Camera(name, view, self._clock, self._draw))
        return self.cameras[-1]

    def find(self, name: str) -> Camera:
        """An added camera, or one of the model.

        Raises:
            UnknownNameError: there is no such camera.
        """
        for camera in self.cameras:
            if camera.name == name:
                return camera
        if name not in self._of_model:
            from simreel.render import View

            model = self._engine("scene.camera()").model
            names = [model.camera(i).name for i in range(model.ncam)]
            if name not in names:
                raise UnknownNameError("camera", name, [*(camera.name for camera in self.cameras), *names])
            view = View(size=_resolution(model, name), camera=name)
            self._of_model[name] = Camera(name, view, self._clock, self._draw)
        return self._of_model[name]

    def close(self) -> None:
        """Frees the renderer. May be called twice."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None

    def _draw(self, env: int) -> tuple[Renderer, mujoco.MjData]:
        engine = self._engine("camera.render()")
        if self._renderer is None:
            from simreel.render import make_renderer

            self._renderer = make_renderer(engine.model)
        return self._renderer, engine.picture_data(env)


def _resolution(model: mujoco.MjModel, name: str) -> tuple[int, int]:
    """What the model says of its camera; MuJoCo's 1 x 1 says nothing."""
    width, height = (int(n) for n in model.cam_resolution[model.camera(name).id])
    return (640, 480) if (width, height) == (1, 1) else (width, height)
