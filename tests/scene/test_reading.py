from __future__ import annotations

import mujoco
import numpy as np
import pytest

import simreel as sr
from simreel.errors import UnstableError
from simreel.scene.reading import reads_state

MODEL = mujoco.MjModel.from_xml_path(str(sr.models.path("arm")))
data = mujoco.MjData(MODEL)
other = mujoco.MjData(MODEL)
qpos = data.qpos


class Robot:
    def get_qpos(self) -> np.ndarray:
        return data.qpos.copy()

    def get_pos(self) -> np.ndarray:
        return data.xpos[1]


robot = Robot()
OWNERS = [data, data.qpos, robot]


def of_closure():
    inner = data
    return lambda: inner.qpos


def of_unbound_closure():
    def read():
        return inner.qpos

    if not OWNERS:
        inner = data
    return read


def of_slice():
    return data.qpos[1:3]


READS = {
    "a field": lambda: data.qpos,
    "a copy": lambda: data.qpos.copy(),
    "a live array": lambda: qpos,
    "a part": lambda: data.qpos[2],
    "a slice": of_slice,
    "a closure": of_closure(),
    "a default": lambda given=data: given.qvel,
    "a dict": lambda: {"q": data.qpos, "u": data.ctrl, "t": data.time},
    "a tuple": lambda: (data.qpos, data.qvel),
    "a getter": lambda: robot.get_qpos(),
    "a bound getter": robot.get_qpos,
}


def stores():
    data.ctrl[:] = 0
    return data.qpos


def stores_in_place():
    q = data.qpos
    q += 1
    return q


OTHERS = {
    "a derived field": lambda: data.xpos,
    "both": lambda: {"q": data.qpos, "x": data.xpos},
    "a derived getter": lambda: robot.get_pos(),
    "a bound derived getter": robot.get_pos,
    "a call of numpy": lambda: np.copy(data.qpos),
    "another object": lambda: other.qpos,
    "an unbound name": of_unbound_closure(),
    "a name that is not there": lambda: nowhere.qpos,  # noqa: F821
    "a store": stores,
    "a store in place": stores_in_place,
    "an inner function": lambda: (lambda: data.xpos)(),
    "a list comprehension": lambda: [data.qpos[i] for i in (0, 1)],
    "an argument": lambda given=other: given.qpos,
    "no Python function": mujoco.mj_versionString,
    "an object": Robot,
}


@pytest.mark.parametrize("name", READS)
def test_a_function_that_reads_the_state_is_known(name: str) -> None:
    assert reads_state(READS[name], OWNERS)


@pytest.mark.parametrize("name", OTHERS)
def test_any_other_function_may_read_all_there_is(name: str) -> None:
    assert not reads_state(OTHERS[name], OWNERS)


def recorded(tmp_path, data_func, steps: int = 20) -> tuple[sr.Scene, np.ndarray]:
    scene = sr.Scene.from_mujoco(MODEL)
    arm = scene.data
    arm.qpos[:] = 0.3
    scene.start_recording(data_func(arm), sr.recorders.NPZFile(tmp_path / "a.npz", overwrite=True))
    scene.build()
    for _ in range(steps):
        scene.step()
    is_state = scene.recorder_manager.agenda.reads_state
    scene.stop_recording()
    with np.load(tmp_path / "a.npz") as file:
        return is_state, file["data"]


def test_the_state_is_recorded_the_same_with_and_without_the_split(tmp_path) -> None:
    is_state, plain = recorded(tmp_path, lambda arm: lambda: arm.qpos)
    is_split, split = recorded(tmp_path, lambda arm: lambda: np.array(arm.qpos))
    assert (is_state, is_split) == (True, False)
    assert plain.shape == (21, MODEL.nq)
    assert plain.tobytes() == split.tobytes()


def test_one_recorder_of_derived_quantities_splits_the_step_for_all(tmp_path) -> None:
    scene = sr.Scene.from_mujoco(MODEL)
    arm, checked = scene.data, mujoco.MjData(MODEL)
    arm.qpos[:] = 0.3
    scene.start_recording(lambda: arm.qpos, sr.recorders.NPZFile(tmp_path / "q.npz"))
    second = scene.start_recording(lambda: arm.xpos, sr.recorders.NPZFile(tmp_path / "x.npz"))
    scene.build()
    for _ in range(10):
        scene.step()
    second.stop()
    for _ in range(10):
        scene.step()
    assert scene.recorder_manager.agenda.reads_state
    scene.stop_recording()
    with np.load(tmp_path / "q.npz") as q, np.load(tmp_path / "x.npz") as x:
        assert (len(q["data"]), len(x["data"])) == (21, 11)
        for qpos, xpos in zip(q["data"], x["data"], strict=False):
            checked.qpos[:] = qpos
            mujoco.mj_kinematics(MODEL, checked)
            assert checked.xpos.tobytes() == xpos.tobytes()


@pytest.mark.parametrize("field", ["qpos", "qvel"])
def test_a_state_that_is_no_number_is_not_recorded(tmp_path, field: str) -> None:
    scene = sr.Scene.from_mujoco(MODEL)
    arm = scene.data
    scene.start_recording(lambda: arm.qpos, sr.recorders.NPZFile(tmp_path / "a.npz"))
    scene.build()
    for _ in range(5):
        scene.step()
    getattr(arm, field)[0] = np.nan
    with pytest.raises(UnstableError, match=field):
        scene.step()
    scene.stop_recording()
    with np.load(tmp_path / "a.npz") as file:
        assert len(file["data"]) == 5


def test_worlds_of_which_only_the_state_is_read_derive_nothing_for_it(tmp_path) -> None:
    scene = sr.Scene()
    arm = scene.add_entity(sr.morphs.MJCF(sr.models.path("arm")))
    scene.build(n_envs=3)
    scene.engine.array("xpos")
    qpos = scene.engine.array("qpos")
    for func in (lambda: arm.get_qpos(), arm.get_qvel, lambda: qpos):
        recorder = scene.start_recording(func, sr.recorders.NPZFile(tmp_path / "a.npz", overwrite=True))
        scene.step()
        assert scene.recorder_manager.agenda.reads_state
        recorder.stop()
