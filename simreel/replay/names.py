"""The names in a recorded scene, read without building it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simreel.errors import SceneFileError
from simreel.scene.description.document import read_record

if TYPE_CHECKING:
    from simreel.reel import Reel

__all__ = ["names_in"]


def names_in(reel: Reel) -> dict[str, list[str]]:
    """Names of the entities and cameras that were added; none where the file holds no scene.

    Raises:
        DamagedFileError: the scene in it is damaged.
    """
    try:
        record = read_record(reel.blobs)
    except SceneFileError:
        return {"entities": [], "cameras": []}
    return {
        "entities": [entity.name for entity in record.entities],
        "cameras": [camera.name for camera in record.cameras],
    }
