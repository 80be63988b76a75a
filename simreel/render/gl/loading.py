"""Loads a GL library so that MuJoCo finds its functions, and checks that it will before MuJoCo tries.

MuJoCo looks for GL once per process, when the first `MjrContext` is made: the environment variable MUJOCO_GL names
eglGetProcAddress, OSMesaGetProcAddress or glXGetProcAddressARB; where that is no global symbol, the first of the three
that is one; where none is, the first of the libraries libGLX, libGL, libEGL, libOSMesa that the process has loaded
locally. With the functions of the wrong library it ends in an error or in a crash.
"""

from __future__ import annotations

import ctypes
import os
import sys
from typing import TYPE_CHECKING

from simreel.render.errors import BackendError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["GET_PROC_ADDRESS", "check_mujoco_finds", "describe", "load"]

GET_PROC_ADDRESS = {"egl": "eglGetProcAddress", "osmesa": "OSMesaGetProcAddress", "glx": "glXGetProcAddressARB"}
"""The function that each platform gives the others by."""

# What the value of MUJOCO_GL makes MuJoCo look for first.
_FIRST = {"egl": "egl", "osmesa": "osmesa", "glfw": "glx", "glx": "glx"}

# From GL/gl.h: the name of the driver, and the largest side of a buffer.
_GL_RENDERER = 0x1F01
_GL_MAX_RENDERBUFFER_SIZE = 0x84E8


def load(backend: str, names: tuple[str, ...], package: str, mode: int) -> ctypes.CDLL:
    """The first of the libraries that can be loaded.

    Raises:
        BackendError: none can.
    """
    if not sys.platform.startswith("linux"):
        raise BackendError(backend, "GL without a window is made on Linux only")
    reasons = []
    for name in names:
        try:
            return ctypes.CDLL(name, mode=mode | os.RTLD_NOW)
        except OSError as error:
            reasons.append(str(error))
    raise BackendError(backend, reasons[0], package)


def check_mujoco_finds(backend: str) -> None:
    """Refuses a backend whose functions are not those that MuJoCo will find, or has found.

    Raises:
        BackendError: another GL library stands before it.
    """
    other = "osmesa" if backend == "egl" else "egl"
    # Its contexts make MuJoCo look for GL; whether one was made yet cannot be seen from here.
    if f"mujoco.{other}" in sys.modules:
        raise BackendError(backend, f"this process has imported mujoco.{other}, and MuJoCo uses one GL library only")
    process = ctypes.CDLL(None)
    first = _FIRST.get(os.environ.get("MUJOCO_GL", ""))
    order = [first] if first else []
    order += [platform for platform in ("egl", "osmesa", "glx") if platform != first]
    found = next((platform for platform in order if hasattr(process, GET_PROC_ADDRESS[platform])), None)
    # The functions of GLX are those of EGL: libglvnd asks which of the two the current context belongs to.
    fits = {"egl": (None, "egl", "glx"), "osmesa": ("osmesa",)}[backend]
    if found not in fits:
        raise BackendError(backend, f"MuJoCo would take the functions of {found}, which this process loaded first")


def describe(get_proc_address: Callable[[bytes], int | None]) -> tuple[str, int] | None:
    """The driver of the current context: what it calls itself, and the largest side of a picture [pixels].

    Args:
        get_proc_address: the library's own.

    Returns:
        None where the library has no functions for this context.
    """
    get_string, get_integer = (get_proc_address(name) for name in (b"glGetString", b"glGetIntegerv"))
    if not get_string or not get_integer:
        return None
    name = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_uint)(get_string)(_GL_RENDERER)
    side = ctypes.c_int()
    ctypes.CFUNCTYPE(None, ctypes.c_uint, ctypes.c_void_p)(get_integer)(_GL_MAX_RENDERBUFFER_SIZE, ctypes.byref(side))
    return None if name is None else (str(name, "utf-8", "replace"), side.value)
