"""GL contexts of OSMesa: the processor draws into plain memory, no driver is needed."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_char_p, c_int, c_ubyte, c_uint, c_void_p

from simreel.render.errors import BackendError, RenderError
from simreel.render.gl.context import GLContext
from simreel.render.gl.loading import check_mujoco_finds, describe, load

__all__ = ["PACKAGE", "OSMesaContext"]

PACKAGE = "libosmesa6"

# From GL/osmesa.h and GL/gl.h.
_RGBA = 0x1908
_UNSIGNED_BYTE = 0x1401
_DEPTH_BITS, _STENCIL_BITS, _ACCUM_BITS = 24, 8, 0
_TYPE = 0x23  # of the numbers in the current buffer, for OSMesaGetIntegerv

# The context's own buffer. MuJoCo draws into an offscreen buffer of the right size, so the smallest will do.
_SIDE = 1


class _Library:
    """libOSMesa, for the whole process."""

    def __init__(self) -> None:
        # Global: the only way in which MuJoCo finds it once any libEGL or libGL is in the process.
        lib = load("osmesa", ("libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so"), PACKAGE, ctypes.RTLD_GLOBAL)
        self.create = lib.OSMesaCreateContextExt
        self.create.restype, self.create.argtypes = c_void_p, (c_uint, c_int, c_int, c_int, c_void_p)
        self.destroy = lib.OSMesaDestroyContext
        self.destroy.restype, self.destroy.argtypes = None, (c_void_p,)
        self.make_current = lib.OSMesaMakeCurrent
        self.make_current.restype, self.make_current.argtypes = c_ubyte, (c_void_p, c_void_p, c_uint, c_int, c_int)
        self.current_context = lib.OSMesaGetCurrentContext
        self.current_context.restype, self.current_context.argtypes = c_void_p, ()
        self.color_buffer = lib.OSMesaGetColorBuffer
        self.color_buffer.restype = c_ubyte
        self.color_buffer.argtypes = (c_void_p, POINTER(c_int), POINTER(c_int), POINTER(c_int), POINTER(c_void_p))
        self.get_integer = lib.OSMesaGetIntegerv
        self.get_integer.restype, self.get_integer.argtypes = None, (c_int, POINTER(c_int))
        self.get_proc_address = lib.OSMesaGetProcAddress
        self.get_proc_address.restype, self.get_proc_address.argtypes = c_void_p, (c_char_p,)


_library: _Library | None = None


class OSMesaContext(GLContext):
    """A context that draws in memory.

    Raises:
        BackendError: libOSMesa is not there, or MuJoCo would not find it.
    """

    is_software = True

    def __init__(self) -> None:
        global _library
        if _library is None:
            _library = _Library()
        self._mesa = _library
        check_mujoco_finds("osmesa")
        self._buffer = (c_ubyte * (4 * _SIDE * _SIDE))()
        self._context = self._mesa.create(_RGBA, _DEPTH_BITS, _STENCIL_BITS, _ACCUM_BITS, None)
        if not self._context:
            raise BackendError("osmesa", "no context can be made")
        with self.current():
            about = describe(self._mesa.get_proc_address)
        if about is None:
            self.free()
            raise BackendError("osmesa", "the context has no functions of GL", PACKAGE)
        self.max_side = about[1]

    def _enter(self) -> object:
        before = self._mesa.current_context()
        if before == self._context:
            return None
        previous = None
        if before:
            width, height, layout, memory, kind = c_int(), c_int(), c_int(), c_void_p(), c_int()
            self._mesa.get_integer(_TYPE, byref(kind))
            if self._mesa.color_buffer(before, byref(width), byref(height), byref(layout), byref(memory)):
                previous = (before, memory, kind.value, width.value, height.value)
        if not self._mesa.make_current(self._context, self._buffer, _UNSIGNED_BYTE, _SIDE, _SIDE):
            raise RenderError("the GL context cannot be used any more")
        return previous

    def _leave(self, previous: object) -> None:
        if isinstance(previous, tuple):
            self._mesa.make_current(*previous)

    def free(self) -> None:
        """Gives the context back; it is not current any more."""
        if not self._context:
            return
        if self._mesa.current_context() == self._context:
            self._mesa.make_current(None, None, _UNSIGNED_BYTE, 0, 0)
        self._mesa.destroy(self._context)
        self._context = None
