"""Many steps at once: the same bits, the same frames, the same errors as one by one."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path

import mujoco
import numpy as np
import pytest

import simreel as sr
from simreel.errors import UnstableError
from simreel.recorders import TrajectoryFile
from simreel.reel import Reel
from simreel.scene.engines.mujoco_engine import MuJoCoEngine

ARM = '<mujoco><option timestep="0.002" integrator="{integrator}"><flag {flag}/></option>'
ARM += """<worldbody><geom type="plane" size="2 2 .1"/><body name="hand" mocap="true" pos="0 0 .5"/>
<body name="held" pos="0 0 .4"><freejoint/><geom size=".05" mass=".2"/></body>
<body pos="1 0 .3"><joint name="a" axis="0 1 0" damping=".1"/><geom type="capsule" size=".03" fromto="0 0 0 .3 0 0"/>
<body pos=".3 0 0"><joint name="b" type="ball"/><geom type="capsule" size=".03" fromto="0 0 0 .3 0 0"/></body></body>
<body pos="0 1 .2"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody>
<equality><weld body1="hand" body2="held"/></equality>
<actuator><position joint="a" kp="5" {delay}/><intvelocity joint="a" kp="1" actrange="-1 1"/></actuator>
<sensor><jointpos joint="a"/><accelerometer site="s"/></sensor></mujoco>"""
ARM = ARM.replace('<geom size=".05" mass=".2"/>', '<geom size=".05" mass=".2"/><site name="s"/>')

ARM_THAT_SPEEDS_UP = """<mujoco><option timestep="0.002" integrator="RK4"/><worldbody><body>
<joint axis="0 0 1" damping="-5"/><geom size=".1" pos=".5 0 0"/></body></worldbody></mujoco>"""


def model(integrator: str = "Euler", flag: str = "", delay: str = "") -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(
        ARM.replace("{integrator}", integrator).replace("<flag {flag}/>", flag).replace("{delay}", delay)
    )


def one_by_one(scene: sr.Scene, n: int) -> None:
    for _ in range(n):
        scene.step()


def all_at_once(scene: sr.Scene, n: int) -> None:
    scene.step(n)


def drive(step: object, made: mujoco.MjModel, path: Path | None = None, *, substeps: int = 1) -> tuple[list, sr.Scene]:
    """Steps with inputs that change now and then; gives all that a step leaves in MjData."""
    scene = sr.Scene.from_mujoco(made, substeps=substeps)
    if path is not None:
        scene.start_recording(TrajectoryFile(path, chunk_size=16))
    scene.build()
    data, rng = scene.data, np.random.default_rng(0)
    for n in (1, 2, 3, 20, 40, 7):
        data.ctrl[:] = rng.normal(size=made.nu)
        data.mocap_pos[0] += 0.01
        data.xfrc_applied[3, 2] = rng.normal()
        step(scene, n)
    left = [getattr(data, name).copy() for name in ("qpos", "qvel", "act", "qacc", "xpos", "sensordata", "efc_force")]
    left += [np.array([data.ncon, data.time]), np.array(data.contact.dist)]
    scene.stop_recording()
    return left, scene


MODELS = {
    "euler": {},
    "implicit": {"integrator": "implicit"},
    "implicitfast": {"integrator": "implicitfast"},
    "rk4": {"integrator": "RK4"},
    "delay": {"delay": 'delay="0.01" nsample="8"'},
    "sleep": {"flag": '<flag sleep="enable"/>'},
    "energy": {"flag": '<flag energy="enable" fwdinv="enable"/>'},
}


@pytest.mark.parametrize("substeps", [1, 3])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("is_recorded", [False, True])
def test_many_steps_at_once_leave_the_bits_and_the_frames_of_single_ones(tmp_path, name, is_recorded, substeps) -> None:
    made = model(**MODELS[name])
    paths = [tmp_path / "single.reel", tmp_path / "many.reel"] if is_recorded else [None, None]
    single, _ = drive(one_by_one, made, paths[0], substeps=substeps)
    many, _ = drive(all_at_once, made, paths[1], substeps=substeps)
    assert [each.tobytes() for each in single] == [each.tobytes() for each in many]
    if is_recorded:
        with Reel.open(paths[0]) as a, Reel.open(paths[1]) as b:
            assert len(a) == len(b) == 74
            for field in a.layout.fields:
                assert a.field(field.name)[:].tobytes() == b.field(field.name)[:].tobytes(), field.name
            assert [(n.frame, n.value) for n in a.notes] == [(n.frame, n.value) for n in b.notes]


@pytest.fixture
def native_steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many steps were taken natively at once, each time."""
    taken = []
    for name in ("skip", "run"):
        real = getattr(MuJoCoEngine, name)

        def counted(engine, *arguments, real=real):
            was_taken = real(engine, *arguments)
            n = arguments[0] if len(arguments) == 1 else len(arguments[1])
            # The last one of `run` is counted with the others.
            if n > 1:
                taken.append(was_taken * n)
            return was_taken

        monkeypatch.setattr(MuJoCoEngine, name, counted)
    return taken


