"""Records 16 worlds that are reset one by one: `python many_worlds.py`."""

from __future__ import annotations

import numpy as np

import simreel as sr


def main() -> None:
    """A world whose time is up starts anew; the others run on."""
    rng = np.random.default_rng(0)
    lengths = rng.uniform(0.3, 1.5, 16)
    scene = sr.Scene()
    robot = scene.add_entity(sr.morphs.MJCF(sr.models.path("quadruped")))
    scene.start_recording(
        lambda: {"qpos": robot.get_qpos(), "ctrl": robot.get_ctrl()},
        sr.recorders.NPZFile("worlds.npz", hz=100, overwrite=True),
    )
    with scene:
        scene.build(n_envs=16)
        for _ in range(1000):
            robot.set_ctrl(rng.uniform(-1, 1, (16, 12)))
            scene.step()
            over = scene.get_time() >= lengths
            if over.any():
                scene.reset(envs_idx=over)
    with np.load("worlds.npz") as run:
        print(f"{run['qpos'].shape} qpos; episodes of each world: {run['episode'][-1] + 1}")


if __name__ == "__main__":
    main()
