"""Parameters of the model that changed while it was recorded, and putting those of a frame into a model."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from simreel.replay.recording import refusal

if TYPE_CHECKING:
    import mujoco

    from simreel.reel import Reel

__all__ = ["Parameters"]

Array = np.ndarray[Any, Any]
_OPTION = "opt."


class Parameters:
    """Which parameters hold at which frame.

    Args:
        reel: its records are read once to know their names.
    """

    def __init__(self, reel: Reel) -> None:
        self._reel = reel
        self._places: dict[str, list[tuple[int, int]]] = {}
        self.uncertain: list[tuple[int, int]] = []
        """Spans of frames in which parameters changed somewhere: the first, and the first after it that has them."""
        for place, side in enumerate(reel.params):
            for name in side.arrays:
                self._places.setdefault(name, []).append((side.frame, place))
            span = side.value.get("uncertain") if isinstance(side.value, dict) else None
            if isinstance(span, list) and len(span) == 2 and all(type(frame) is int for frame in span):
                self.uncertain.append((span[0], span[1]))
        for places in self._places.values():
            places.sort()

    @property
    def names(self) -> list[str]:
        """Of the parameters that changed: fields of `mujoco.MjModel`, with "opt." before those of its options."""
        return list(self._places)

    def changes(self) -> set[int]:
        """The frames from which parameters hold that were others before."""
        return {frame for places in self._places.values() for frame, _ in places}

    def at(self, frame: int) -> Iterator[tuple[str, Array]]:
        """The parameters with records that hold at a frame."""
        for name, places in self._places.items():
            index = bisect_right(places, (frame, len(self._reel.params)))
            if index:
                yield name, self._reel.params[places[index - 1][1]].arrays[name]

    def has(self, name: str, value: Array) -> bool:
        """Whether a record of a parameter has this value."""
        records = (self._reel.params[place].arrays[name] for _, place in self._places.get(name, ()))
        return any(each.shape == value.shape and each.tobytes() == value.tobytes() for each in records)

    def recorded(self, model: mujoco.MjModel) -> dict[str, Array]:
        """What the model that was recorded has for `names`, as copies.

        Raises:
            NotATrajectoryError: a name is none of a parameter.
        """
        return {name: _read(self._reel, model, name) for name in self.names}

    def allowed(self, model: mujoco.MjModel, frame: int, recorded: dict[str, Array]) -> dict[str, Array]:
        """The parameters of a frame: those with records, and the recorded ones of all others.

        Args:
            model: that they are for.
            frame: its number.
            recorded: what `recorded` gives of the model that was recorded.

        Raises:
            NotATrajectoryError: a record does not fit the model.
        """
        # Not at the top: it imports mujoco, which reading needs not.
        from simreel.replay.safety import allowed_values

        values = {**recorded, **dict(self.at(frame))}
        for name, value in values.items():
            there = _read(self._reel, model, name)
            if there.shape != value.shape:
                raise refusal(self._reel, f"parameter {name!r} has shape {value.shape}, the model {there.shape}")
            if (there.dtype.kind == "f") != (value.dtype.kind == "f"):
                raise refusal(self._reel, f"parameter {name!r} is of {value.dtype}, in the model of {there.dtype}")
        for name, value in values.items():
            may = allowed_values(model, name, values, recorded)
            if not may.all():
                place = tuple(np.argwhere(~may)[0].tolist())
                found = f"parameter {name!r} is {value[place]} at {list(place)}"
                raise refusal(self._reel, f"{found}, which is not allowed: it may lead MuJoCo out of its memory")
        return values

    def put(self, model: mujoco.MjModel, values: dict[str, Array]) -> bool:
        """Gives a model parameters that are `allowed`.

        Returns:
            Whether that changed the model.
        """
        changed = False
        for name, value in values.items():
            there = _read(self._reel, model, name)
            if there.tobytes() != value.astype(there.dtype).tobytes():
                changed = True
                _write(model, name, value)
        return changed


def _read(reel: Reel, model: mujoco.MjModel, name: str) -> Array:
    """A copy of a parameter."""
    owner, field = (model.opt, name.removeprefix(_OPTION)) if name.startswith(_OPTION) else (model, name)
    value = None if field.startswith("_") else getattr(owner, field, None)
    if not isinstance(value, np.ndarray | int | float):
        raise refusal(reel, f"the model has no parameter {name!r}")
    return np.array(value)


def _write(model: mujoco.MjModel, name: str, value: Array) -> None:
    owner, field = (model.opt, name.removeprefix(_OPTION)) if name.startswith(_OPTION) else (model, name)
    there = getattr(owner, field)
    if isinstance(there, np.ndarray):
        there[...] = value
    else:
        setattr(owner, field, type(there)(value.item()))


def options_of(model: mujoco.MjModel) -> dict[str, Array]:
    """The options of a model, by name with "opt." before it, as copies."""
    names = [name for name in dir(model.opt) if not name.startswith("_")]
    return {_OPTION + name: np.array(getattr(model.opt, name)) for name in names}


def constants_of(model: mujoco.MjModel) -> dict[str, Array]:
    """The arrays of a model by name, as copies."""
    names = [name for name in dir(model) if not name.startswith("_")]
    arrays = {name: getattr(model, name) for name in names}
    return {name: array.copy() for name, array in arrays.items() if isinstance(array, np.ndarray)}
