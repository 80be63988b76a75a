"""A simulator of the user's own, as functions."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

from simreel.errors import OptionsError, SceneStateError

if TYPE_CHECKING:
    import numpy as np

    from simreel.recorders.worlds import WorldIds
    from simreel.reel import Layout
    from simreel.scene.engines.array_state import ArrayState

__all__ = ["FunctionEngine", "positive_number"]

_NO_STATE = (
    "the FunctionEngine gives no state to record: "
    "FunctionEngine(..., get_state=..., set_state=...) with an array, or a dict of arrays"
)


class FunctionEngine:
    """Makes an engine of functions: `Scene(engine=FunctionEngine(step, dt=0.01))`.

    Args:
        step: advances the simulator by `dt`.
        dt: time of one step [s].
        reset: puts it back to its start; called without arguments, or, where the scene was built with worlds, with
            their numbers, (k,) int.
        get_state: all that the next step depends on, an array or a dict of arrays. It is copied.
        set_state: puts such a state back. With both, `reset` may be left out: the state at `build` comes back.
        fields: the unit of each key of the state, such as `{"angle": "rad"}`.

    Raises:
        OptionsError: an argument is not what is needed.
    """

    def __init__(
        self,
        step: Callable[[], object],
        *,
        dt: float,
        reset: Callable[..., object] | None = None,
        get_state: Callable[[], Any] | None = None,
        set_state: Callable[[Any], object] | None = None,
        fields: Mapping[str, str] | None = None,
    ) -> None:
        for name, function in (("step", step), ("reset", reset), ("get_state", get_state), ("set_state", set_state)):
            if not (callable(function) or (function is None and name != "step")):
                raise OptionsError("FunctionEngine", [f"{name} = {function!r}: a function is needed"])
        seconds = positive_number(dt)
        if seconds is None:
            raise OptionsError("FunctionEngine", [f"dt = {dt!r}: a time greater than 0 is needed"])
        if (get_state is None) != (set_state is None):
            missing = "set_state" if set_state is None else "get_state"
            raise OptionsError("FunctionEngine", [f"{missing} is missing: get_state and set_state go together"])
        if not (fields is None or isinstance(fields, Mapping)):
            raise OptionsError("FunctionEngine", [f"fields = {fields!r}: a dict of units is needed"])
        self.dt = seconds
        self.n_envs = 0
        self.fields = dict(fields or {})
        self._step = step
        self._reset = reset
        self._get_state = get_state
        self._set_state = set_state
        self._arrays: ArrayState | None = None

    def build(self, n_envs: int) -> None:
        """Remembers the state that stands, where it can be read.

        Raises:
            OptionsError: `fields` names what the state has not.
        """
        self.n_envs = n_envs
        self._arrays = None
        if self._get_state is None:
            return
        self._built = copy.deepcopy(self._get_state())
        unknown = [name for name in self.fields if not (isinstance(self._built, Mapping) and name in self._built)]
        if unknown:
            raise OptionsError("FunctionEngine", [f"fields names {unknown[0]!r}, which get_state does not return"])

    def step(self) -> None:
        """Calls the user's step."""
        self._step()

    def reset(self, envs_idx: WorldIds | None) -> None:
        """Calls the user's reset, or puts the built state back.

        Raises:
            SceneStateError: there is neither a reset nor a state.
            FieldError: the state is not what is needed to put it back for some worlds only.
        """
        self.check_reset()
        if self._reset is not None:
            if not self.n_envs:
                self._reset()
            else:
                import numpy as np

                self._reset(np.arange(self.n_envs) if envs_idx is None else envs_idx)
        elif envs_idx is None:
            assert self._set_state is not None
            self._set_state(copy.deepcopy(self._built))
        else:
            self.write_state(self._array_state().row(self._built), envs_idx)

    def check_reset(self) -> None:
        """Says why it cannot be reset, before an episode ends for it.

        Raises:
            SceneStateError: there is neither a reset nor a state.
        """
        if self._reset is None and self._set_state is None:
            needed = "reset=, or get_state= and set_state="
            raise SceneStateError("scene.reset()", f"the FunctionEngine was made without it: {needed} is needed")

    def refresh(self) -> None:
        """Does nothing: what the functions give is the state itself."""

    @property
    def has_state(self) -> bool:
        """Whether it was given `get_state` and `set_state`."""
        return self._get_state is not None

    def layout(self, exact: bool = True) -> Layout:
        """As `Engine.layout`: a field for each array of the state.

        Raises:
            SceneStateError: there is no `get_state`.
            FieldError: the state is not what is needed.
        """
        del exact
        return self._array_state().layout

    def read_state(self, out: np.ndarray[Any, Any]) -> None:
        """As `Engine.read_state`."""
        state = self._array_state()
        assert self._get_state is not None
        state.read(self._get_state(), out)

    def write_state(self, row: np.ndarray[Any, Any], envs_idx: WorldIds | None = None) -> None:
        """As `Engine.write_state`, by `set_state`."""
        state = self._array_state()
        assert self._get_state is not None
        assert self._set_state is not None
        self._set_state(state.merge(row, self._get_state(), envs_idx))

    def describe(self) -> dict[str, Any]:
        """As `Engine.describe`: the units, since functions cannot be kept."""
        return {"json": {"fields": self.fields}, "blobs": {}}

    def _array_state(self) -> ArrayState:
        if self._get_state is None:
            raise SceneStateError("TrajectoryFile", _NO_STATE)
        if self._arrays is None:
            from simreel.scene.engines.array_state import ArrayState

            self._arrays = ArrayState(self._get_state(), self.n_envs, self.fields)
        return self._arrays


def positive_number(value: Any) -> float | None:
    """The value as a float; None where it is no finite number greater than 0.

    Args:
        value: numbers are Python's, numpy's, and arrays without axes. A bool is none.
    """
    if getattr(value, "ndim", None) == 0:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if 0 < number < math.inf else None