@pytest.mark.parametrize("exact", [False, True])
def test_frames_are_taken_natively_but_the_first_of_each_chunk(tmp_path, native_steps, exact) -> None:
    scene = sr.Scene.from_mujoco(model(delay='delay="0.01" nsample="8"'))
    scene.start_recording(TrajectoryFile(tmp_path / "run.reel", chunk_size=64, exact=exact))
    scene.build()
    scene.step(640)
    scene.stop_recording()
    assert sum(native_steps) >= 640 - 2 * 10


def test_steps_between_samples_are_taken_natively(tmp_path, native_steps) -> None:
    scene = sr.Scene.from_mujoco(model())
    scene.start_recording(lambda: scene.data.qpos, sr.recorders.NPZFile(tmp_path / "q.npz", hz=25))
    scene.build()
    scene.step(100)
    scene.stop_recording()
    assert sum(native_steps) == 5 * 19
    with np.load(tmp_path / "q.npz") as file:
        assert file["step"].tolist() == [0, 20, 40, 60, 80, 100]


@pytest.mark.parametrize("options", [{"exact": False}, {"hz": 250}, {"contacts": True}, {"watch_model": "step"}])
def test_frames_of_other_options_are_the_same(tmp_path, options) -> None:
    fields = []
    for step in (one_by_one, all_at_once):
        scene = sr.Scene.from_mujoco(model())
        scene.start_recording(TrajectoryFile(tmp_path / f"{step.__name__}.reel", **options))
        scene.build()
        step(scene, 41)
        scene.stop_recording()
        with Reel.open(tmp_path / f"{step.__name__}.reel") as reel:
            fields.append({f.name: reel.field(f.name)[:] for f in reel.layout.fields if not f.ragged})
    assert {name: field.tobytes() for name, field in fields[0].items()} == {
        name: field.tobytes() for name, field in fields[1].items()
    }


def test_a_channel_is_asked_at_each_frame(tmp_path) -> None:
    scene = sr.Scene.from_mujoco(model())
    asked = []
    scene.add_channel("step", lambda: asked.append(scene.step_count) or scene.step_count)
    scene.start_recording(TrajectoryFile(tmp_path / "run.reel"))
    scene.build()
    scene.step(30)
    scene.stop_recording()
    assert asked == list(range(31))


@pytest.mark.parametrize(("damping", "speed"), [(-5, 1), (-5, 1e6), (-0.1, 5e9)])
@pytest.mark.parametrize("is_recorded", [False, True])
def test_nan_within_a_block_names_its_step_and_keeps_the_frames_before(tmp_path, is_recorded, damping, speed) -> None:
    found = []
    for step in (one_by_one, all_at_once):
        # What pushes instead of damping makes it faster and faster.
        xml = ARM_THAT_SPEEDS_UP.replace("-5", str(damping))
        scene = sr.Scene.from_mujoco(mujoco.MjModel.from_xml_string(xml))
        path = tmp_path / f"{step.__name__}.reel"
        if is_recorded:
            scene.start_recording(TrajectoryFile(path))
        scene.build()
        scene.data.qvel[:] = speed
        with pytest.raises(UnstableError) as caught:
            step(scene, 5000)
        assert caught.value.step == scene.step_count > 100
        frames = None
        scene.stop_recording()
        if is_recorded:
            with Reel.open(path) as reel:
                frames = (len(reel), reel.field("qpos")[:].tobytes())
                assert len(reel) in (caught.value.step, caught.value.step + 1)
        found.append((caught.value.step, str(caught.value), frames))
    assert found[0] == found[1]


@pytest.mark.parametrize("is_recorded", [False, True])
def test_an_error_of_mujoco_within_a_block_comes_at_its_step(tmp_path, is_recorded) -> None:
    # The arena runs out when the balls have fallen.
    xml = '<mujoco><size memory="64K"/><worldbody><geom type="plane" size="1 1 .1"/>'
    xml += "".join(f'<body pos="{x} 0 .25"><freejoint/><geom size=".1"/></body>' for x in np.arange(20) / 5)
    found = []
    for step in (one_by_one, all_at_once):
        scene = sr.Scene.from_mujoco(mujoco.MjModel.from_xml_string(xml + "</worldbody></mujoco>"))
        path = tmp_path / f"{step.__name__}.reel"
        if is_recorded:
            scene.start_recording(TrajectoryFile(path))
        scene.build()
        with pytest.raises(mujoco.FatalError):
            step(scene, 300)
        found.append((scene.step_count, scene.data.qpos.tobytes()))
        scene.stop_recording()
    assert found[0] == found[1]
    assert found[0][0] > 10


