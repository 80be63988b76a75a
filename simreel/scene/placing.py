"""The pose of a morph, and the keyframes of a model file that is placed somewhere else."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

if TYPE_CHECKING:
    from simreel.options.morphs import Morph

__all__ = ["is_identity", "move_keyframes", "unit_quat"]


def unit_quat(morph: Morph) -> tuple[float, float, float, float]:
    """Its orientation (w, x, y, z), of length 1."""
    w, x, y, z = morph.quat
    length = math.hypot(w, x, y, z)
    # Already of length 1 but for rounding: dividing would change its last bits.
    if abs(length - 1) < 1e-15:
        return w, x, y, z
    return w / length, x / length, y / length, z / length


def is_identity(morph: Morph) -> bool:
    """Whether its frame is that of the world."""
    return not any(morph.pos) and abs(unit_quat(morph)[0]) == 1


def move_keyframes(spec: mujoco.MjSpec, morph: Morph) -> None:
    """Moves the free joints and mocap bodies in the keyframes of a spec along with its frame.

    Their numbers are in world axes, so a keyframe would put the entity back to where its file had it.
    """
    model = spec.copy().compile()
    quat = np.array(unit_quat(morph))
    free = np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_FREE)
    mocap = np.flatnonzero(model.body_mocapid >= 0)
    for key in spec.keys:
        # A vector that the file does not give is empty, and filled from the pose that the model is built in.
        qpos, qvel, mpos, mquat = (np.array(list(v)) for v in (key.qpos, key.qvel, key.mpos, key.mquat))
        for joint in free:
            start, speed = model.jnt_qposadr[joint], model.jnt_dofadr[joint]
            if len(qpos):
                qpos[start : start + 3] = _turned(qpos[start : start + 3], quat) + morph.pos
                qpos[start + 3 : start + 7] = _after(quat, qpos[start + 3 : start + 7])
            if len(qvel):
                # The angular part is in the axes of the body, which turn along.
                qvel[speed : speed + 3] = _turned(qvel[speed : speed + 3], quat)
        for number in model.body_mocapid[mocap]:
            if len(mpos):
                mpos[3 * number : 3 * number + 3] = _turned(mpos[3 * number : 3 * number + 3], quat) + morph.pos
            if len(mquat):
                mquat[4 * number : 4 * number + 4] = _after(quat, mquat[4 * number : 4 * number + 4])
        key.qpos, key.qvel, key.mpos, key.mquat = qpos, qvel, mpos, mquat


def _turned(vector: np.ndarray[Any, Any], quat: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    result = np.zeros(3)
    mujoco.mju_rotVecQuat(result, np.ascontiguousarray(vector), quat)
    return result


def _after(first: np.ndarray[Any, Any], second: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    result = np.zeros(4)
    mujoco.mju_mulQuat(result, first, np.ascontiguousarray(second))
    return result
