"""Many steps at once of many worlds: the same bits, the same frames, the same errors as one by one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np
import pytest

import simreel as sr
from simreel.errors import SceneStateError, UnstableError
from simreel.recorders import TrajectoryFile, trajectory_sampler
from simreel.reel import Reel
from simreel.scene.engines import rollout
from simreel.scene.engines.mujoco_batch import MuJoCoBatchEngine

WORLDS = 8
ARM = """<mujoco><option timestep="0.002" integrator="{integrator}"/><worldbody><geom type="plane" size="2 2 .1"/>
<body name="hand" mocap="true" pos="0 0 .5"/>
<body name="held" pos="0 0 .4"><freejoint/><geom size=".05" mass=".2"/></body>
<body name="arm" pos="1 0 .3"><joint name="a" axis="0 1 0" damping=".1"/>
<geom type="capsule" size=".03" fromto="0 0 0 .3 0 0"/><body name="tip" pos=".3 0 0"><joint name="b" type="ball"/>
<geom type="capsule" size=".03" fromto="0 0 0 .3 0 0"/></body></body>
<body pos="0 1 .2"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody>
<equality><weld body1="hand" body2="held"/></equality>
<actuator><position joint="a" kp="5" delay="0.01" nsample="8"/>
<intvelocity joint="a" kp="1" actrange="-1 1"/></actuator>
<sensor><jointpos joint="a"/><framelinacc objtype="body" objname="tip"/></sensor></mujoco>"""
# What pushes instead of damping makes it faster and faster.
SPINNER = """<mujoco><option timestep="0.002" integrator="{integrator}"/><worldbody><body name="spinner">
<joint axis="0 0 1" damping="{damping}"/><geom size=".1" pos=".5 0 0"/></body></worldbody></mujoco>"""

Step = Callable[[sr.Scene, int], None]
Files = list[dict[str, bytes]]


def one_by_one(scene: sr.Scene, n: int) -> None:
    for _ in range(n):
        scene.step()


def all_at_once(scene: sr.Scene, n: int) -> None:
    scene.step(n)


def build(
    path: Path | None, xml: str = ARM, integrator: str = "Euler", *, n_envs: int = WORLDS, substeps: int = 1, **options
) -> sr.Scene:
    made = mujoco.MjModel.from_xml_string(xml.replace("{integrator}", integrator))
    scene = sr.Scene.from_mujoco(made, substeps=substeps)
    if path is not None:
        scene.start_recording(TrajectoryFile(path, **{"chunk_size": 16, **options}))
    scene.build(n_envs)
    return scene


def content(path: Path) -> dict[str, object]:
    """All that a trajectory holds."""
    with Reel.open(path) as reel:
        held: dict[str, object] = {field.name: reel.field(field.name)[:].tobytes() for field in reel.layout.fields}
        for kind in ("notes", "params"):
            held[kind] = [
                (each.frame, each.value, {name: array.tobytes() for name, array in each.arrays.items()})
                for each in getattr(reel, kind)
            ]
        return held


def count(scene: sr.Scene) -> int:
    """Steps of the world that was never reset."""
    return int(np.max(scene.step_count))


def left(scene: sr.Scene) -> list[bytes]:
    """All that steps leave in the engine."""
    batch = scene.engine.batch
    return [batch.state.tobytes(), batch.warning.tobytes(), *(batch.bind(name).tobytes() for name in batch.derived)]


@pytest.fixture
def native_steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many steps were taken natively at once, each time."""
    taken = []
    for name in ("skip", "run"):
        real = getattr(MuJoCoBatchEngine, name)

        def counted(engine, *arguments, real=real):
            was_taken = real(engine, *arguments)
            taken.append(was_taken * (arguments[0] if len(arguments) == 1 else len(arguments[1])))
            return was_taken

        monkeypatch.setattr(MuJoCoBatchEngine, name, counted)
    return taken