def test_a_callback_in_python_is_called_at_each_step(tmp_path) -> None:
    scene = sr.Scene.from_mujoco(model())
    scene.start_recording(TrajectoryFile(tmp_path / "run.reel"))
    scene.build()
    calls = []
    scene.step(2)
    mujoco.set_mjcb_control(lambda m, d: calls.append(d.time))
    try:
        scene.step(20)
    finally:
        mujoco.set_mjcb_control(None)
    scene.stop_recording()
    assert len(set(calls)) == 20


def test_an_error_of_a_callback_comes_at_its_step_and_each_call_once() -> None:
    found = []
    for step in (one_by_one, all_at_once):
        scene = sr.Scene.from_mujoco(model())
        scene.build()
        calls = []

        def control(m, d, calls=calls):
            calls.append(d.time)
            if len(calls) == 6:
                raise ValueError("no")

        mujoco.set_mjcb_control(control)
        try:
            with pytest.raises(ValueError, match="no"):
                step(scene, 20)
        finally:
            mujoco.set_mjcb_control(None)
        found.append((scene.step_count, calls, scene.data.qpos.tobytes()))
    assert found[0] == found[1]


def test_warnings_of_a_block_that_was_refused_are_not_counted_twice() -> None:
    found = []
    for step in (one_by_one, all_at_once):
        scene = sr.Scene.from_mujoco(mujoco.MjModel.from_xml_string(ARM_THAT_SPEEDS_UP))
        scene.build()
        scene.data.qvel[:] = 1e6
        with pytest.raises(UnstableError):
            step(scene, 5000)
        warning = scene.data.warning
        found.append((warning.number.tolist(), warning.lastinfo.tolist()))
    assert found[0] == found[1]
    assert sum(found[0][0]) == 1


def test_an_edit_of_the_model_holds_in_the_next_block(tmp_path) -> None:
    ends = []
    for step in (one_by_one, all_at_once):
        scene = sr.Scene.from_mujoco(model())
        scene.start_recording(TrajectoryFile(tmp_path / f"{step.__name__}.reel"))
        scene.build()
        step(scene, 30)
        with scene.edit_model() as edited:
            edited.opt.gravity[2] = 3
            edited.body_mass[2] = 5
        step(scene, 30)
        ends.append(scene.data.qpos.tobytes())
        scene.stop_recording()
    assert ends[0] == ends[1]


def test_ctrl_c_comes_soon_and_the_run_goes_on(tmp_path) -> None:
    scene = sr.Scene.from_mujoco(model())
    scene.start_recording(TrajectoryFile(tmp_path / "run.reel"))
    scene.build()
    scene.step(1000)
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        scene.step(10**8)
    timer.join()
    count = scene.step_count
    assert count > 1000
    scene.step(10)
    scene.stop_recording()
    with Reel.open(tmp_path / "run.reel") as reel:
        assert reel.field("step")[:].ravel().tolist() == list(range(count + 11))


def test_ctrl_c_between_a_block_and_the_file_loses_no_frame(tmp_path, monkeypatch) -> None:
    paths = [tmp_path / "plain.reel", tmp_path / "interrupted.reel"]
    for path in paths:
        scene = sr.Scene.from_mujoco(model())
        recorder = scene.start_recording(TrajectoryFile(path))
        scene.build()
        scene.step(3)
        writer = recorder._reels[0]
        interrupts = [0, 2, 5] if path.name == "interrupted.reel" else []

        def append(block, writer=writer, interrupts=interrupts, real=writer.append):
            if interrupts:
                real(block[: interrupts.pop()])
                raise KeyboardInterrupt
            real(block)

        monkeypatch.setattr(writer, "append", append)
        while scene.step_count < 40:
            try:
                scene.step(40 - scene.step_count)
            except KeyboardInterrupt:
                continue
        scene.stop_recording()
        assert not interrupts
    with Reel.open(paths[0]) as a, Reel.open(paths[1]) as b:
        assert b.field("step")[:].ravel().tolist() == list(range(41))
        assert a.field("qpos")[:].tobytes() == b.field("qpos")[:].tobytes()


def test_progress_is_told_within_many_steps() -> None:
    scene = sr.Scene.from_mujoco(model())
    scene.build()
    told = []
    scene.on_progress(lambda progress: told.append(progress.step))
    start = time.monotonic()
    while len(told) < 2 and time.monotonic() - start < 30:
        scene.step(1000)
    assert len(told) >= 2
