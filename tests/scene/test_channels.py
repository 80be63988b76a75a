"""What a scene's trajectories hold beside the state."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from simreel.errors import FieldError, OptionsError, SampleError, SceneStateError
from simreel.recorders import TrajectoryFile
from simreel.reel import Reel

if TYPE_CHECKING:
    import simreel as sr


@pytest.fixture
def arm(arm_scene, tmp_path: Path):
    """A scene with the arm that is being recorded, not built."""
    scene, arm = arm_scene()
    scene.start_recording(TrajectoryFile(tmp_path / "run.reel", chunk_size=4))
    yield scene, arm
    scene.stop_recording()


@pytest.fixture
def reel(tmp_path: Path):
    """Opens what was recorded."""
    opened = []

    def open_reel() -> Reel:
        opened.append(Reel.open(tmp_path / "run.reel"))
        return opened[-1]

    yield open_reel
    for each in opened:
        each.close()


def finish(scene: sr.Scene, steps: int) -> None:
    for _ in range(steps):
        scene.step()
    scene.stop_recording()


def test_a_channel_is_recorded_with_each_frame(arm, reel) -> None:
    scene, robot = arm
    seen = []
    scene.add_channel("tip", lambda: seen.append(robot.get_pos()) or seen[-1], unit="m", columns=["x", "y", "z"])
    scene.build()
    finish(scene, 10)
    assert reel().field("channel/tip")[:].tobytes() == np.array(seen).tobytes()
    assert reel().layout["channel/tip"].unit == "m"
    assert reel().meta["channels"] == [
        {"name": "tip", "unit": "m", "columns": ["x", "y", "z"], "dtype": "f8", "shape": [3]}
    ]


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (True, "bool"),
        (np.uint8(200), "u1"),
        (np.int8(-3), "i4"),
        (np.uint16(65535), "i4"),
        (np.uint32(2**32 - 1), "i8"),
        (2**53 + 1, "i8"),
        (np.float16(0.5), "f4"),
        (np.float32(0.1), "f4"),
        (-0.0, "f8"),
        (np.arange(6).reshape(2, 3), "i8"),
        (np.empty((0, 3)), "f8"),
        ([1.5, np.nan], "f8"),
    ],
    ids=repr,
)
def test_values_keep_their_bits(arm, reel, value, stored) -> None:
    scene, _ = arm
    # Beside another size, whose rows must stay aligned.
    scene.add_channel("flag", lambda: False)
    scene.add_channel("../x", lambda: value)
    scene.add_channel("π", lambda: 0.5)
    scene.build()
    finish(scene, 2)
    read = reel().field("channel/../x")[:]
    expected = np.broadcast_to(np.asarray(value).ravel(), (3, np.size(value)))
    assert np.array_equal(read, expected, equal_nan=True)
    assert np.array_equal(np.signbit(read.astype(float)), np.signbit(expected.astype(float)))
    meta = {channel["name"]: channel for channel in reel().meta["channels"]}
    assert list(meta) == ["flag", "../x", "π"]
    assert (meta["../x"]["dtype"], meta["../x"]["shape"]) == (stored, list(np.shape(value)))


@pytest.mark.parametrize(
    ("value", "match"),
    [
        ("walk", "str"),
        (None, "NoneType"),
        (1j, "complex128"),
        (np.uint64(3), "uint64"),
        ({"a": 1}, "add a channel for each key"),
    ],
    ids=repr,
)
def test_a_value_that_cannot_be_recorded_is_told_with_the_channel(arm, value, match) -> None:
    scene, _ = arm
    scene.add_channel("mode", lambda: value)
    scene.build()
    with pytest.raises(SampleError, match=match) as caught:
        scene.step()
    assert caught.value.key.startswith("mode")


def test_a_value_of_another_shape_ends_the_trajectory_with_the_frames_before(arm, reel) -> None:
    scene, _ = arm
    scene.add_channel("list", lambda: [0.0] * (1 + scene.step_count // 3))
    scene.build()
    with pytest.raises(SampleError, match=r"key 'list': shape \(2,\) returned"):
        finish(scene, 10)
    scene.stop_recording()
    assert len(reel()) == 3


def test_columns_have_a_name_for_each_value(arm) -> None:
    scene, robot = arm
    scene.add_channel("tip", robot.get_pos, columns=["x", "y"])
    scene.build()
    with pytest.raises(SampleError, match="key 'tip': 3 values returned, 2 are needed, one for each of its columns"):
        scene.step()


def test_a_function_is_called_once_a_frame(arm) -> None:
    scene, _ = arm
    calls = []
    scene.add_channel("n", lambda: calls.append(scene.step_count) or 0)
    scene.build()
    finish(scene, 5)
    assert calls == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (("", lambda: 1), "name = ''"),
        ((3, lambda: 1), "name = 3"),
        (("a", 1), "func = 1"),
        (("taken", lambda: 1), "another channel has that name"),
    ],
)
def test_a_mistake_in_a_channel_is_told(arm, arguments, match) -> None:
    scene, _ = arm
    scene.add_channel("taken", lambda: 1)
    with pytest.raises(OptionsError, match=match):
        scene.add_channel(*arguments)
    with pytest.raises(OptionsError, match="columns = 'xyz'"):
        scene.add_channel("b", lambda: 1, columns="xyz")


def test_a_channel_that_comes_too_late_is_told(arm) -> None:
    scene, _ = arm
    scene.build()
    scene.add_channel("early", lambda: 1)
    scene.step()
    with pytest.raises(SceneStateError, match=r"TrajectoryFile run\.reel is being recorded; add channels before"):
        scene.add_channel("late", lambda: 1)
    scene.stop_recording()
    scene.add_channel("late", lambda: 1)


def test_user_state_is_kept_at_the_first_frame_and_every_chunk(arm, reel) -> None:
    scene, _ = arm
    rng = np.random.default_rng(3)
    scene.add_state("rng", lambda: rng.bit_generator.state, lambda state: setattr(rng.bit_generator, "state", state))
    scene.add_channel("noise", rng.random)
    scene.build()
    finish(scene, 10)
    kept = [note for note in reel().notes if note.value["type"] == "state"]
    assert [note.frame for note in kept] == [0, 4, 8]
    noise = reel().field("channel/noise")[:].ravel()
    # The state of a frame is that after its channels were asked.
    scene._user_states.put(kept[1].value["values"], kept[1].arrays)
    assert rng.random() == noise[5]


def test_an_edit_holds_from_the_next_frame_on(arm, reel) -> None:
    scene, _ = arm
    scene.build()
    scene.step(3)
    with scene.edit_model() as model:
        model.body_mass[2] = 7.5
        model.opt.viscosity = 0.25
    finish(scene, 3)
    (parameters,) = reel().params
    assert (parameters.frame, parameters.value) == (3, {"from": 3, "uncertain": None})
    assert parameters.arrays["body_mass"][2] == 7.5
    assert parameters.arrays["opt.viscosity"] == 0.25


def test_an_edit_before_the_first_frame_is_in_the_model_of_the_file(arm, reel) -> None:
    scene, _ = arm
    scene.build()
    with scene.edit_model() as model:
        model.body_mass[2] = 7.5
    finish(scene, 3)
    assert len(reel().params) == 0


def test_an_edit_that_fails_halfway_is_recorded_as_far_as_it_went(arm, reel) -> None:
    scene, _ = arm
    scene.build()
    scene.step()

    def half_an_edit() -> None:
        with scene.edit_model() as model:
            model.body_mass[2] = 7.5
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half_an_edit()
    finish(scene, 2)
    assert [list(each.arrays) for each in reel().params] == [["body_mass"]]


def test_the_timestep_of_a_built_scene_stays(arm) -> None:
    scene, _ = arm
    scene.build()
    timestep = scene.model.opt.timestep
    with pytest.raises(FieldError, match=r"opt\.timestep"), scene.edit_model() as model:
        model.opt.timestep = 0.5
    assert scene.model.opt.timestep == timestep


def test_an_edit_needs_a_built_scene_of_a_model(arm) -> None:
    with pytest.raises(SceneStateError, match=r"edit_model.*not built"), arm[0].edit_model():
        pass


def test_setters_of_the_state_break_the_run_and_inputs_do_not(arm, reel) -> None:
    scene, robot = arm
    scene.build()
    robot.set_qpos(robot.get_qpos())
    scene.step(2)
    robot.set_ctrl(robot.get_ctrl())
    scene.step()
    robot.set_qvel(robot.get_qvel())
    robot.set_qpos(robot.get_qpos())
    finish(scene, 2)
    assert [(n.frame, n.value["reason"]) for n in reel().notes if n.value["type"] == "segment"] == [(3, "set_qvel")]


def test_another_state_that_is_put_there_starts_an_episode(arm, reel) -> None:
    scene, _ = arm
    scene.build()
    kept = np.empty(scene.engine.layout().row_bytes // 8)
    scene.step(5)
    scene.engine.read_state(kept)
    scene.step(2)
    scene._leave("seek")
    scene.engine.write_state(kept)
    scene._arrive(np.array([5]), np.array([0]))
    assert scene.step_count == 5
    finish(scene, 2)
    assert scene.step_count == 7
    assert reel().field("step")[:].ravel().tolist() == [*range(8), 5, 6, 7]
    assert reel().field("episode")[:].ravel().tolist() == [0] * 8 + [1] * 3
    assert reel().field("qpos")[8].tobytes() == reel().field("qpos")[5].tobytes()
    assert reel().field("qpos")[10].tobytes() == reel().field("qpos")[7].tobytes()
    assert [(n.frame, n.value["reason"]) for n in reel().notes if n.value["type"] == "segment"] == [(8, "seek")]


def test_a_stop_right_after_it_takes_nothing(arm, reel) -> None:
    scene, _ = arm
    scene.build()
    scene.step(3)
    scene._leave("seek")
    scene._arrive(np.array([100]), np.array([0]))
    scene.stop_recording()
    assert reel().field("step")[:].ravel().tolist() == [0, 1, 2, 3]
