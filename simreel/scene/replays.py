"""What of a scene reads recorded runs and saves single states."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simreel.options.viewer import ViewerOptions
    from simreel.replay import Trajectory
    from simreel.scene.scene import Scene

__all__ = ["Replays"]


class Replays:
    """The calls of a scene that the room `replay` carries out, which stands above this one."""

    @staticmethod
    def load_trajectory(
        path: str | os.PathLike[str],
        scene: Scene | None = None,
        *,
        show_viewer: bool = False,
        viewer_options: ViewerOptions | None = None,
    ) -> Trajectory:
        """Opens a recorded run.

        Args:
            path: of the file; `~` is your folder.
            scene: to put its frames into; it is built if it was not yet. None: one that is made of what the file holds,
                when it is first needed.
            show_viewer: shows MuJoCo's viewer, where there is a display.
            viewer_options: how it does.

        Raises:
            MissingFileError: there is no such file.
            ReadError: the system does not give it.
            DamagedFileError: it is no reel, or nothing of it can be read.
            FileVersionError: it needs another release of simreel.
            NotATrajectoryError: it is a reel of something else.
            SceneDiffersError: `scene` is not the one that was recorded.
            FieldError: `path` or `scene` is none.
        """
        from simreel.replay import Trajectory

        return Trajectory(path, scene, show_viewer=show_viewer, viewer_options=viewer_options)

    def save_checkpoint(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Saves the state that stands, with all that is needed to go on from it: a trajectory of one frame.

        Args:
            path: of the file, a name with `.reel`; `~` is your folder, and folders are made.
            overwrite: whether a file of that name may be there. It is replaced when the new one is whole.

        Raises:
            SceneStateError: the scene is not built.
            OptionsError: the name does not end in `.reel`.
            FieldError: state of the user's own cannot be stored.
            TargetExistsError: the file is there and `overwrite` is not set.
            TargetError: the file cannot be made.
            WriteError: the disk is full.
        """
        from simreel.replay.checkpoint import save_checkpoint

        save_checkpoint(self, path, overwrite=overwrite)  # type: ignore[arg-type] # the mixin is of Scene alone

    @staticmethod
    def load_checkpoint(path: str | os.PathLike[str], scene: Scene | None = None) -> Scene:
        """A built scene that stands where the saved one stood, its clock too.

        State of the user's own comes back with `add_state`: that of `scene` at once, that of a new scene when it is
        added.

        Args:
            path: of the file; of a trajectory its last frame counts.
            scene: to put the state into; None: one that is made of what the file holds.

        Raises:
            MissingFileError: there is no such file.
            DamagedFileError: it is no reel, or nothing of it can be read.
            FileVersionError: it needs another release of simreel.
            NotATrajectoryError: it is a reel of something else.
            SceneDiffersError: `scene` is not the one that was saved.
            SceneFileError: the file holds no scene that can be built.
            FrameIndexError: the file has no frame.
            FieldError: `path` or `scene` is none.
        """
        from simreel.replay.checkpoint import load_checkpoint

        return load_checkpoint(path, scene)
