"""The camera that the command films with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from simreel.scene import Scene
    from simreel.scene.camera import Camera

__all__ = ["Film", "exact_hz", "film_camera"]

# Frames a second where nobody has said.
_FPS = 30
# From the middle of the model, in its extents: far enough to see all of it with the field of view of 45 degrees.
_FROM = (1.2, -1.2, 0.8)


def exact_hz(dt: float) -> float:
    """The rate nearest to 30 Hz that divides the steps evenly."""
    return 1 / (dt * max(1, round(1 / (_FPS * dt))))


class Film:
    """The data function of a video; works from `bind` on.

    Args:
        model: the MJCF file that is filmed.
        camera: the name of a camera of it, or None for the first one.
        res: width and height of the pictures [pixels].

    Raises:
        UnknownNameError: there is no camera of that name.
        ModelError: the model is broken.
    """

    def __init__(self, model: str, camera: str | None, res: tuple[int, int]) -> None:
        self._camera, self._res = camera, res
        if camera is not None:
            _check_name(model, camera)

    def bind(self, scene: Scene) -> None:
        """Takes the camera of a built scene."""
        self._render: Callable[[], Any] = film_camera(scene, self._camera, self._res).render

    def __call__(self) -> Any:
        """A picture of the state that stands, (H, W, 3) uint8."""
        return self._render()


def _check_name(model: str, camera: str) -> None:
    """Looks for a camera before the scene is built, when no file is open yet."""
    from simreel.errors import UnknownNameError
    from simreel.options.morphs import MJCF
    from simreel.scene.compile import load_morph

    names = [each.name for each in load_morph(MJCF(file=model)).cameras if each.name]
    if camera not in names:
        raise UnknownNameError("camera", camera, names)


def film_camera(scene: Scene, name: str | None, res: tuple[int, int]) -> Camera:
    """A camera of the built scene: the named one, else the model's first one, else one that sees the whole model.

    Raises:
        UnknownNameError: there is no camera of that name.
    """
    from simreel.render import View

    model = scene.model
    if name is None and not model.ncam:
        center, extent = model.stat.center, model.stat.extent
        x, y, z = (float(c + extent * d) for c, d in zip(center, _FROM, strict=True))
        return scene.add_camera(res=res, pos=(x, y, z), lookat=tuple(center.tolist()))
    camera = scene._studio.first() if name is None else scene.camera(name)
    camera.view = View(size=res, camera=camera.view.camera)
    return camera
