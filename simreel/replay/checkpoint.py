"""Single states in files: a trajectory of one frame with all that there is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from simreel.errors import SceneStateError
from simreel.options.trajectory import TrajectoryFile
from simreel.recorders.trajectory_channels import ChannelFields
from simreel.reel import Field, Layout, ReelWriter
from simreel.reel.arguments import file_path
from simreel.reel.replacing import replacing
from simreel.replay.trajectory import Trajectory
from simreel.replay.user_state import keep_user_state
from simreel.scene.source import SceneSource

if TYPE_CHECKING:
    from simreel.scene import Scene

__all__ = ["load_checkpoint", "save_checkpoint"]


def save_checkpoint(scene: Scene, path: str | os.PathLike[str], *, overwrite: bool) -> None:
    """As `Scene.save_checkpoint` says.

    Args:
        scene: that is built.
        path: of the file.
        overwrite: whether a file of that name may be there.

    Raises:
        SceneStateError: the scene is not built, or unstable.
        OptionsError: the name does not end in `.reel`.
        FieldError: state of the user's own cannot be stored.
        SimreelError: the file cannot be written.
    """
    engine = scene._built_engine("scene.save_checkpoint()")
    clock = scene._clock
    if clock.unstable:
        raise SceneStateError("scene.save_checkpoint()", "the state is of no use: call scene.reset() first")
    target = file_path("path", TrajectoryFile(filename=path).filename)
    source = SceneSource(scene)
    listed = source.channels()
    channels = ChannelFields(listed) if listed else None
    state, worlds = source.layout(True), max(1, scene.n_envs)
    counts = [Field(name, np.dtype("i8"), worlds, kind="info") for name in ("step", "episode")]
    layout = Layout((*state.fields, *counts, *(channels.fields if channels else ())), state.joints)
    described, blobs = source.describe("both")
    meta = {
        "kind": "checkpoint",
        "version": 1,
        "exact": True,
        "n_envs": scene.n_envs,
        "stride": 1,
        "channels": channels.meta if channels else [],
        **described,
    }
    packed = channels.read() if channels else b""
    values, arrays = source.user_state()
    with (
        replacing(target, overwrite=overwrite) as new,
        ReelWriter(new, layout, dt=scene.dt, meta=meta, blobs=blobs, chunk_size=1) as reel,
    ):
        engine.read_state(reel.next_part(state.fields[0].name, state.fields[-1].name))
        row = reel.next_row()
        row["step"] = scene.step_count
        row["episode"] = clock.worlds.episode if scene.n_envs else clock.resets
        if channels:
            channels.write(packed, reel)
        if values or arrays:
            reel.note({"type": "state", "values": values}, arrays=arrays)
        reel.commit()


def load_checkpoint(path: str | os.PathLike[str], scene: Scene | None) -> Scene:
    """As `Scene.load_checkpoint` says.

    Args:
        path: of the file.
        scene: to put the state into; None: one that is made of what the file holds.

    Raises:
        SimreelError: the file cannot be read, or `scene` is not the one that was saved.
    """
    with Trajectory(path, scene) as trajectory:
        trajectory.seek(-1)
        if scene is None:
            keep_user_state(trajectory.scene, trajectory._notes, len(trajectory) - 1)
        return trajectory.scene
