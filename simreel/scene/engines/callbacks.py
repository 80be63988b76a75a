"""The callbacks in Python that somebody may have set in MuJoCo, for all models of the process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import mujoco

__all__ = ["empty_model", "has_callbacks", "without_callbacks"]

_NAMES = [name.removeprefix("get_") for name in dir(mujoco) if name.startswith("get_mjcb_")]


def has_callbacks() -> bool:
    """Whether one is set."""
    return any(getattr(mujoco, f"get_{name}")() is not None for name in _NAMES)


@contextmanager
def without_callbacks() -> Iterator[None]:
    """Lifts them: they need not fit a model that is not their user's, such as the one that `mujoco.batch` compiles."""
    held = {name: getattr(mujoco, f"get_{name}")() for name in _NAMES}
    try:
        for name in _NAMES:
            getattr(mujoco, f"set_{name}")(None)
        yield
    finally:
        for name, callback in held.items():
            getattr(mujoco, f"set_{name}")(callback)


def empty_model() -> mujoco.MjModel:
    """A model of nothing, to ask what a model has."""
    with without_callbacks():
        return mujoco.MjModel.from_xml_string("<mujoco/>")
