"""What all renderers do alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from simreel.errors import OptionsError

if TYPE_CHECKING:
    from types import TracebackType

    import mujoco
    import numpy as np
    from numpy.typing import NDArray

    from simreel.render.view import View

__all__ = ["Asked", "Renderer"]


@dataclass(frozen=True)
class Asked:
    """What a call of `render` asks for."""

    rgb: bool
    depth: bool
    segmentation: bool


class Renderer(ABC):
    """Makes pictures of the states of one model, for any number of views.

    Args:
        model: what is drawn. It and the data are read, never changed.
    """

    backend: str
    """The name of the backend."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self.model = model

    def render(
        self, data: mujoco.MjData, view: View, *, rgb: bool = True, depth: bool = False, segmentation: bool = False
    ) -> NDArray[np.generic] | tuple[NDArray[np.generic], ...]:
        """A picture of the state that stands in `data`.

        The kinematics must belong to that state: after `mj_forward`, `mj_kinematics` with `mj_comPos`, `mj_camlight`,
        `mj_flex` and `mj_tendon`, or the first half of a step. After a plain `mj_step` they are one step older than
        qpos, and so is the picture.

        Args:
            data: of the renderer's model.
            view: where from, and how large.
            rgb: asks for the colours, (H, W, 3) uint8.
            depth: asks for the depth along the optical axis, (H, W) float32 [m]; the far plane where nothing is.
            segmentation: asks for what is seen, (H, W, 2) int32: the number of the object and its `mujoco.mjtObj`
                (GEOM, SITE, TENDON, FLEX), as `mujoco.Renderer` gives it; (-1, -1) where nothing is.

        Returns:
            A new array; where several are asked for, a tuple of them in the order of the arguments.

        Raises:
            RenderError: the renderer is closed, or belongs to another thread.
            UnknownNameError: the model has no camera or body as the view names it.
            OptionsError: nothing is asked for.
        """
        asked = Asked(rgb, depth, segmentation)
        if not (rgb or depth or segmentation):
            raise OptionsError("render", ["rgb, depth and segmentation are all False: one at least is needed"])
        pictures = self._draw(data, view, asked)
        return pictures[0] if len(pictures) == 1 else pictures

    @abstractmethod
    def _draw(self, data: mujoco.MjData, view: View, asked: Asked) -> tuple[NDArray[np.generic], ...]:
        """The pictures asked for, new arrays, in the order rgb, depth, segmentation."""

    @abstractmethod
    def close(self) -> None:
        """Frees what the renderer holds. May be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
