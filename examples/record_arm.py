"""Drives an arm and records it to NPZ and CSV: `python record_arm.py`."""

from __future__ import annotations

import numpy as np

import simreel as sr


def main() -> None:
    """Five seconds; the CSV file can be followed with `tail -f`."""
    scene = sr.Scene()
    arm = scene.add_entity(sr.morphs.MJCF(sr.models.path("arm")))
    scene.start_recording(
        lambda: {"qpos": arm.get_qpos(), "qvel": arm.get_qvel(), "ctrl": arm.get_ctrl()},
        sr.recorders.NPZFile("arm.npz", overwrite=True),
    )
    scene.start_recording(lambda: {"hand": arm.get_pos()}, sr.recorders.CSVFile("arm.csv", hz=50, overwrite=True))
    with scene:
        scene.build()
        for k in range(round(5 / scene.dt)):
            arm.set_ctrl(0.5 * np.sin(k * scene.dt + np.arange(7)))
            scene.step()
    with np.load("arm.npz") as run:
        print(f"{len(run['timestamp'])} samples, the last at {run['timestamp'][-1]:g} s")


if __name__ == "__main__":
    main()
