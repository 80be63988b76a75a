"""Tells which data functions plainly read state and inputs, and so need nothing that a step derives from them."""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterable
from types import FunctionType, MethodType
from typing import Any

__all__ = ["reads_state"]

# What a step leaves as it is until its end: of `mujoco.MjData`, of a scene, of an entity, of an array.
_NAMES = frozenset({
    "qpos", "qvel", "act", "ctrl", "time", "mocap_pos", "mocap_quat", "qfrc_applied", "xfrc_applied", "eq_active",
    "userdata", "data", "get_qpos", "get_qvel", "get_ctrl", "copy",
})  # fmt: skip
# Instructions that load, call, index and return; of all Pythons that we run on. None that stores.
_INSTRUCTIONS = frozenset({
    "RESUME", "COPY_FREE_VARS", "PUSH_NULL", "PRECALL", "CALL", "NOP", "NOT_TAKEN", "LOAD_DEREF", "LOAD_GLOBAL",
    "LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_ATTR", "LOAD_METHOD", "LOAD_CONST", "LOAD_SMALL_INT", "BUILD_MAP",
    "BUILD_CONST_KEY_MAP", "BUILD_TUPLE", "BUILD_LIST", "BUILD_SLICE", "BINARY_SUBSCR", "BINARY_SLICE", "RETURN_VALUE",
    "RETURN_CONST",
})  # fmt: skip


def reads_state(func: Callable[[], Any], owners: Iterable[object]) -> bool:
    """Whether a data function does nothing but read state and inputs of `owners`, such as `lambda: data.qpos`.

    A function has its objects by names. One that loads nothing but owners, and of them nothing but names of state and
    inputs, reaches nothing else. Any other function, one that calls numpy among them, counts as reading all there is.
    """
    known = {id(owner) for owner in owners}
    if isinstance(func, MethodType):
        return id(func.__self__) in known and func.__name__ in _NAMES
    if not isinstance(func, FunctionType):
        return False
    code = func.__code__
    values = dict(zip(code.co_freevars, func.__closure__ or (), strict=True))
    arguments = dict(zip(code.co_varnames, func.__defaults__ or (), strict=False))
    for instruction in dis.get_instructions(code):
        name = instruction.argval
        match instruction.opname:
            case "LOAD_DEREF":
                is_known = id(_content(values[name])) in known
            case "LOAD_GLOBAL":
                is_known = id(func.__globals__.get(name)) in known
            case "LOAD_FAST" | "LOAD_FAST_BORROW":
                is_known = id(arguments.get(name)) in known
            case "LOAD_ATTR" | "LOAD_METHOD":
                is_known = name in _NAMES
            case other:
                is_known = other in _INSTRUCTIONS
        if not is_known:
            return False
    return True


def _content(cell: Any) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet
        return None
