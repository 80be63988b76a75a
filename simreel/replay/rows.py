"""State rows, as engines take them, made of the fields of a file.

a field in the file    | world 0 | world 1 | ...      each of the field's width
a state row            | field 0 | field 1 | ...      one for each world
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from simreel.replay.recording import Recording

__all__ = ["StateRows"]

_KINDS = ("state", "input", "warmstart")

Array = np.ndarray[Any, Any]


class StateRows:
    """The state parts of a trajectory.

    Args:
        recording: the trajectory.
    """

    def __init__(self, recording: Recording) -> None:
        self.fields = [f for f in recording.reel.layout.fields if f.kind in _KINDS and not f.ragged]
        worlds = max(1, recording.n_envs)
        self._lead = (recording.n_envs,) if recording.n_envs else ()
        bounds = np.cumsum([0, *(field.width // worlds for field in self.fields)]).tolist()
        self.columns = {f.name: slice(*bounds[i : i + 2]) for i, f in enumerate(self.fields)}
        """Where each field stands in a row."""
        self.width: int = bounds[-1]
        """Values of a row."""

    def join(self, values: Mapping[str, Array] | Array) -> Array:
        """Rows of frames.

        Args:
            values: each field by name, (..., width of all worlds); a structured array has such fields too.

        Returns:
            (..., width) float64; with worlds (..., n_envs, width).
        """
        parts = []
        for field in self.fields:
            part = np.asarray(values[field.name], np.float64)
            columns = self.columns[field.name]
            parts.append(part.reshape(*part.shape[:-1], *self._lead, columns.stop - columns.start))
        return np.concatenate(parts, axis=-1)

    def split(self, rows: Array) -> dict[str, Array]:
        """The fields of rows, as views: each (..., its width)."""
        return {name: rows[..., columns] for name, columns in self.columns.items()}

    def mask(self, *kinds: str) -> Array:
        """Which values of a row belong to fields of some kinds, (width,) bool."""
        mask = np.zeros(self.width, bool)
        for field in self.fields:
            mask[self.columns[field.name]] = field.kind in kinds
        return mask
