"""A plot of one's own, the forces under four feet as bars: `python force_bars.py`."""

from __future__ import annotations

from typing import Any

import simreel as sr
from simreel.recorders import MPLPlot, Plotter, Samples


class ForceBars(MPLPlot):
    """A bar for each key of the data."""

    plotter = "force_bars:ForceBarsPlotter"

    limit: float = 100.0
    """The top of the axis [N]."""


class ForceBarsPlotter(Plotter):
    """Draws in the window process, which imports this module."""

    def setup(self, surface: Any, first: Samples) -> None:
        """Makes the bars."""
        axes = surface.add_subplot()
        axes.set_title(self.options.title)
        axes.set_ylabel("contact force [N]")
        axes.set_ylim(0, self.options.limit)
        self.bars = axes.bar(list(first.columns), 0.0, animated=True)

    def draw(self, samples: Samples) -> None:
        """Brings them to the newest forces."""
        for bar, force in zip(self.bars, samples.newest.values(), strict=True):
            bar.set_height(force.item())


def main() -> None:
    """A robot falls to its feet."""
    scene = sr.Scene()
    robot = scene.add_entity(sr.morphs.MJCF(sr.models.path("quadruped")))
    feet = ("front_left", "front_right", "hind_left", "hind_right")

    def forces() -> dict[str, float]:
        return {foot.replace("_", "\n"): float(robot.sensor(f"{foot}_touch")[0]) for foot in feet}

    options = ForceBars(title="Feet", limit=60.0, hz=25, save_to_filename="feet.mp4", overwrite=True)
    plot = scene.start_recording(forces, options)
    with scene:
        scene.build()
        scene.step(round(1.5 / scene.dt))
    print(f"{plot.status.written} frames")


if __name__ == "__main__":
    main()
