"""State of the user's own that was recorded with the scene."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simreel.replay.notes import Notes
    from simreel.scene import Scene

__all__ = ["keep_user_state", "restore_user_state"]


def restore_user_state(scene: Scene, notes: Notes, frame: int) -> None:
    """Hands the latest values of its episode up to a frame to what `scene.add_state` was given for them.

    Raises:
        FieldError: they are damaged.
    """
    # The notes are read where somebody wants them only.
    for values, arrays in _latest(notes, frame) if len(scene._user_states) else ():
        scene._user_states.put(values, arrays)


def keep_user_state(scene: Scene, notes: Notes, frame: int) -> None:
    """Keeps the latest values of its episode up to a frame for what is added to the scene from now on."""
    for values, arrays in _latest(notes, frame):
        scene._user_states.wait(values, arrays)


def _latest(notes: Notes, frame: int) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    # The note about an episode stands at its last frame. That of the frame's own may be there too.
    ended = next(notes.until("episode", frame - 1), None)
    for note in notes.until("state", frame):
        if ended is not None and note.frame <= ended.frame:
            return
        values = note.value.get("values")
        if isinstance(values, Mapping):
            yield values, note.arrays
            return
