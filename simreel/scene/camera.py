"""A camera of a scene: pictures of the state that stands, and a video of them keyed on simulated time."""

from __future__ import annotations

import operator
import warnings
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simreel.errors import FieldError, OptionsError, SceneStateError, SimreelWarning
from simreel.recorders.rates import frame_rate
from simreel.recorders.timing import Timing
from simreel.scene.clip import Clip

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    import mujoco
    import numpy as np
    from numpy.typing import NDArray

    from simreel.render import Renderer, View
    from simreel.scene.clock import Clock

__all__ = ["Camera"]

# Frames a second of a saved video where nobody has said.
_DEFAULT_FPS = 60


class Camera:
    """What `scene.add_camera` and `scene.camera` return.

    Args:
        name: its name.
        view: where from, and how large.
        clock: of its scene.
        draw: gives the renderer and the data of a world, with poses that belong to the state.
    """

    def __init__(
        self, name: str, view: View, clock: Clock, draw: Callable[[int], tuple[Renderer, mujoco.MjData]]
    ) -> None:
        self.name = name
        self.view = view
        self._clock = clock
        self._draw = draw
        self._clip: Clip | None = None
        self._fps: float | None = None
        self._is_paused = False

    @property
    def res(self) -> tuple[int, int]:
        """Width and height of its pictures [pixels]."""
        return self.view.size

    @property
    def is_recording(self) -> bool:
        """Whether `render` adds frames to a video."""
        return self._clip is not None and not self._clip.is_ended and not self._is_paused

    def render(
        self, rgb: bool = True, depth: bool = False, segmentation: bool = False, env: int = 0
    ) -> NDArray[np.generic] | tuple[NDArray[np.generic], ...]:
        """Pictures of the state that stands.

        Args:
            rgb: asks for the colours, (H, W, 3) uint8.
            depth: asks for the depth along the optical axis, (H, W) float32 [m].
            segmentation: asks for what is seen, (H, W, 2) int32: the number of the object and its `mujoco.mjtObj`.
            env: the world.

        Returns:
            A new array; where several are asked for, a tuple of them in the order of the arguments.

        Raises:
            SceneStateError: the scene is not built.
            FieldError: there is no such world.
            RenderError: a renderer of GL is used on another thread than the one that first rendered.
        """
        asked = {"rgb": rgb, "depth": depth, "segmentation": segmentation}
        pictures: NDArray[np.generic] | tuple[NDArray[np.generic], ...] = self._pictures(env, **asked)
        if rgb and self._clip is not None and self._is_due():
            picture: Any = pictures[0] if isinstance(pictures, tuple) else pictures
            self._clip.add(picture.copy())
        return pictures

    def render_worlds(self, worlds: Sequence[int]) -> NDArray[np.uint8]:
        """Colours of several worlds, (len(worlds), H, W, 3) uint8.

        Raises:
            FieldError: there is no such world.
        """
        import numpy as np

        return np.stack([self._pictures(world) for world in worlds])

    def _pictures(self, env: int, **asked: bool) -> Any:
        renderer, data = self._draw(_world(env))
        return renderer.render(data, self.view, **asked)

    def start_recording(self, fps: float | None = None) -> None:
        """Has `render` add its pictures to a video: the first one of each step, or at a rate.

        Args:
            fps: frames a simulated second [1/s]; the nearest rate that divides the steps evenly is taken. None: a frame
                for each step in which `render` is called.

        Raises:
            SceneStateError: it records already.
            OptionsError: a wrong rate.
            TargetError: there is no temporary folder.
        """
        if self._clip is not None:
            raise SceneStateError(f"camera {self.name!r}: start_recording()", "it records already; stop it first")
        _check_rate("start_recording", fps)
        clock = self._clock
        self._fps = fps
        # Known at the first frame: until the scene is built, dt may change.
        self._stride: int | None = None
        self._clip = Clip(self._exact(fps or _DEFAULT_FPS), f"camera {self.name!r}")
        self._is_paused = False
        self._resets, self._next = clock.resets, clock.step

    def pause_recording(self) -> None:
        """Adds no frames until `resume_recording`."""
        self._running("pause_recording()")
        self._is_paused = True

    def resume_recording(self) -> None:
        """Adds frames again."""
        self._running("resume_recording()")
        self._is_paused = False

    def stop_recording(self, save_to_filename: str | os.PathLike[str], fps: float | None = None) -> None:
        """Ends the video and saves it.

        Args:
            save_to_filename: an .mp4, .mkv, .webm or .gif, which must not exist.
            fps: frames a second of the file [1/s]. None: that of `start_recording`, else 60.

        Raises:
            SceneStateError: it does not record.
            TargetExistsError: the file exists; the recording goes on.
            TargetError: the file cannot be made; the recording goes on. Where the disk fills up later no frames are
                added, and those that there are can be saved elsewhere.
            OptionsError: a wrong suffix or rate; the recording goes on.
            SimreelError: a frame could not be encoded; those before are saved.
        """
        clip = self._running("stop_recording()")
        _check_rate("stop_recording", fps)
        try:
            saved = clip.save(save_to_filename, self._exact(fps or self._fps or _DEFAULT_FPS), self.name)
        finally:
            if clip.is_discarded:
                self._clip = None
        target = Path(save_to_filename)
        told = clip.padding(target.suffix) if saved else f"no frame was recorded, so {target} is not made"
        if told is not None:
            warnings.warn(f"camera {self.name!r}: {told}", SimreelWarning, stacklevel=2)

    def _running(self, call: str) -> Clip:
        if self._clip is None:
            raise SceneStateError(f"camera {self.name!r}: {call}", "it does not record; call start_recording() first")
        return self._clip

    def _is_due(self) -> bool:
        """Whether a picture of this step is a frame, which is asked once for each frame."""
        clock = self._clock
        if self._stride is None:
            self._stride = Timing.at(self._fps, clock.dt, 0, f"camera {self.name!r}", "fps").stride
        if clock.resets != self._resets:
            # The steps count from 0 again.
            self._resets, self._next = clock.resets, clock.step
        if not self.is_recording or clock.step < self._next:
            return False
        # On the grid of the first frame, also where steps were left out.
        self._next += self._stride * ((clock.step - self._next) // self._stride + 1)
        return True

    def _exact(self, fps: float) -> Fraction:
        return frame_rate(fps, Timing(self._clock.dt, 1))

    def __repr__(self) -> str:
        return f"<Camera {self.name}: {self.res[0]} x {self.res[1]}>"


def _check_rate(call: str, fps: Any) -> None:
    is_number = isinstance(fps, Real)
    if fps is not None and not (is_number and 0 < fps < float("inf")):
        raise OptionsError(call, [f"fps = {fps!r}: a number above 0 is needed"])


def _world(env: Any) -> int:
    try:
        # True is no number of a world.
        number = None if isinstance(env, bool) else operator.index(env)
    except TypeError:
        number = None
    if number is None:
        raise FieldError("env", repr(env), "the number of a world is needed")
    return number