def drive(scene: sr.Scene, step: Step) -> None:
    """Inputs, states and worlds that change between the blocks."""
    nu, rng = scene.model.nu, np.random.default_rng(0)
    for n in (1, 2, 3, 20):
        scene.engine.array("ctrl")[:] = rng.normal(size=(WORLDS, nu))
        scene.engine.array("mocap_pos")[:, 0, 0] += rng.normal(scale=0.01, size=WORLDS)
        step(scene, n)
    scene.reset([1, 4, 5])
    step(scene, 30)
    scene.engine.array("qvel")[2] += 0.1
    scene.engine.array("time")[3] += 1
    step(scene, 9)
    scene.reset([4])
    step(scene, 40)
    scene.reset()
    step(scene, 25)


@pytest.mark.parametrize("substeps", [1, 3])
@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
@pytest.mark.parametrize("options", [None, {"exact": True}, {}, {"watch_model": "step"}, {"hz": 250 / 3}])
def test_many_steps_at_once_leave_the_bits_and_the_frames_of_single_ones(
    tmp_path, options, integrator, substeps
) -> None:
    found = []
    for step in (one_by_one, all_at_once):
        path = None if options is None else tmp_path / f"{step.__name__}.reel"
        scene = build(path, integrator=integrator, substeps=substeps, **(options or {}))
        scene.engine.array("xpos")
        scene.engine.array("sensordata")
        drive(scene, step)
        found.append(left(scene))
        scene.stop_recording()
        if path is not None:
            found[-1].append(content(path))
    assert found[0] == found[1]


@pytest.mark.parametrize("options", [{}, {"exact": True}])
def test_frames_are_taken_natively_but_the_first_of_each_chunk(tmp_path, native_steps, options) -> None:
    scene = build(tmp_path / "run.reel", chunk_size=64, **options)
    scene.step(300)
    scene.reset([2])
    scene.step(340)
    scene.stop_recording()
    assert sum(native_steps) >= 640 - 2 * 10
    with Reel.open(tmp_path / "run.reel") as reel:
        steps = reel.field("step")[:]
        assert steps[:, 0].tolist() == list(range(641))
        assert steps[:, 2].tolist() == [*range(300), *range(341)]
        assert reel.field("episode")[:][:, 2].tolist() == [0] * 300 + [1] * 341


def test_steps_between_samples_are_taken_natively(tmp_path, native_steps) -> None:
    scene = build(None)
    scene.start_recording(lambda: scene.engine.array("qpos"), sr.recorders.NPZFile(tmp_path / "q.npz", hz=25))
    scene.step(100)
    scene.stop_recording()
    assert sum(native_steps) == 5 * 19
    single = build(None)
    one_by_one(single, 100)
    with np.load(tmp_path / "q.npz") as file:
        assert file["data"][-1].tobytes() == single.engine.array("qpos").tobytes()


@pytest.mark.parametrize("n_bytes", [0, 2**14, 2**16])
def test_states_come_in_pieces_of_so_many_bytes_at_most(tmp_path, monkeypatch, native_steps, n_bytes) -> None:
    monkeypatch.setattr(rollout, "_BYTES", n_bytes)
    for step in (one_by_one, all_at_once):
        scene = build(tmp_path / f"{step.__name__}.reel", substeps=2)
        drive(scene, step)
        assert scene.engine._rollout._buffer.nbytes <= n_bytes
        scene.stop_recording()
    assert content(tmp_path / "one_by_one.reel") == content(tmp_path / "all_at_once.reel")
    assert bool(sum(native_steps)) == bool(n_bytes)


