"""Keyframes by name or number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simreel.errors import UnknownNameError

if TYPE_CHECKING:
    import mujoco

__all__ = ["keyframe_id"]


def keyframe_id(model: mujoco.MjModel, keyframe: int | str) -> int:
    """The number of a keyframe.

    Raises:
        UnknownNameError: the model has no such keyframe.
    """
    names = [model.key(i).name for i in range(model.nkey)]
    if isinstance(keyframe, str) and keyframe in names:
        return names.index(keyframe)
    if not isinstance(keyframe, str) and 0 <= keyframe < len(names):
        return int(keyframe)
    raise UnknownNameError("keyframe", keyframe, [name or str(i) for i, name in enumerate(names)])
