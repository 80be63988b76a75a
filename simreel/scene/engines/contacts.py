"""The contacts of a state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["read_contacts"]


def read_contacts(model: mujoco.MjModel, data: mujoco.MjData) -> Mapping[str, np.ndarray[Any, Any]]:
    """The contacts of data that are up to date, as fields of a trajectory.

    Returns:
        By name: geoms (n, 2) int32, -1 where it is none; position (n, 3) float64 [m]; axes (n, 9), the normal first;
        force and torque along these axes (n, 6) [N, N m].
    """
    contact = data.contact
    forces = np.zeros((data.ncon, 6))
    for i, force in enumerate(forces):
        mujoco.mj_contactForce(model, data, i, force)
    return {
        "contact/geom": np.array(contact.geom, np.int32).reshape(-1, 2),
        "contact/pos": np.array(contact.pos).reshape(-1, 3),
        "contact/frame": np.array(contact.frame).reshape(-1, 9),
        "contact/force": forces,
    }
