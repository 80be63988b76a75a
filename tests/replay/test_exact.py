"""Restore and step: from any frame, with the recorded inputs, each state is that of the recorded run to the bit."""

import itertools

import mujoco
import numpy as np
import pytest

import simreel as sr
from simreel.replay import DataKind

MODELS = ["ant", "humanoid", "hopper", "arm", "quadruped", "boxes", "weld", "muscle", "cloth", "delayed"]
INTEGRATORS = ["euler", "implicitfast", "rk4"]
SOLVERS = ["newton", "cg", "pgs"]
WORLDS = [0, 1, 8]

# One in ten, spread over all columns: 10, 3, 3 and 3 have no common step with 7.
GRID = [
    pytest.param(*cell, marks=[] if (7 * number) % 10 == number // 27 % 10 else pytest.mark.slow)
    for number, cell in enumerate(itertools.product(MODELS, INTEGRATORS, SOLVERS, WORLDS))
]


def test_the_short_grid_has_a_tenth_and_each_kind_of_everything():
    short = [param.values for param in GRID if not param.marks]
    assert len(GRID) // 12 <= len(short) <= len(GRID) // 8
    for column, everything in enumerate((MODELS, INTEGRATORS, SOLVERS, WORLDS)):
        assert {cell[column] for cell in short} == set(everything)


def put_inputs(scene, frame):
    """Sets the inputs of a frame, by the calls of MuJoCo that a user has."""
    if scene.n_envs:
        for name, values in frame.items():
            bound = scene.engine.batch.bind(name)
            bound[...] = values.reshape(bound.shape)
        return
    for name, values in frame.items():
        field = getattr(scene.data, name)
        field[...] = values.reshape(field.shape)


@pytest.mark.parametrize(("name", "integrator", "solver", "n_envs"), GRID)
def test_a_scene_steps_on_from_any_frame_to_the_bit(load, inputs, tmp_path, name, integrator, solver, n_envs):
    steps, replayed = (60, 20) if name == "cloth" else (240, 100)
    model = load(name)
    model.opt.integrator = mujoco.mjtIntegrator.__members__[f"mjINT_{integrator.upper()}"]
    model.opt.solver = mujoco.mjtSolver.__members__[f"mjSOL_{solver.upper()}"]
    scene = sr.Scene.from_mujoco(model)
    scene.build(n_envs)
    move = inputs(scene)
    with scene.recording(sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel", exact=True)):
        for step in range(steps):
            move.set(step)
            scene.step()
    scene.destroy()
    rng = np.random.default_rng(1)
    with sr.Scene.load_trajectory(tmp_path / "run.reel") as traj:
        for first in rng.integers(0, steps - replayed, 3).tolist():
            traj.seek(first)
            for frame in range(first, first + replayed):
                put_inputs(traj.scene, traj.frame(frame, DataKind.INPUT))
                traj.scene.step()
            expected = traj.frame(first + replayed, DataKind.STATE | DataKind.WARMSTART)
            put_inputs(traj.scene, traj.frame(first + replayed, DataKind.INPUT))
            reached = np.empty((max(1, n_envs), sum(value.shape[-1] for value in traj.frame(first).values()) - 2))
            traj.scene.engine.read_state(reached if n_envs else reached[0])
            at = 0
            for field in traj.scene.engine.layout(True).fields:
                width = field.width // max(1, n_envs)
                if field.name in expected:
                    there = np.ascontiguousarray(reached[:, at : at + width]).tobytes()
                    assert there == expected[field.name].tobytes(), (first, field.name)
                at += width
        assert traj.verify().ok
        traj.scene.destroy()


@pytest.mark.parametrize("integrator", ["implicit", "discrete"])
def test_the_other_integrators_are_exact_too(load, inputs, tmp_path, integrator):
    model = load("quadruped")
    model.opt.integrator = mujoco.mjtIntegrator.__members__[f"mjINT_{integrator.upper()}"]
    scene = sr.Scene.from_mujoco(model, substeps=2)
    scene.build()
    move = inputs(scene)
    with scene.recording(sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel")):
        for step in range(100):
            move.set(step)
            scene.step()
    with sr.Scene.load_trajectory(tmp_path / "run.reel") as traj:
        report = traj.verify()
        assert (report.ok, report.steps) == (True, 100)
        traj.seek(40)
        for frame in range(40, 100):
            put_inputs(traj.scene, traj.frame(frame, DataKind.INPUT))
            traj.scene.step()
        assert traj.scene.data.qpos.tobytes() == traj.frame(100)["qpos"].tobytes()


@pytest.mark.parametrize("n_envs", [0, 8])
def test_a_run_that_diverges_would_be_noticed(load, inputs, tmp_path, n_envs):
    """The test above can fail: an input that is another in its last bit is seen in the state."""
    scene = sr.Scene.from_mujoco(load("arm"))
    scene.build(n_envs)
    move = inputs(scene)
    with scene.recording(sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel", exact=True)):
        for step in range(40):
            move.set(step)
            scene.step()
    with sr.Scene.load_trajectory(tmp_path / "run.reel") as traj:
        traj.seek(10)
        for frame in range(10, 30):
            changed = traj.frame(frame, DataKind.INPUT)
            changed["ctrl"] = np.nextafter(changed["ctrl"], 9)
            put_inputs(traj.scene, changed)
            traj.scene.step()
        array = traj.scene.engine.array("qvel")
        assert array.tobytes() != traj.frame(30)["qvel"].tobytes()
