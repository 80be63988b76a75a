"""The robots of the demo and how they walk."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simreel import models

if TYPE_CHECKING:
    from simreel.cli.controls import Law

__all__ = ["Walker", "walker"]


@dataclass(frozen=True)
class Walker:
    """A robot with a free base, and a sine for each of its motors: `amplitude * sin(2 pi (hz * t + phase))`."""

    name: str
    file: Path
    hz: float
    amplitudes: tuple[float, ...]
    """Of each motor, as a part of its range from -1 to 1."""
    phases: tuple[float, ...]
    """Of each motor, in turns."""

    def law(self) -> Law:
        """The controls at given times."""
        amplitudes, phases = np.array(self.amplitudes), np.array(self.phases)

        def law(times: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
            return amplitudes * np.sin(2 * np.pi * (self.hz * times[:, None] + phases))  # type: ignore[no-any-return]

        return law


def walker() -> Walker:
    """The ant of Gymnasium where that is installed, else the quadruped of `simreel.models`."""
    ant = _ant_file()
    # The numbers of both were found by trying: what walks far, straight and upright.
    if ant is not None:
        # Hip and ankle of four legs.
        amplitudes = (0.3, 0.3, -0.3, 0.3, -0.3, 0.3, 0.3, 0.3)
        phases = (0.0, 0.875, 0.625, 0.5, 0.125, 0.0, 0.75, 0.625)
        return Walker("Gymnasium's ant", ant, 1.8, amplitudes, phases)
    # Hip, thigh and knee of four legs; those across from each other move together.
    leg, other = (0.0, 0.0, 0.16), (0.0, 0.5, 0.66)
    file, name = models.path("quadruped"), "The quadruped of simreel.models"
    return Walker(name, file, 2.4, amplitudes=(0.0, 0.7, 0.5) * 4, phases=leg + other * 2 + leg)


def _ant_file() -> Path | None:
    # Looked for without importing Gymnasium, which takes longer than the demo.
    from importlib.util import find_spec

    found = find_spec("gymnasium")
    if found is None or found.origin is None:
        return None
    file = Path(found.origin).with_name("envs") / "mujoco" / "assets" / "ant.xml"
    return file if file.is_file() else None
