"""What of a scene writes it to a file and makes it from one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simreel.scene.scene import Scene

__all__ = ["SceneFiles"]


class SceneFiles:
    """The calls of a scene that keep it without its states."""

    def export(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Saves the scene without states: entities with the files of their models, options, cameras, compiled model.

        It may be built or not. The file is a reel without frames, and holds no path of this machine.

        Args:
            path: of the file; `~` is your folder, and folders are made.
            overwrite: whether a file of that name may be there. It is replaced when the new one is whole.

        Raises:
            ModelError: the entities do not compile together.
            TargetExistsError: the file is there and `overwrite` is not set.
            TargetError: the file cannot be made.
            WriteError: the disk is full.
            FieldError: `path` is none.
        """
        from simreel.scene.description.export import export_scene

        export_scene(self, path, overwrite=overwrite)  # type: ignore[arg-type] # the mixin is of Scene alone

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Scene:
        """The scene that `export` saved, or that a trajectory holds: not built, so that more can be added.

        Nothing outside of the file is read. Where the model was compiled by the user or edited after that, it is the
        model that comes back, to which no entities can be added.

        Args:
            path: of the file.

        Raises:
            MissingFileError: there is no such file.
            DamagedFileError: it is no reel, or damaged where the scene is.
            FileVersionError: it needs another release of simreel.
            SceneFileError: it holds no scene that can be built.
            FieldError: `path` is none.
        """
        from simreel.scene.description.export import open_scene

        return open_scene(path)
