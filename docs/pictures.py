"""Makes the pictures of README and docs: `python docs/pictures.py`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import av
import numpy as np

# The same picture on every machine.
os.environ["SIMREEL_RENDERER"] = "schematic"

import simreel as sr
from simreel.cli.controls import drive
from simreel.cli.gaits import walker

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
    _write_png(_IMG / "demo.png", camera.render())
    scene.destroy()


def _write_png(path: Path, picture: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    codec: Any = av.CodecContext.create("png", "w")
    codec.width, codec.height, codec.pix_fmt = picture.shape[1], picture.shape[0], "rgb24"
    frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
    path.write_bytes(b"".join(bytes(packet) for packet in [*codec.encode(frame), *codec.encode(None)]))


if __name__ == "__main__":
    main()
