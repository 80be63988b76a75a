"""What a trajectory holds beside its frames: changes of parameters, ends of episodes, breaks, the user's own state."""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING, Any

from simreel.errors import SimreelWarning

if TYPE_CHECKING:
    import numpy as np

    from simreel.recorders.source import StateSource
    from simreel.recorders.worlds import WorldIds
    from simreel.reel import ReelWriter

__all__ = ["SideRecords"]

logger = logging.getLogger("simreel")


class SideRecords:
    """Writes the side records of one reel.

    Args:
        reel: that is written.
        source: the scene.
        label: how messages name the recorder.
    """

    def __init__(self, reel: ReelWriter, source: StateSource, label: str) -> None:
        self._reel = reel
        self._source = source
        self._label = label
        self._watch = source.watch()
        self._known = 0
        """The last frame whose parameters are known."""
        self._has_warned = False

    def look(self, frame: int, *, is_taken_now: bool) -> None:
        """Records the parameters that have changed since the last look.

        Args:
            frame: the first that has them for sure.
            is_taken_now: whether it is taken at this moment; else somebody may change them again before it is.
        """
        changed = self._watch.changes() if self._watch is not None else {}
        known, self._known = self._known, frame if is_taken_now else frame - 1
        if not changed:
            return
        is_certain = known + 1 >= frame
        span = None if is_certain else [known + 1, frame]
        self._reel.param(changed, frame=frame, value={"from": frame, "uncertain": span})
        if not is_certain and not self._has_warned:
            self._has_warned = True
            self._warn(", ".join(changed), known, frame)

    def _warn(self, names: str, known: int, frame: int) -> None:
        text = (
            f"{self._label}: {names} of the model changed between frames {known} and {frame}, and at which is not "
            "known. Change it in `with scene.edit_model():`, or set watch_model='step'"
        )
        try:
            warnings.warn(text, SimreelWarning, stacklevel=2)
        except SimreelWarning:
            # Warnings are errors here; but nothing is lost, and an error would end the recorder.
            logger.warning(text)

    def user_state(self) -> None:
        """Records what the user keeps beside the scene, of the next frame."""
        values, arrays = self._source.user_state()
        if values or arrays:
            self._reel.note({"type": "state", "values": values}, arrays=arrays)

    def segment(self, value: dict[str, Any]) -> None:
        """Records that the next frame does not follow from the one before."""
        self._reel.note({"type": "segment", **value})

    def episode(self, first: int, stop: int, reason: str) -> None:
        """Records an episode of all worlds."""
        self._reel.note({"type": "episode", "first": first, "stop": stop, "reason": reason}, frame=stop - 1)

    def world_end(self, worlds: WorldIds, states: dict[str, np.ndarray[Any, Any]], unstable: list[int]) -> None:
        """Records where the episodes of some worlds ended; the next frame has their new start.

        Args:
            worlds: which.
            states: their last states, (k, width) by field.
            unstable: those of them whose last state is of no use.
        """
        value = {"type": "world_end", "worlds": worlds.tolist(), "unstable": unstable}
        self._reel.note(value, arrays=states)
