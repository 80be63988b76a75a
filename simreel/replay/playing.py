"""Plays a trajectory at its own pace."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, SupportsIndex

from simreel.errors import FieldError, GapError, SceneStateError
from simreel.reel.arguments import positive
from simreel.replay.pacing import paced

if TYPE_CHECKING:
    from simreel.replay.recording import Recording
    from simreel.replay.stage import Stage

__all__ = ["play"]

_logger = logging.getLogger("simreel")


def play(recording: Recording, stage: Stage, *, loop: bool, speed: float, start: int | None, stop: int | None) -> None:
    """As `Trajectory.play` says.

    Args:
        recording: the trajectory.
        stage: the scene that its frames are put into.
        loop: begin again after the last frame.
        speed: simulated time for wall time.
        start: the first frame.
        stop: the first that is not played.

    Raises:
        SceneStateError: `loop` without a viewer.
        FieldError: `speed` is not above 0, or no frame is left.
    """
    reel, viewer, options = recording.reel, stage.scene._viewer, stage.scene._viewer_options
    speed = positive("speed", speed, "a number above 0")
    if loop and viewer is None:
        raise SceneStateError("traj.play(loop=True)", "there is no viewer to close, and nothing else would end it")
    for name, bound in (("start", start), ("stop", stop)):
        if bound is not None and not isinstance(bound, SupportsIndex):
            raise FieldError(name, f"{bound!r:.100}", "the number of a frame, or None, is needed")
    frames = range(len(reel))[start:stop]
    if not frames:
        raise FieldError("play", f"start={start}, stop={stop}", f"they leave none of {len(reel)} frames")
    interval = reel.dt * recording.stride / speed
    # A viewer shows so many pictures a second; the frames between them would cost time for nothing.
    every = 1 if options is None or viewer is None else max(1, int(1 / (options.fps * interval)))
    shown = [*frames[::every], *([] if (len(frames) - 1) % every == 0 else frames[-1:])]
    gap: tuple[int, int] | None = None
    for turn in paced(len(shown), interval * every, loop=loop, is_open=viewer.is_open if viewer else _for_ever):
        try:
            stage.seek(shown[turn])
        except GapError as error:
            if error.gap != gap:
                gap = error.gap
                _logger.info("%s: frames %d to %d are lost and left out", reel.path, gap[0], gap[1] - 1)
            continue
        if viewer is not None:
            viewer.sync()


def _for_ever() -> bool:
    return True
