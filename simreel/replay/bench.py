"""A copy of the recorded model where frames are tried out; the scene knows nothing of it."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from simreel.scene.engines.mujoco_engine import MuJoCoEngine

if TYPE_CHECKING:
    from simreel.scene.engines.model_engine import ModelEngine

__all__ = ["copied_engine", "derived_fields"]

# What mj_forward computes of a frame, of what people look at. In the order of mjData.
# fmt: off
_DERIVED = (
    "xpos", "xquat", "xipos", "geom_xpos", "geom_xmat", "site_xpos", "site_xmat", "cam_xpos", "cam_xmat", "subtree_com",
    "flexvert_xpos", "ten_length", "ten_velocity", "actuator_length", "actuator_velocity", "actuator_force", "cvel",
    "qfrc_bias", "qfrc_passive", "qfrc_actuator", "qfrc_constraint", "qacc", "sensordata",
)
# fmt: on


def copied_engine(engine: ModelEngine) -> ModelEngine:
    """An engine of the same kind, worlds and substeps, with a model and data of its own."""
    model = copy.copy(engine.model)
    own = MuJoCoEngine(model, mujoco.MjData(model), engine._substeps)
    made: ModelEngine = own.worlds(engine.n_envs) if engine.n_envs else own
    made.build(engine.n_envs)
    return made


def derived_fields(engine: ModelEngine, row: np.ndarray[Any, Any]) -> dict[str, np.ndarray[Any, Any]]:
    """What `mj_forward` computes of a state, by name of the field of `mujoco.MjData`; with worlds (n_envs, ...).

    Args:
        engine: of a copied model.
        row: the state.
    """
    engine.write_state(row)
    worlds = []
    for env in range(max(1, engine.n_envs)):
        data = engine.picture_data(env)
        worlds.append({name: np.array(getattr(data, name)) for name in _DERIVED if getattr(data, name).size})
    if not engine.n_envs:
        return worlds[0]
    return {name: np.stack([world[name] for world in worlds]) for name in worlds[0]}
