"""What draws a plot, in the window process: the base of ours and of a user's own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Plotter", "Samples"]

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Samples:
    """Some consecutive samples, the oldest first."""

    times: Array
    """(n,) float64 [s]."""

    columns: dict[str, Array]
    """(n, *shape) arrays by key; "data" where the data function returns no dict."""

    has_keys: bool
    """Whether it returns one."""

    def __len__(self) -> int:
        """How many there are."""
        return len(self.times)

    @property
    def newest(self) -> Any:
        """The data of the last sample: an array, or a dict of arrays."""
        if not self.has_keys:
            return self.columns["data"][-1]
        return {key: column[-1] for key, column in self.columns.items()}


class Plotter(ABC):
    """Draws samples in the figure or window of a plot.

    An author writes `setup` and `draw`. All calls come in the window process, from its main thread. An error in one of
    them ends the plot and is raised in the simulation.

    Args:
        options: those of the plot, as attributes; lists in place of tuples, as JSON has them.
    """

    def __init__(self, options: Any) -> None:
        self.options = options

    @abstractmethod
    def setup(self, surface: Any, first: Samples) -> None:
        """Makes what `draw` changes.

        Args:
            surface: an empty matplotlib `Figure`, or pyqtgraph `GraphicsLayoutWidget`.
            first: the first sample; its names, shapes and dtypes are those of all.
        """

    @abstractmethod
    def draw(self, samples: Samples) -> None:
        """Brings what `setup` made up to date; the surface is painted afterwards.

        Args:
            samples: what came since the last call, of which the newest `options.history_length`, or one where there is
                no such option.
        """

    def restart(self) -> None:  # noqa: B027 - few plotters have anything to forget
        """Forgets what was drawn: the next samples are those of a new episode."""