def test_frames_too_large_for_a_common_chunk_are_taken_one_by_one(tmp_path, monkeypatch, native_steps) -> None:
    monkeypatch.setattr(trajectory_sampler, "MAX_CHUNK_BYTES", 2**13)
    scene = build(tmp_path / "run.reel")
    scene.step(4)
    scene.stop_recording()
    assert native_steps == []
    with Reel.open(tmp_path / "run.reel") as reel:
        assert len(reel) == 5


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
@pytest.mark.parametrize("damping", [-5, -0.1])
@pytest.mark.parametrize("options", [None, {"exact": True}, {}])
def test_a_world_that_goes_nan_within_a_block_is_told_at_its_step(tmp_path, options, damping, integrator) -> None:
    found = []
    for step in (one_by_one, all_at_once):
        path = None if options is None else tmp_path / f"{step.__name__}.reel"
        scene = build(path, SPINNER.replace("{damping}", str(damping)), integrator, **(options or {}))
        scene.engine.array("xpos")
        # The faster it is the sooner it ends.
        scene.engine.array("qvel")[[1, 4], 0] = [5e5, 1e6] if damping == -5 else [5e9, 7e9]
        errors = []
        for _ in range(2):
            with pytest.raises(UnstableError) as caught:
                step(scene, 100_000)
            errors.append((str(caught.value), caught.value.step, caught.value.worlds, count(scene)))
            errors.append(left(scene))
            with pytest.raises(UnstableError):
                step(scene, 5)
            scene.reset(caught.value.worlds)
        step(scene, 30)
        found.append([errors, left(scene)])
        scene.stop_recording()
        if path is not None:
            found[-1].append(content(path))
    assert [error[2] for error in found[0][0][::2]] == [(4,), (1,)]
    assert found[0][0][0][1] > 20
    assert found[0] == found[1]


@pytest.mark.parametrize("is_recorded", [False, True])
def test_an_error_of_mujoco_within_a_block_is_told_at_its_step(tmp_path, is_recorded) -> None:
    # The arena runs out when the balls have fallen.
    xml = '<mujoco><size memory="64K"/><worldbody><geom type="plane" size="1 1 .1"/>'
    xml += "".join(f'<body pos="{x} 0 .25"><freejoint/><geom size=".1"/></body>' for x in np.arange(20) / 5)
    found = []
    for step in (one_by_one, all_at_once):
        path = tmp_path / f"{step.__name__}.reel"
        scene = build(path if is_recorded else None, xml + "</worldbody></mujoco>", n_envs=3)
        scene.engine.array("qpos")[1, 2::7] += 1
        with pytest.raises(UnstableError) as caught:
            step(scene, 300)
        found.append([str(caught.value), caught.value.step, caught.value.worlds, left(scene)])
        scene.stop_recording()
        if is_recorded:
            found[-1].append(content(path))
    assert found[0][2] == (0, 2)
    assert found[0][1] > 10
    assert found[0] == found[1]


@pytest.mark.parametrize("n_envs", [0, 3])
@pytest.mark.parametrize("is_recorded", [False, True])
def test_a_run_goes_on_past_warnings_that_are_no_errors(tmp_path, is_recorded, n_envs) -> None:
    # The arena leaves no room for all constraints when the balls have fallen, and this solver goes without.
    xml = '<mujoco><option solver="PGS"/><size memory="84K"/><worldbody><geom type="plane" size="1 1 .1"/>'
    xml += "".join(f'<body pos="{x} 0 .25"><freejoint/><geom size=".1"/></body>' for x in np.arange(20) / 5)
    found = []
    for step in (one_by_one, all_at_once):
        path = tmp_path / f"{step.__name__}.reel"
        scene = build(path if is_recorded else None, xml + "</worldbody></mujoco>", n_envs=n_envs)
        step(scene, 150)
        warned = scene.engine.batch.warning if n_envs else scene.data.warning.number
        found.append([scene.engine.array(name).tobytes() for name in ("qpos", "qvel", "qacc_warmstart")])
        found[-1].append(np.array(warned).tolist())
        assert np.any(warned)
        scene.stop_recording()
        if is_recorded:
            found[-1].append(content(path))
    assert found[0] == found[1]


