"""GL contexts of EGL, without a window or display; the first device that works, or MUJOCO_EGL_DEVICE_ID."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, byref, c_char_p, c_int, c_uint, c_void_p

from simreel.render.errors import BackendError, RenderError
from simreel.render.gl.context import GLContext
from simreel.render.gl.loading import check_mujoco_finds, describe, load

__all__ = ["PACKAGE", "EGLContext"]

PACKAGE = "libegl1"

# From EGL/egl.h and EGL/eglext.h.
_PLATFORM_DEVICE = 0x313F
_PLATFORM_SURFACELESS = 0x31DD
_OPENGL_API = 0x30A2
_DRAW, _READ = 0x3059, 0x305A
_MAX_DEVICES = 64
_CONFIG = (
    *(0x3024, 8, 0x3023, 8, 0x3022, 8, 0x3021, 8),  # red, green, blue, alpha [bits]
    *(0x3025, 24, 0x3026, 8),  # depth, stencil [bits]
    *(0x3033, 0x0001),  # surfaces: pixel buffers
    *(0x3040, 0x0008),  # draws: desktop GL
    0x3038,  # end of the list
)

_SOFTWARE = ("llvmpipe", "softpipe", "swrast", "swiftshader", "software")


class _Library:
    """libEGL and one initialised display of it, for the whole process.

    The display is never terminated: other code in the process that uses the same device shares it.
    """

    def __init__(self) -> None:
        # Local, so that MuJoCo does not find it before libOSMesa where EGL has no driver and OSMesa follows.
        lib = load("egl", ("libEGL.so.1", "libEGL.so"), PACKAGE, ctypes.RTLD_LOCAL)
        self.get_proc_address = _function(lib.eglGetProcAddress, c_void_p, c_char_p)
        self.initialize = _function(lib.eglInitialize, c_uint, c_void_p, c_void_p, c_void_p)
        self.choose_config = _function(
            lib.eglChooseConfig, c_uint, c_void_p, POINTER(c_int), POINTER(c_void_p), c_int, POINTER(c_int)
        )
        self.bind_api = _function(lib.eglBindAPI, c_uint, c_uint)
        self.create_context = _function(lib.eglCreateContext, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p)
        self.destroy_context = _function(lib.eglDestroyContext, c_uint, c_void_p, c_void_p)
        self.make_current = _function(lib.eglMakeCurrent, c_uint, c_void_p, c_void_p, c_void_p, c_void_p)
        self.current_context = _function(lib.eglGetCurrentContext, c_void_p)
        self.current_display = _function(lib.eglGetCurrentDisplay, c_void_p)
        self.current_surface = _function(lib.eglGetCurrentSurface, c_void_p, c_int)
        self.error = _function(lib.eglGetError, c_int)
        self.display, self.config = self._open()

    def _open(self) -> tuple[int, c_void_p]:
        for display in self._displays():
            config, count = c_void_p(), c_int()
            if (
                display
                and self.initialize(display, None, None)
                and self.choose_config(display, (c_int * len(_CONFIG))(*_CONFIG), byref(config), 1, byref(count))
                and count.value
            ):
                return display, config
        raise BackendError("egl", "libEGL has no driver that draws without a display", "libegl-mesa0")

    def _displays(self) -> list[int | None]:
        """Displays to try in turn: the devices, then what Mesa has without any."""
        query = self.get_proc_address(b"eglQueryDevicesEXT")
        platform = self.get_proc_address(b"eglGetPlatformDisplayEXT")
        if not platform:
            return []
        get_display = ctypes.CFUNCTYPE(c_void_p, c_uint, c_void_p, c_void_p)(platform)
        devices: list[int | None] = []
        if query:
            found, count = (c_void_p * _MAX_DEVICES)(), c_int()
            query_devices = ctypes.CFUNCTYPE(c_uint, c_int, c_void_p, POINTER(c_int))(query)
            if query_devices(_MAX_DEVICES, found, byref(count)):
                devices = list(found[: count.value])
        chosen = os.environ.get("MUJOCO_EGL_DEVICE_ID")
        if chosen is not None:
            if not chosen.isdecimal() or int(chosen) >= len(devices):
                have = f"libEGL has the devices 0 to {len(devices) - 1}" if devices else "libEGL has no device"
                raise BackendError("egl", f"MUJOCO_EGL_DEVICE_ID is {chosen!r} and {have}")
            return [get_display(_PLATFORM_DEVICE, devices[int(chosen)], None)]
        displays = [get_display(_PLATFORM_DEVICE, device, None) for device in devices]
        return [*displays, get_display(_PLATFORM_SURFACELESS, None, None)]


def _function(pointer: ctypes._NamedFuncPointer, result: object, *arguments: object) -> ctypes._NamedFuncPointer:
    pointer.restype = result  # type: ignore[assignment]
    pointer.argtypes = arguments  # type: ignore[assignment]
    return pointer


_library: _Library | None = None


class EGLContext(GLContext):
    """A context without a surface: what is drawn goes to MuJoCo's offscreen buffer.

    Raises:
        BackendError: libEGL is not there, has no driver, or MuJoCo would not find it.
    """

    def __init__(self) -> None:
        global _library
        if _library is None:
            _library = _Library()
        self._egl = _library
        check_mujoco_finds("egl")
        self._egl.bind_api(_OPENGL_API)
        self._context = self._egl.create_context(self._egl.display, self._egl.config, None, None)
        if not self._context:
            raise BackendError("egl", f"no context can be made (EGL error 0x{self._egl.error():x})", "libegl-mesa0")
        with self.current():
            about = describe(self._egl.get_proc_address)
        if about is None:
            self.free()
            raise BackendError("egl", "the context has no functions of desktop GL", "libgl1")
        name, self.max_side = about
        self.is_software = any(word in name.lower() for word in _SOFTWARE)

    def _enter(self) -> object:
        egl = self._egl
        # A thread starts with the API of GLES, and eglReleaseThread of other code goes back to it.
        egl.bind_api(_OPENGL_API)
        before = egl.current_context()
        if before == self._context:
            return None
        previous = None
        if before:
            previous = (egl.current_display(), egl.current_surface(_DRAW), egl.current_surface(_READ), before)
        if not egl.make_current(egl.display, None, None, self._context):
            raise RenderError(f"the GL context cannot be used any more (EGL error 0x{egl.error():x})")
        return previous

    def _leave(self, previous: object) -> None:
        if isinstance(previous, tuple):
            self._egl.make_current(*previous)

    def free(self) -> None:
        """Gives the context back; it is not current any more."""
        if not self._context:
            return
        egl = self._egl
        egl.bind_api(_OPENGL_API)
        if egl.current_context() == self._context:
            egl.make_current(egl.display, None, None, None)
        egl.destroy_context(egl.display, self._context)
        self._context = None
