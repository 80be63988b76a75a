"""What drives a model that `simreel run` simulates."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import mujoco

__all__ = ["Law", "control_ranges", "drive", "smooth_random", "zero"]

Array = np.ndarray[Any, np.dtype[np.float64]]
Law = Callable[[Array], Array]
"""From times (n,) [s] to controls (n, nu)."""

# Controls are computed for so many steps at a time: a numpy call costs as much as a step of a small model.
_BLOCK = 256

_WAVES = 3
_HZ = (0.1, 1.5)


def control_ranges(model: mujoco.MjModel) -> tuple[Array, Array]:
    """Lower and upper bound of each control, (nu,) each; -1 and 1 where the model sets none."""
    limited = model.actuator_ctrllimited.astype(bool)
    low, high = model.actuator_ctrlrange.T
    return np.where(limited, low, -1.0), np.where(limited, high, 1.0)


def smooth_random(model: mujoco.MjModel, seed: int) -> Law:
    """Sines around the middle of each control's range, which never leave it.

        u(t) = middle + half range * mean over k = 1..3 of sin(2 pi f_k t + p_k)

    f_k is uniform in 0.1 to 1.5 Hz and p_k in 0 to 2 pi, drawn for each control from `numpy.random.default_rng(seed)`.
    """
    low, high = control_ranges(model)
    rng = np.random.default_rng(seed)
    omega = 2 * np.pi * rng.uniform(*_HZ, (_WAVES, model.nu))
    phase = rng.uniform(0, 2 * np.pi, (_WAVES, model.nu))

    def law(times: Array) -> Array:
        waves = np.sin(times[:, None, None] * omega + phase).mean(axis=1)
        return (low + high) / 2 + (high - low) / 2 * waves  # type: ignore[no-any-return]

    return law


def zero(model: mujoco.MjModel) -> Law:
    """No control at all."""
    return lambda times: np.zeros((len(times), model.nu))


def drive(step: Callable[[], None], ctrl: Array, law: Law, dt: float, first: int, last: int) -> None:
    """Takes the steps `first` to `last - 1`, each with its controls.

    Args:
        step: takes one step of `dt` [s].
        ctrl: the controls that it consumes, (nu,).
        law: what they are.
        dt: time of a step [s].
        first: the number of the first step.
        last: the number after that of the last step.
    """
    for start in range(first, last, _BLOCK):
        for row in law(np.arange(start, min(start + _BLOCK, last), dtype=np.float64) * dt):
            ctrl[:] = row
            step()
