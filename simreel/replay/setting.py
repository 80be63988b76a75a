"""Finds the scene of a trajectory: the user's, or one that is made of what the file holds."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from simreel.errors import ModelError, SceneDiffersError, SceneFileError
from simreel.options.viewer import ViewerOptions
from simreel.replay.stage import Stage
from simreel.scene.description import differences, scene_from

if TYPE_CHECKING:
    from simreel.reel import Reel
    from simreel.replay.notes import Notes
    from simreel.replay.parameters import Parameters
    from simreel.replay.recording import Recording
    from simreel.scene import Scene

__all__ = ["set_up"]

_logger = logging.getLogger("simreel")


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
    """
    reel = recording.reel
    if show_viewer and recording.n_envs:
        _logger.info("no viewer: it shows one world, and %s has %d of them side by side", reel.path, recording.n_envs)
    if scene is None:
        with _named(reel):
            scene = scene_from(reel, show_viewer=show_viewer, viewer_options=viewer_options)
        return Stage(recording, notes, parameters, scene)
    if not scene.is_built:
        scene.build(recording.n_envs)
    with _named(reel):
        found = differences(reel, scene)
    if found:
        raise SceneDiffersError(reel.path, found)
    if show_viewer and scene._viewer is None:
        scene._viewer_options = viewer_options or ViewerOptions()
        scene._show()
    return Stage(recording, notes, parameters, scene)


@contextmanager
def _named(reel: Reel) -> Iterator[None]:
    """Names the file in errors about the scene in it."""
    try:
        yield
    except SceneFileError as error:
        raise SceneFileError(f"{reel.path}: {error.part}", error.reason) from error
    except ModelError as error:
        raise SceneFileError(f"{reel.path}: {error.source}", error.reason) from error
