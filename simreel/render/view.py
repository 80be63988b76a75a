"""Where a picture is taken from: a `View` as the user gives it, and the `Eye` that it is in one state."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from simreel.errors import OptionsError, UnknownNameError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Eye", "View", "eye_of"]


@dataclass(frozen=True)
class View:
    """A camera of the model, or a pose of its own, and the size of its pictures.

    Args:
        size: width and height [pixels].
        camera: the name or number of a camera of the model; what follows is then not used.
        pos: where the view stands, (3,) [m].
        lookat: the point in the middle of the picture, (3,) [m].
        up: what points up in the picture, (3,); where it is parallel to the line of sight, an axis that is not.
        fov: the vertical field of view [degrees].
        body: the name or number of a body that `pos`, `lookat` and `up` are fixed to and measured in; None: the world.

    Raises:
        OptionsError: a value is out of range.
    """

    size: tuple[int, int] = (640, 480)
    camera: str | int | None = None
    pos: tuple[float, float, float] = (3.0, 0.0, 2.0)
    lookat: tuple[float, float, float] = (0.0, 0.0, 0.5)
    up: tuple[float, float, float] = (0.0, 0.0, 1.0)
    fov: float = 45.0
    body: str | int | None = None

    def __post_init__(self) -> None:
        problems: list[str] = []
        self._set("size", _whole_pair(self.size, problems))
        for name in ("pos", "lookat", "up"):
            self._set(name, _triple(name, getattr(self, name), problems))
        if not (isinstance(self.fov, Real) and 0 < self.fov < 180):  # false for NaN too
            problems.append(f"fov = {self.fov!r}: more than 0 and less than 180 degrees are needed")
        for name in ("camera", "body"):
            self._set(name, _name_or_number(name, getattr(self, name), problems))
        if not problems and self.pos == self.lookat:
            problems.append(f"lookat = {self.lookat!r}: another point than pos is needed")
        if not problems and not any(self.up):
            problems.append("up = (0, 0, 0): a direction is needed")
        if problems:
            raise OptionsError("View", problems)
        self._set("fov", float(self.fov))

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)  # the way of a frozen dataclass


def _whole_pair(value: Any, problems: list[str]) -> tuple[int, int]:
    try:
        width, height = (operator.index(number) for number in value)
    except (TypeError, ValueError):
        width = height = 0
    if width < 1 or height < 1:
        problems.append(f"size = {value!r}: (width, height) in whole pixels is needed, each at least 1")
    return width, height


def _name_or_number(name: str, value: Any, problems: list[str]) -> str | int | None:
    if value is None or isinstance(value, str):
        return value
    try:
        return operator.index(value)
    except TypeError:
        problems.append(f"{name} = {value!r}: a name or a number is needed")
        return None


def _triple(name: str, value: Any, problems: list[str]) -> tuple[float, float, float]:
    try:
        x, y, z = (float(number) for number in value)
    except (TypeError, ValueError):
        x = y = z = math.nan
    if not all(map(math.isfinite, (x, y, z))):
        problems.append(f"{name} = {value!r}: three finite numbers are needed")
    return x, y, z


@dataclass(frozen=True, eq=False)
class Eye:
    """A view in one state of the model: where it stands, how it is turned, what it spans."""

    pos: NDArray[np.float64]
    """(3,) [m], in the world."""
    axes: NDArray[np.float64]
    """(3, 3): the rows point right, up and forward, unit vectors in the world."""
    span: tuple[float, float, float, float]
    """Left, right, bottom and top of the picture at unit depth; for an orthographic view in metres at any depth."""
    clip: tuple[float, float]
    """Depth of the near and of the far plane [m]: nothing is drawn before the one or behind the other."""
    orthographic: bool = False


def eye_of(model: mujoco.MjModel, data: mujoco.MjData, view: View) -> Eye:
    """The eye of a view, in the state whose kinematics `data` hold.

    Raises:
        UnknownNameError: the model has no camera or body of that name or number.
    """
    clip = (model.vis.map.znear * model.stat.extent, model.vis.map.zfar * model.stat.extent)
    width, height = view.size
    if view.camera is not None:
        return _fixed(model, data, find(model, mujoco.mjtObj.mjOBJ_CAMERA, view.camera), width / height, clip)
    pos, lookat, up = (np.array(vector) for vector in (view.pos, view.lookat, view.up))
    if view.body is not None:
        body = find(model, mujoco.mjtObj.mjOBJ_BODY, view.body)
        turn = data.xmat[body].reshape(3, 3)
        pos, lookat, up = data.xpos[body] + turn @ pos, data.xpos[body] + turn @ lookat, turn @ up
    top = math.tan(math.radians(view.fov) / 2)
    side = top * width / height
    return Eye(pos, _axes(lookat - pos, up), (-side, side, -top, top), clip)


def find(model: mujoco.MjModel, kind: mujoco.mjtObj, which: str | int) -> int:
    """The number of a camera or body of that name or number.

    Raises:
        UnknownNameError: there is none.
    """
    count, what = (model.ncam, "camera") if kind == mujoco.mjtObj.mjOBJ_CAMERA else (model.nbody, "body")
    number = mujoco.mj_name2id(model, kind, which) if isinstance(which, str) else operator.index(which)
    if not 0 <= number < count:
        names = (mujoco.mj_id2name(model, kind, i) or str(i) for i in range(count))
        raise UnknownNameError(what, which, names)
    return int(number)


def _axes(forward: NDArray[np.float64], up: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rows right, up and forward of a view along `forward`, as upright as can be."""
    forward = forward / np.linalg.norm(forward)
    up = up / np.linalg.norm(up)
    right = np.cross(forward, up)
    # Closer to parallel, the direction of the picture would be made of rounding errors.
    if np.linalg.norm(right) < 1e-6:
        right = np.cross(forward, np.eye(3)[np.argmin(np.abs(forward))])
    right /= np.linalg.norm(right)
    return np.array([right, np.cross(right, forward), forward])


def _fixed(model: mujoco.MjModel, data: mujoco.MjData, camera: int, aspect: float, clip: tuple[float, float]) -> Eye:
    right, up, back = data.cam_xmat[camera].reshape(3, 3).T  # a camera of MuJoCo looks along -z
    axes = np.array([right, up, -back])
    pos = data.cam_xpos[camera].copy()
    fovy = float(model.cam_fovy[camera])
    if model.cam_projection[camera] == mujoco.mjtProjection.mjPROJ_ORTHOGRAPHIC:
        top = fovy / 2  # is then the height of the picture [m]
        return Eye(pos, axes, (-top * aspect, top * aspect, -top, top), clip, orthographic=True)
    top = math.tan(math.radians(fovy) / 2)
    if model.cam_sensorsize[camera, 1] <= 0:
        return Eye(pos, axes, (-top * aspect, top * aspect, -top, top), clip)
    # As mjv_updateCamera: the sensor is stretched over the picture; its principal point counts rows from the top.
    focal_x, focal_y, shift_x, shift_y = map(float, model.cam_intrinsic[camera])
    side, half = (float(edge) / 2 for edge in model.cam_sensorsize[camera])
    span = ((shift_x - side) / focal_x, (shift_x + side) / focal_x, -(half + shift_y) / focal_y)
    return Eye(pos, axes, (*span, (half - shift_y) / focal_y), clip)
