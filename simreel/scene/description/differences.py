"""What differs between a recorded scene and one that is to be put into its states, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco

from simreel.errors import SimreelError
from simreel.scene.description.comparing import element_names, model_differences, name_differences
from simreel.scene.description.describe import engine_name
from simreel.scene.description.digest import digest
from simreel.scene.description.document import SceneRecord, read_record
from simreel.scene.description.rebuild import recorded_model
from simreel.scene.engines.model_engine import ModelEngine

if TYPE_CHECKING:
    from simreel.scene.description.payloads import Described
    from simreel.scene.scene import Scene

__all__ = ["differences"]


def differences(recorded: Described, scene: Scene) -> list[str]:
    """What differs between a recorded scene and one that is built; empty where frames of the one fit the other.

    Such as "body_mass of 'torso': 3.2 recorded, 3.5 here". Another version of MuJoCo is told where the models differ.

    Args:
        recorded: an open reel, or what `describe_scene` gave.
        scene: a scene that is built.
    """
    meta, engine = recorded.meta, scene.engine
    record = read_record(recorded.blobs)
    found = []
    if record.n_envs != scene.n_envs:
        found.append(f"n_envs: {record.n_envs} recorded, {scene.n_envs} here")
    if record.dt != scene.dt:
        found.append(f"dt: {record.dt:g} s recorded, {scene.dt:g} s here")
    if record.engine != (mine := engine_name(engine)):
        return [*found, f"engine: {record.engine} recorded, {mine} here"]
    if not isinstance(engine, ModelEngine) or meta.get("digest") == digest(engine.model):
        return found
    if meta.get("engine_version") != mujoco.__version__:
        found.append(f"MuJoCo: version {meta.get('engine_version')} recorded, {mujoco.__version__} here")
    return found + _of_models(recorded, record, engine.model)


def _of_models(recorded: Described, record: SceneRecord, here: mujoco.MjModel) -> list[str]:
    try:
        # What cannot be rebuilt exactly can be compared all the same.
        model, _ = recorded_model(recorded.meta, recorded.blobs, record, quiet=True)
    except SimreelError:
        lines = []
        for kind, names in record.names.items():
            lines += name_differences(kind, names, element_names(here, kind))
        return [*lines, "the models: the recorded one cannot be loaded to compare its parameters"]
    return model_differences(model, here) or ["the models: in what has no name"]
