"""One frame as arrays, part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from simreel.errors import FieldError
from simreel.replay.kinds import DataKind

if TYPE_CHECKING:
    from simreel.replay.recording import Recording
    from simreel.replay.stage import Stage

__all__ = ["read_frame"]

Array = np.ndarray[Any, Any]

_OF_FIELDS = {"state": DataKind.STATE, "input": DataKind.INPUT, "warmstart": DataKind.WARMSTART}
"""All other fields are INFO."""

_STORED = DataKind.STATE | DataKind.INPUT | DataKind.WARMSTART | DataKind.INFO


def read_frame(
    recording: Recording, i: int, kinds: DataKind | Iterable[DataKind] | None, stage: Callable[[], Stage]
) -> dict[str, Array]:
    """A frame, as `Trajectory.frame` says.

    Args:
        recording: the trajectory.
        i: number of the frame.
        kinds: which parts.
        stage: gives the scene, where that is needed.
    """
    wanted = _together(kinds)
    values = {}
    for name, value in recording.reel.row(i).items():
        field = recording.reel.layout[name]
        if _OF_FIELDS.get(field.kind, DataKind.INFO) in wanted:
            values[name] = value if field.ragged else value.reshape(recording.shape(field))
    frame = i + len(recording.reel) if i < 0 else i
    if kinds is not None and DataKind.INFO in wanted and stage().parameters.names:
        values |= stage().parameters_at(frame)
    if DataKind.DERIVED in wanted:
        values |= stage().derived(frame)
    if DataKind.CONFIG in wanted:
        values |= stage().options_at(frame)
    if DataKind.CONSTANT in wanted:
        values |= stage().constants()
    return values


def _together(kinds: DataKind | Iterable[DataKind] | None) -> DataKind:
    if kinds is None:
        return _STORED
    wanted = DataKind(0)
    for kind in kinds if isinstance(kinds, Iterable) and not isinstance(kinds, DataKind | str) else [kinds]:
        if not isinstance(kind, DataKind):
            raise FieldError("kinds", f"{kind!r}", "a DataKind, or several, are needed")
        wanted |= kind
    return wanted
