"""Finds the scene of a trajectory: the user's, or one that is made of what the file holds."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from simreel.errors import ModelError, SceneDiffersError, SceneFileError, SimreelError
from simreel.options.viewer import ViewerOptions
from simreel.replay.stage import Stage
from simreel.scene.description import differences, scene_from
from simreel.scene.description.document import read_record
from simreel.scene.description.rebuild import recorded_model
from simreel.scene.engines.model_engine import ModelEngine

if TYPE_CHECKING:
    from simreel.reel import Reel
    from simreel.replay.notes import Notes
    from simreel.replay.parameters import Parameters
    from simreel.replay.recording import Recording
    from simreel.scene import Scene

__all__ = ["set_up"]

Array = np.ndarray[Any, Any]

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
    recorded = None
    with _named(reel):
        found = differences(reel, scene)
        if found and (recorded := _edited_since(reel, parameters, scene)) is not None:
            found = _differences_with(reel, parameters, scene, recorded)
    if found:
        raise SceneDiffersError(reel.path, found)
    if show_viewer and scene._viewer is None:
        scene._viewer_options = viewer_options or ViewerOptions()
        scene._show()
    return Stage(recording, notes, parameters, scene, recorded)


def _edited_since(reel: Reel, parameters: Parameters, scene: Scene) -> dict[str, Array] | None:
    """The recorded parameters of a scene that stands at a later frame, whose parameters are others; None of another."""
    engine = scene.engine
    if not isinstance(engine, ModelEngine) or not parameters.names:
        return None
    try:
        model, _ = recorded_model(reel.meta, reel.blobs, read_record(reel.blobs), quiet=True)
        recorded, here = parameters.recorded(model), parameters.recorded(engine.model)
    except SimreelError:
        return None
    for name, value in here.items():
        before = recorded[name]
        is_same = before.shape == value.shape and before.tobytes() == value.tobytes()
        if not is_same and not parameters.has(name, value):
            return None
    return recorded


def _differences_with(reel: Reel, parameters: Parameters, scene: Scene, recorded: dict[str, Array]) -> list[str]:
    """What differs but for the parameters that the file changes."""
    engine = scene.engine
    assert isinstance(engine, ModelEngine)
    here = parameters.recorded(engine.model)
    parameters.put(engine.model, recorded)
    try:
        return differences(reel, scene)
    finally:
        parameters.put(engine.model, here)


@contextmanager
def _named(reel: Reel) -> Iterator[None]:
    """Names the file in errors about the scene in it."""
    try:
        yield
    except SceneFileError as error:
        raise SceneFileError(f"{reel.path}: {error.part}", error.reason) from error
    except ModelError as error:
        raise SceneFileError(f"{reel.path}: {error.source}", error.reason) from error
