"""A file of a scene alone: a reel without frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simreel.reel import Field, Layout, Reel, ReelWriter
from simreel.reel.arguments import file_path
from simreel.reel.replacing import replacing
from simreel.scene.description.describe import describe_scene
from simreel.scene.description.rebuild import load_scene

if TYPE_CHECKING:
    import os

    from simreel.scene.scene import Scene

__all__ = ["export_scene", "open_scene"]

_VERSION = 1


def export_scene(scene: Scene, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """As `Scene.export`."""
    meta, blobs = describe_scene(scene)
    head = {"kind": "scene", "version": _VERSION, **meta}
    # A layout has a field, also where no frame comes.
    layout = Layout((Field("step", np.dtype(np.int64), 1, kind="info"),))
    with replacing(file_path("path", path), overwrite=overwrite) as new:
        ReelWriter(new, layout, dt=scene.dt, blobs=blobs, meta=head).close()


def open_scene(path: str | os.PathLike[str]) -> Scene:
    """As `Scene.load`."""
    with Reel.open(path) as reel:
        return load_scene(reel)
