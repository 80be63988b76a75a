"""The cameras of a scene, and the renderer that they share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
            OptionsError: it is no name, or another camera has it.
        """
        if not (name is None or isinstance(name, str)):
            raise OptionsError("add_camera", [f"name = {name!r}: text is needed"])
        name = name or free_name("camera", [camera.name for camera in self.cameras])
        if any(camera.name == name for camera in self.cameras):
            raise OptionsError("add_camera", [f"name = {name!r}: another camera has that name"])
        self.cameras.append(Camera(name, view, self._clock, self._draw))
        return self.cameras[-1]

    def place(self, name: str | None, res: tuple[int, int], **pose: Any) -> Camera:
        """As `add`, of what `scene.add_camera` is given.

        Raises:
            OptionsError: a value is out of range, or another camera has that name.
        """
        from simreel.render import View

        try:
            view = View(size=res, **pose)
        except OptionsError as error:
            # By the name that it has there.
            told = [f"res{text.removeprefix('size')}" if text.startswith("size") else text for text in error.problems]
            raise OptionsError("add_camera", told) from None
        return self.add(name, view)

    def find(self, name: str) -> Camera:
        """An added camera, or one of the model.

        Raises:
            UnknownNameError: there is no such camera.
        """
        for camera in self.cameras:
            if camera.name == name:
                return camera
        # A number is no name, nor is what has no hash.
        if not isinstance(name, str) or name not in self._of_model:
            model = self._engine("scene.camera()").model
            # Some may have none.
            names = [each for i in range(model.ncam) if (each := model.camera(i).name)]
            if name not in names:
                raise UnknownNameError("camera", name, [*(camera.name for camera in self.cameras), *names])
            self._of_model[name] = self._make(name, model.camera(name).id)
        return self._of_model[name]

    def first(self) -> Camera:
        """The first camera of the model, which may have no name."""
        name = self._engine("scene.camera()").model.camera(0).name
        return self.find(name) if name else self._make("0", 0)

    def _make(self, name: str, number: int) -> Camera:
        from simreel.render import View

        model = self._engine("scene.camera()").model
        # MuJoCo's 1 x 1 says nothing.
        width, height = (int(n) for n in model.cam_resolution[number])
        size = (640, 480) if (width, height) == (1, 1) else (width, height)
        return Camera(name, View(size=size, camera=model.camera(number).name or number), self._clock, self._draw)

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
