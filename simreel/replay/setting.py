"""Finds the scene of a trajectory: the user's, or one that is made of what the file holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simreel.errors import SceneDiffersError
from simreel.options.viewer import ViewerOptions
from simreel.replay.stage import Stage
from simreel.scene.description import differences, scene_from

if TYPE_CHECKING:
    from simreel.replay.notes import Notes
    from simreel.replay.parameters import Parameters
    from simreel.replay.recording import Recording
    from simreel.scene import Scene

__all__ = ["set_up"]


def set_up(
    recording: Recording,
    notes: Notes,
    parameters: Parameters,
    scene: Scene | None,
    show_viewer: bool,
    viewer_options: ViewerOptions | None,
) -> Stage:
    """The scene that the frames of a trajectory are put into.

    Args:
        recording: the trajectory.
        notes: of it.
        parameters: that changed in it.
        scene: the user's; it is built if it was not yet. None: one of what the file holds.
        show_viewer: shows MuJoCo's viewer.
        viewer_options: how it does.

    Raises:
        SceneDiffersError: `scene` is not the one that was recorded.
        SceneFileError: the file holds no scene that can be built.
        ModelError: its model cannot be built.
    """
    reel = recording.reel
    if scene is None:
        scene = scene_from(reel, show_viewer=show_viewer, viewer_options=viewer_options)
        return Stage(recording, notes, parameters, scene)
    if not scene.is_built:
        scene.build(recording.n_envs)
    if found := differences(reel, scene):
        raise SceneDiffersError(reel.path, found)
    if show_viewer and scene._viewer is None:
        scene._viewer_options = viewer_options or ViewerOptions()
        scene._show()
    return Stage(recording, notes, parameters, scene)
