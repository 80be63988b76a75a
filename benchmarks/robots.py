"""The models that are measured."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import mujoco

import simreel as sr
from simreel.scene.messages import collected_messages

__all__ = ["load", "robots"]


def robots(*names: str) -> dict[str, Path]:
    """The files of our models and, where Gymnasium is installed, of its humanoid and ant."""
    gymnasium = importlib.util.find_spec("gymnasium")
    models = {name: sr.models.path(name) for name in sr.models.names()}
    if gymnasium is not None and gymnasium.origin is not None:
        assets = Path(gymnasium.origin).parent / "envs/mujoco/assets"
        models |= {name: assets / f"{name}.xml" for name in ("humanoid", "ant")}
    return {name: models[name] for name in names if name in models}


def load(path: Path) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """The model and its data, without what MuJoCo says of the file."""
    with collected_messages():
        model = mujoco.MjModel.from_xml_path(str(path))
    return model, mujoco.MjData(model)