def test_a_callback_in_python_is_refused_as_in_a_single_step(tmp_path) -> None:
    scene = build(tmp_path / "run.reel")
    scene.step(20)
    mujoco.set_mjcb_control(lambda m, d: None)
    try:
        with pytest.raises(SceneStateError, match="n_envs=0"):
            scene.step(20)
    finally:
        mujoco.set_mjcb_control(None)
    assert count(scene) == 20
    scene.step(20)
    scene.stop_recording()
    with Reel.open(tmp_path / "run.reel") as reel:
        assert reel.field("step")[:][:, 0].tolist() == list(range(41))


@pytest.mark.parametrize("kind", ["edit", "expand"])
def test_parameters_hold_in_the_next_block(tmp_path, kind) -> None:
    found = []
    for step in (one_by_one, all_at_once):
        path = tmp_path / f"{step.__name__}.reel"
        scene = build(path)
        step(scene, 30)
        if kind == "expand":
            scene.engine.batch.expand("body_mass")[:, 2] = np.linspace(1, 2, WORLDS)
        else:
            with scene.edit_model() as edited:
                edited.body_mass[2] = 5
        step(scene, 30)
        found.append(left(scene))
        scene.stop_recording()
        found[-1].append(content(path))
    assert found[0] == found[1]


RECORDED = ["mark", "run", "advance", "append"]


@pytest.mark.parametrize("n_envs", [0, WORLDS])
@pytest.mark.parametrize(
    ("place", "options"),
    [("mark", None), ("skip", None)] + [(place, {"exact": exact}) for place in RECORDED for exact in (False, True)],
)
def test_ctrl_c_in_a_block_loses_no_step_and_no_frame(tmp_path, monkeypatch, place, options, n_envs) -> None:
    found = []
    for is_interrupted in (False, True):
        path = None if options is None else tmp_path / f"{is_interrupted}.reel"
        scene = build(path, n_envs=n_envs, **({} if options is None else {"chunk_size": 64, **options}))
        scene.step(3)
        interrupts = [0, 2, 5] * is_interrupted
        owner = {"advance": rollout.Rollout}.get(place, type(scene.engine))
        if place == "append":
            owner = scene.recorders[0]._reels[0]
        real = getattr(owner, place)

        def interrupted(*arguments, real=real, interrupts=interrupts, place=place):
            if not interrupts:
                return real(*arguments)
            n = interrupts.pop()
            if place == "append":
                real(arguments[0][:n])
            elif n:
                real(*arguments)
            raise KeyboardInterrupt

        monkeypatch.setattr(owner, place, interrupted)
        seen = []
        while count(scene) < 60:
            try:
                scene.step(60 - count(scene))
            except KeyboardInterrupt:
                seen.append((count(scene) * 0.002, time_of(scene)))
        monkeypatch.undo()
        assert interrupts == []
        assert len(seen) == 3 * is_interrupted
        assert [at for at, _ in seen] == pytest.approx([time for _, time in seen])
        assert time_of(scene) == pytest.approx(0.12)
        found.append([scene.engine.array(name).tobytes() for name in ("qpos", "qvel", "qacc_warmstart", "history")])
        scene.stop_recording()
        if path is not None:
            found[-1].append(content(path))
    assert found[0] == found[1]


def test_poses_belong_to_the_state_after_ctrl_c(monkeypatch) -> None:
    for n_envs in (0, 2):
        scene = build(None, n_envs=n_envs)
        poses = scene.engine.array("xpos")
        scene.reset()
        before, real = poses.tobytes(), type(scene.engine).skip

        def interrupted(engine, n, real=real):
            real(engine, n)
            raise KeyboardInterrupt

        monkeypatch.setattr(type(scene.engine), "skip", interrupted)
        with pytest.raises(KeyboardInterrupt):
            scene.step(10)
        assert (poses.tobytes(), time_of(scene)) == (before, 0)


def time_of(scene: sr.Scene) -> float:
    state = np.empty(sum(field.width for field in scene.engine.layout().fields))
    scene.engine.read_state(state)
    return float(state[0])
