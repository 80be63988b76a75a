"""The camera that the command films with."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simreel.scene import Scene
    from simreel.scene.camera import Camera

__all__ = ["exact_hz", "film_camera"]

# Frames a second where nobody has said.
_FPS = 30
# From the middle of the model, in its extents: far enough to see all of it with the field of view of 45 degrees.
_FROM = (1.2, -1.2, 0.8)


def exact_hz(dt: float) -> float:
    """The rate nearest to 30 Hz that divides the steps evenly."""
    return 1 / (dt * max(1, round(1 / (_FPS * dt))))


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
    camera = scene.camera(model.camera(0).name if name is None else name)
    camera.view = View(size=res, camera=camera.view.camera)
    return camera
