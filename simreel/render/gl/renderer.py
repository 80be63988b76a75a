"""Pictures by MuJoCo's OpenGL renderer, in a context of our own."""

from __future__ import annotations

import ctypes
import weakref
from typing import TYPE_CHECKING, Any, Literal

import mujoco
import numpy as np

from simreel.render.base import Asked, Renderer
from simreel.render.errors import RenderError
from simreel.render.gl.context import GLContext, Owner
from simreel.render.gl.egl import EGLContext
from simreel.render.gl.osmesa import OSMesaContext
from simreel.render.view import Eye, eye_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from simreel.render.view import View

__all__ = ["CONTEXTS", "GLRenderer"]

CONTEXTS: dict[str, Callable[[], GLContext]] = {"egl": EGLContext, "osmesa": OSMesaContext}
"""What makes a context, by the name of the backend."""

# The least room for what is drawn; mujoco.Renderer's default. MuJoCo drops what exceeds it.
_MAX_GEOM = 10_000


class GLRenderer(Renderer):
    """Draws with MuJoCo on the thread that it was made on, which must also use and close it.

    What stands in the model's meshes, textures and height fields when the renderer is made is what it draws.

    Args:
        model: what is drawn.
        backend: "egl" or "osmesa".
        size: width and height of the first picture [pixels]; larger views may come.
        quality: "full", or "draft" without shadows, reflections and multisampling. None is "full" where a graphics
            card draws and "draft" where the processor does, which is 15 to 20 times faster then.

    Raises:
        BackendError: there is no such GL here.
        RenderError: MuJoCo cannot draw with it.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        backend: str,
        size: tuple[int, int] = (640, 480),
        *,
        quality: Literal["draft", "full"] | None = None,
    ) -> None:
        super().__init__(model)
        self.backend = backend
        Owner.collect()
        self._held = _Held(CONTEXTS[backend](), model, size, quality)
        self._finalizer = weakref.finalize(self, _Held.let_go, self._held)
        self.quality = self._held.quality
        parts = model.ngeom + model.nsite + model.nflex + model.nskin + model.nwrap + model.ntendon
        self._scene = mujoco.MjvScene(model, max(_MAX_GEOM, 2 * parts))
        if self.quality == "draft":
            self._scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = False
            self._scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = False
        self._option = mujoco.MjvOption()
        # The scene's own camera is set before each picture.
        self._camera = mujoco.MjvCamera()
        self._camera.type = mujoco.mjtCamera.mjCAMERA_USER

    def _draw(self, data: mujoco.MjData, view: View, asked: Asked) -> tuple[NDArray[np.generic], ...]:
        held = self._held
        held.owner.check()
        if not self._finalizer.alive:
            raise RenderError("the renderer is closed")
        Owner.collect()
        eye = eye_of(self.model, data, view)
        for camera in self._scene.camera:
            _place(camera, eye)
        mujoco.mjv_updateScene(
            self.model, data, self._option, None, self._camera, mujoco.mjtCatBit.mjCAT_ALL, self._scene
        )
        pictures: list[NDArray[np.generic]] = []
        with held.context.current():
            held.fit(view.size)
            if asked.rgb:
                pictures.append(held.read(self._scene, view.size, depth=False))
            if asked.depth or asked.segmentation:
                # In the colours of numbers: nothing is smoothed, blended or hazed, which depth suffers from too.
                flags = self._scene.flags.copy()
                self._scene.flags[mujoco.mjtRndFlag.mjRND_SEGMENT] = True
                self._scene.flags[mujoco.mjtRndFlag.mjRND_IDCOLOR] = True
                try:
                    if asked.depth:
                        pictures.append(_metres(held.read(self._scene, view.size, depth=True), eye))
                    if asked.segmentation:
                        pictures.append(self._objects(held.read(self._scene, view.size, depth=False)))
                finally:
                    self._scene.flags[:] = flags
        return tuple(pictures)

    def _objects(self, colors: NDArray[np.generic]) -> NDArray[np.int32]:
        """What stands at each pixel, (H, W, 2), from the colours that number it."""
        numbers = colors.astype(np.uint32) @ np.array([1, 1 << 8, 1 << 16], np.uint32)
        table = np.full((self._scene.ngeom + 1, 2), -1, np.int32)  # colour 0 is where nothing is
        for geom in self._scene.geoms[: self._scene.ngeom]:
            if geom.segid >= 0:
                table[geom.segid + 1] = geom.objid, geom.objtype
        objects: NDArray[np.int32] = table[numbers]
        return objects

    def close(self) -> None:
        """Frees the GL context. May be called twice.

        Raises:
            RenderError: the renderer belongs to another thread.
        """
        if self._finalizer.alive:
            self._held.owner.check()
            self._finalizer()


class _Held:
    """A GL context and MuJoCo's things in it; freed on their thread, or never."""

    def __init__(self, context: GLContext, model: mujoco.MjModel, size: tuple[int, int], quality: str | None) -> None:
        self.owner = Owner()
        self.context = context
        self.quality = quality or ("draft" if context.is_software else "full")
        with context.current():
            try:
                self._mjr = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
            except mujoco.FatalError as error:
                context.free()
                raise RenderError(f"MuJoCo cannot draw with this GL: {error}") from error
            # The end of an MjrContext deletes GL objects by their numbers, in whatever context is current on whatever
            # thread drops it: that may be one of the user's. So it is held until it was freed in its own.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._mjr))
            if self.quality == "draft":
                # Heeded by the next mjr_resizeOffscreen that changes the size.
                self._mjr.offSamples = 0
                mujoco.mjr_resizeOffscreen(1, 1 + (self._mjr.offHeight == 1), self._mjr)
            self._size = (0, 0)
            try:
                self.fit(size)
            except RenderError:
                self.let_go()
                raise
            mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._mjr)
            self._mjr.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR

    def fit(self, size: tuple[int, int]) -> None:
        """Makes the offscreen buffer large enough; it never shrinks. The context is current.

        Raises:
            RenderError: it cannot be that large.
        """
        if size[0] <= self._size[0] and size[1] <= self._size[1]:
            return
        larger = (max(size[0], self._size[0]), max(size[1], self._size[1]))
        if max(larger) > self.context.max_side:
            most = self.context.max_side
            raise RenderError(f"a picture of {size[0]} x {size[1]} pixels is too large: {most} a side is the most here")
        try:
            mujoco.mjr_resizeOffscreen(*larger, self._mjr)
        except mujoco.FatalError as error:
            raise RenderError(f"pictures of {larger[0]} x {larger[1]} pixels cannot be drawn here: {error}") from error
        self._size = larger

    def read(self, scene: mujoco.MjvScene, size: tuple[int, int], *, depth: bool) -> NDArray[np.generic]:
        """Draws the scene and reads the picture. The context is current."""
        width, height = size
        area = mujoco.MjrRect(0, 0, width, height)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._mjr)
        mujoco.mjr_render(area, scene, self._mjr)
        picture: NDArray[Any] = (
            np.empty((height, width), np.float32) if depth else np.empty((height, width, 3), np.uint8)
        )
        mujoco.mjr_getError()  # what drawing left behind has done no harm yet
        mujoco.mjr_readPixels(None if depth else picture, picture if depth else None, area, self._mjr)
        if error := mujoco.mjr_getError():
            raise RenderError(f"the picture cannot be read (GL error 0x{error:x})")
        return np.ascontiguousarray(picture[::-1])  # GL counts rows from the bottom

    def let_go(self) -> None:
        """Frees everything if this is the thread that it belongs to; else that thread does at its next call."""
        if not self.owner.is_here():
            self.owner.leave(self.let_go)
            return
        try:
            with self.context.current():
                self._mjr.free()
        except RenderError:
            # At the end of the process other code may have ended the display first: there is nothing left to free.
            return
        self.context.free()
        ctypes.pythonapi.Py_DecRef(ctypes.py_object(self._mjr))


def _place(camera: mujoco.MjvGLCamera, eye: Eye) -> None:
    near, far = eye.clip
    # The frustum is that of the near plane; an orthographic one is as large everywhere.
    left, right, bottom, top = (edge if eye.orthographic else edge * near for edge in eye.span)
    camera.pos[:] = eye.pos
    camera.forward[:] = eye.axes[2]
    camera.up[:] = eye.axes[1]
    camera.frustum_center = (left + right) / 2
    camera.frustum_width = (right - left) / 2
    camera.frustum_bottom, camera.frustum_top = bottom, top
    camera.frustum_near, camera.frustum_far = near, far
    camera.orthographic = eye.orthographic


def _metres(values: NDArray[np.generic], eye: Eye) -> NDArray[np.float32]:
    """Depth along the optical axis [m] from the values of a reversed depth buffer: 1 is the near plane, 0 the far one.

    The inverse of what glFrustum and glOrtho make of the depth (OpenGL 2.1 specification, 2.11.2).
    """
    near, far = eye.clip
    wide = values.astype(np.float64)
    wide = far - wide * (far - near) if eye.orthographic else near * far / (near + wide * (far - near))
    return wide.astype(np.float32)
