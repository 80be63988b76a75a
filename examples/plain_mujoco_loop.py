"""Records a MuJoCo loop that steps itself: `python plain_mujoco_loop.py`."""

from __future__ import annotations

import mujoco
import numpy as np

import simreel as sr

SUBSTEPS = 5


def main() -> None:
    """Two episodes, a file for each."""
    model = mujoco.MjModel.from_xml_path(str(sr.models.path("quadruped")))
    data = mujoco.MjData(model)
    with sr.Scene.from_mujoco(model, data, substeps=SUBSTEPS) as scene:
        scene.start_recording(
            lambda: {"qpos": data.qpos, "feet": data.sensordata},
            sr.recorders.NPZFile("walk.npz", save_on_reset=True, overwrite=True),
        )
        scene.build()
        for _ in range(2):
            for k in range(200):
                data.ctrl[:] = 0.3 * np.sin(k / 10 + np.arange(model.nu))
                scene.sample()
                mujoco.mj_step(model, data, SUBSTEPS)
            scene.mark_reset()
            mujoco.mj_resetData(model, data)


if __name__ == "__main__":
    main()
