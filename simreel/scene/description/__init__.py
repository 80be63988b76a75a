"""A scene in a file: its entities, names and cameras, the files of its models, and the compiled model."""

from simreel.scene.description.describe import Description, describe_scene
from simreel.scene.description.differences import differences
from simreel.scene.description.digest import digest
from simreel.scene.description.rebuild import load_scene, model_from, scene_from

__all__ = ["Description", "describe_scene", "differences", "digest", "load_scene", "model_from", "scene_from"]
