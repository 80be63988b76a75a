"""Makes the pictures of README and docs: `python docs/pictures.py`."""

from __future__ import annotations

import os
from pathlib import Path

# The same picture on every machine.
os.environ["SIMREEL_RENDERER"] = "schematic"

import simreel as sr
from simreel.cli.controls import drive
from simreel.cli.gaits import walker
from simreel.cli.plotting import write_png

_IMG = Path(__file__).resolve().parent / "img"


def main() -> None:
    """The robot of the demo in the middle of its walk."""
    robot = walker()
    scene = sr.Scene()
    scene.add_entity(sr.morphs.MJCF(file=str(robot.file)))
    scene.build()
    drive(scene.step, scene.data.ctrl, robot.law(), scene.dt, 0, round(3 / scene.dt))
    x, y, z = scene.data.qpos[:3].tolist()
    camera = scene.add_camera(res=(640, 320), pos=(x + 2.6, y - 2.6, z + 1.2), lookat=(x, y, z - 0.15), fov=35)
    write_png(_IMG / "demo.png", camera.render())
    scene.destroy()


if __name__ == "__main__":
    main()
