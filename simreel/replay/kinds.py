"""What the parts of a frame are."""

from __future__ import annotations

import enum

__all__ = ["DataKind"]


class DataKind(enum.Flag):
    """Chooses parts of a frame, as in `traj.frame(i, DataKind.STATE | DataKind.INPUT)`."""

    STATE = enum.auto()
    """What the physics carries from step to step: time, positions, velocities, activations."""

    INPUT = enum.auto()
    """What the step from this frame consumes: controls, applied forces, mocap poses, equality flags, user data."""

    WARMSTART = enum.auto()
    """Where the solver starts; without it a step ends a few bits elsewhere."""

    DERIVED = enum.auto()
    """What follows from the others, such as poses and sensors: not in the file, computed by `mj_forward`."""

    INFO = enum.auto()
    """What stands beside the state: the step and episode, channels, contacts, and parameters that changed."""

    CONFIG = enum.auto()
    """The options of the model, `opt.timestep` and so on."""

    CONSTANT = enum.auto()
    """The other arrays of the model."""
