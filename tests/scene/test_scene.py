from __future__ import annotations

import gc
import logging
import warnings
import weakref
from pathlib import Path

import mujoco
import numpy as np
import pytest

import simreel as sr
from simreel.errors import (
    DuplicateTargetError,
    OptionsError,
    RecorderError,
    SceneStateError,
    TargetExistsError,
    UnstableError,
)


def arm_scene(dt: float | None = None, **options: object) -> tuple[sr.Scene, object]:
    scene = sr.Scene(sr.SimOptions(dt=dt, **options))
    return scene, scene.add_entity(sr.morphs.MJCF(sr.models.path("arm")))


def qpos_of(scene: sr.Scene, arm: object) -> object:
    """A data function that refers to its scene, as most do."""
    return lambda: arm.get_qpos() * scene.dt


def steps_in(path: Path) -> list[int]:
    with np.load(path) as file:
        return file["step"].tolist()


def test_a_thousand_steps_at_half_their_rate_give_501_rows(tmp_path: Path) -> None:
    scene, arm = arm_scene(dt=0.01)
    scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz", hz=50))
    scene.build()
    scene.step(1000)
    scene.stop_recording()
    with np.load(tmp_path / "q.npz") as file:
        assert file["timestamp"].tolist() == [k * 0.01 for k in range(0, 1001, 2)]
        assert file["data"].shape == (501, 7)


def test_seven_steps_at_half_their_rate_give_four_rows(tmp_path: Path) -> None:
    scene, arm = arm_scene(dt=0.01)
    scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz", hz=50))
    scene.build()
    scene.step(7)
    scene.stop_recording()
    assert steps_in(tmp_path / "q.npz") == [0, 2, 4, 6]


def test_a_rate_that_does_not_divide_the_steps_warns_once_with_the_rate_that_results(tmp_path: Path) -> None:
    scene, arm = arm_scene(dt=0.01)
    with pytest.warns(sr.SimreelWarning, match=r"hz=30 .* 33\.3333 Hz") as caught:
        scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz", hz=30))
    assert len(caught) == 1
    scene.build()
    scene.step(9)
    scene.stop_recording()
    assert steps_in(tmp_path / "q.npz") == [0, 3, 6, 9]


def test_the_warning_of_a_rate_points_to_the_line_of_the_user(tmp_path: Path) -> None:
    scene, arm = arm_scene(dt=0.01)
    with pytest.warns(sr.SimreelWarning) as caught:
        scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz", hz=30))
    assert caught[0].filename == __file__


def test_a_sample_holds_the_state_that_its_step_starts_from_and_the_inputs_it_consumes(tmp_path: Path) -> None:
    scene, arm = arm_scene()
    scene.start_recording(
        lambda: {"qpos": arm.get_qpos(), "ctrl": arm.get_ctrl()}, sr.recorders.NPZFile(tmp_path / "run.npz")
    )
    scene.build()
    states, controls = [], []
    for k in range(20):
        arm.set_ctrl(np.full(7, k / 10))
        states.append(arm.get_qpos())
        controls.append(arm.get_ctrl())
        scene.step()
    states.append(arm.get_qpos())
    controls.append(arm.get_ctrl())
    scene.stop_recording()
    with np.load(tmp_path / "run.npz") as file:
        np.testing.assert_array_equal(file["qpos"], states)
        np.testing.assert_array_equal(file["ctrl"], controls)


def test_poses_in_a_sample_are_those_of_its_qpos(tmp_path: Path) -> None:
    scene, arm = arm_scene()
    scene.build()
    scene.start_recording(
        lambda: {"qpos": arm.get_qpos(), "xpos": scene.data.xpos}, sr.recorders.NPZFile(tmp_path / "run.npz", hz=100)
    )
    for k in range(33):
        arm.set_ctrl(np.sin(k + np.arange(7)))
        scene.step()
    scene.step(7)
    scene.stop_recording()
    data = mujoco.MjData(scene.model)
    with np.load(tmp_path / "run.npz") as file:
        assert file["step"].tolist() == list(range(0, 41, 5))
        for qpos, xpos in zip(file["qpos"], file["xpos"], strict=True):
            data.qpos[:] = qpos
            mujoco.mj_forward(scene.model, data)
            np.testing.assert_array_equal(xpos, data.xpos)


def test_recording_changes_no_bit_of_the_run(tmp_path: Path) -> None:
    runs = []
    for record in (False, True):
        scene = sr.Scene()
        quadruped = scene.add_entity(sr.morphs.MJCF(sr.models.path("quadruped")))
        if record:
            scene.start_recording(quadruped.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz", hz=100))
        scene.build()
        for k in range(300):
            quadruped.set_ctrl(np.sin(k / 20 + np.arange(12)))
            scene.step()
        scene.stop_recording()
        runs.append(scene.data.qpos.tobytes() + scene.data.qvel.tobytes())
    assert runs[0] == runs[1]


def test_times_are_steps_times_dt(tmp_path: Path) -> None:
    scene, _ = arm_scene(dt=0.1)
    scene.build()
    scene.step(3)
    assert (scene.step_count, scene.get_time()) == (3, 3 * 0.1)


@pytest.mark.parametrize(
    ("options", "dt", "timestep"),
    [
        ({}, 0.002, 0.002),
        ({"dt": 0.01}, 0.01, 0.01),
        ({"dt": 0.01, "substeps": 5}, 0.01, 0.002),
        ({"substeps": 5}, 0.01, 0.002),
    ],
)
def test_dt_is_that_of_a_step_and_substeps_divide_it(options: dict[str, float], dt: float, timestep: float) -> None:
    scene, _ = arm_scene(**options)
    assert scene.dt == pytest.approx(dt, rel=1e-15)
    scene.build()
    assert scene.dt == pytest.approx(dt, rel=1e-15)
    assert scene.model.opt.timestep == pytest.approx(timestep, rel=1e-15)


def test_from_mujoco_takes_data_as_it_is_and_reset_returns_to_it(tmp_path: Path) -> None:
    model = mujoco.MjModel.from_xml_path(str(sr.models.path("quadruped")))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    data.qpos[2] += 0.1
    given = data.qpos.copy()
    scene = sr.Scene.from_mujoco(model, data, substeps=4)
    assert scene.model is model
    assert scene.data is data
    assert scene.dt == 4 * model.opt.timestep
    scene.build()
    np.testing.assert_array_equal(data.qpos, given)
    scene.step(10)
    assert not np.array_equal(data.qpos, given)
    scene.reset()
    np.testing.assert_array_equal(data.qpos, given)
    assert scene.step_count == 0
    assert scene.entities == ()


def test_from_mujoco_makes_data_where_none_is_given() -> None:
    scene = sr.Scene.from_mujoco(mujoco.MjModel.from_xml_path(str(sr.models.path("arm"))))
    scene.build()
    scene.step()
    assert scene.data.time == scene.dt


@pytest.mark.parametrize("arguments", [("arm.xml",), (None, "data")])
def test_from_mujoco_names_what_is_no_model_or_data(arguments: tuple[object, ...]) -> None:
    if arguments[0] is None:
        arguments = (mujoco.MjModel.from_xml_string("<mujoco/>"), *arguments[1:])
    with pytest.raises(OptionsError, match=r"mujoco\.Mj(Model|Data) is needed"):
        sr.Scene.from_mujoco(*arguments)


@pytest.mark.parametrize(
    "call",
    [
        lambda scene: scene.step(),
        lambda scene: scene.step(3),
        lambda scene: scene.reset(),
        lambda scene: scene.refresh(),
        lambda scene: scene.model,
        lambda scene: scene.data,
        lambda scene: scene.engine,
        lambda scene: scene.entities[0].get_qpos(),
        lambda scene: scene.entities[0].set_ctrl([0]),
        lambda scene: scene.entities[0].joint_names,
    ],
)
def test_what_needs_a_built_scene_says_so(call: object) -> None:
    scene, _ = arm_scene()
    with pytest.raises(SceneStateError, match=r"call scene\.build\(\) first"):
        call(scene)


def test_what_comes_after_destroy_says_so(tmp_path: Path) -> None:
    scene, arm = arm_scene()
    scene.build()
    scene.destroy()
    scene.destroy()
    assert not scene.is_built
    for call in (
        scene.step,
        scene.reset,
        scene.build,
        lambda: scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz")),
    ):
        with pytest.raises(SceneStateError, match="destroyed"):
            call()


def test_building_twice_and_adding_too_late_are_errors() -> None:
    scene, _ = arm_scene()
    scene.build()
    with pytest.raises(SceneStateError, match="built already"):
        scene.build()
    with pytest.raises(SceneStateError, match="before build"):
        scene.add_entity(sr.morphs.Box((1, 1, 1)))


@pytest.mark.parametrize("n", [-1, 1.5, "3", None])
def test_a_wrong_number_of_steps_is_named(n: object) -> None:
    scene, _ = arm_scene()
    scene.build()
    with pytest.raises(OptionsError, match=r"step: n = "):
        scene.step(n)


def test_numpy_counts_of_steps_are_taken_and_zero_steps_do_nothing() -> None:
    scene, _ = arm_scene()
    scene.build()
    scene.step(np.int64(3))
    scene.step(0)
    assert scene.step_count == 3


def test_names_of_entities_are_given_or_made_and_are_unique() -> None:
    scene = sr.Scene()
    names = [
        scene.add_entity(sr.morphs.Box((1, 1, 1))).name,
        scene.add_entity(sr.morphs.Box((1, 1, 1))).name,
        scene.add_entity(sr.morphs.Box((1, 1, 1), name="crate")).name,
        scene.add_entity(sr.morphs.Box((1, 1, 1), name="crate"), name="other").name,
    ]
    assert names == ["box", "box_2", "crate", "other"]
    assert [entity.name for entity in scene.entities] == names
    with pytest.raises(OptionsError, match="'crate'"):
        scene.add_entity(sr.morphs.Sphere(0.1), name="crate")


def test_what_is_no_morph_is_refused() -> None:
    with pytest.raises(OptionsError, match=r"one of simreel\.morphs"):
        sr.Scene().add_entity("arm.xml")


@pytest.mark.parametrize("data_func", [None, 3, "qpos"])
def test_a_data_function_that_cannot_be_called_is_refused(tmp_path: Path, data_func: object) -> None:
    scene, _ = arm_scene()
    with pytest.raises(OptionsError, match="NPZFile needs a function"):
        scene.start_recording(data_func, sr.recorders.NPZFile(tmp_path / "q.npz"))


def test_missing_options_are_told() -> None:
    scene, arm = arm_scene()
    with pytest.raises(OptionsError, match="rec_options is missing"):
        scene.start_recording(arm.get_qpos)


def test_recording_is_started_by_position_by_keyword_and_by_its_other_name(tmp_path: Path) -> None:
    scene, arm = arm_scene()
    scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "a.npz"))
    scene.start_recording(data_func=arm.get_qpos, rec_options=sr.recorders.NPZFile(tmp_path / "b.npz"))
    scene.add_recorder(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "c.npz"))
    assert scene.is_recording
    scene.build()
    scene.step()
    scene.stop_recording()
    assert not scene.is_recording
    assert [steps_in(tmp_path / name) for name in ("a.npz", "b.npz", "c.npz")] == [[0, 1]] * 3


def test_one_file_is_recorded_by_one_recorder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scene, arm = arm_scene()
    scene.start_recording(arm.get_qpos, sr.recorders.NPZFile("q.npz"))
    with pytest.raises(DuplicateTargetError, match=r"q\.npz"):
        scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "sub" / ".." / "q.npz"))
    scene.stop_recording()


def test_a_mistake_at_the_start_leaves_nothing_on_disk(tmp_path: Path) -> None:
    (tmp_path / "q.npz").write_bytes(b"mine")
    scene, arm = arm_scene()
    with pytest.raises(TargetExistsError, match="overwrite"):
        scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz"))
    assert [path.name for path in tmp_path.iterdir()] == ["q.npz"]
    assert (tmp_path / "q.npz").read_bytes() == b"mine"


def test_a_recording_block_ends_with_the_state_that_stands(tmp_path: Path) -> None:
    scene, arm = arm_scene()
    scene.build()
    with scene.recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz")) as recorder:
        scene.step(5)
    assert not recorder.is_alive
    scene.step(5)
    assert steps_in(tmp_path / "q.npz") == [0, 1, 2, 3, 4, 5]


def test_an_error_in_a_with_block_comes_through_and_files_are_whole(tmp_path: Path) -> None:
    scene, arm = arm_scene()
    scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz"))
    scene.build()
    scene.step(3)
    with pytest.raises(ZeroDivisionError), scene:
        1 / 0  # noqa: B018
    assert steps_in(tmp_path / "q.npz") == [0, 1, 2, 3]


def test_an_error_of_the_user_goes_before_one_of_closing(tmp_path: Path) -> None:
    scene, arm = arm_scene()
    scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz"))
    scene.build()
    scene.step()
    scene.start_recording(lambda: 1 / 0, sr.recorders.NPZFile(tmp_path / "never.npz"))
    with pytest.raises(ZeroDivisionError) as caught, scene:
        1 / 0  # noqa: B018
    assert "never.npz" in caught.value.__notes__[0]


def test_episodes_are_numbered_and_the_clock_starts_anew(tmp_path: Path) -> None:
    scene, arm = arm_scene()
    scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz"))
    scene.build()
    scene.reset()
    scene.step(3)
    scene.reset()
    scene.reset()
    scene.step(2)
    scene.stop_recording()
    with np.load(tmp_path / "q.npz") as file:
        assert file["step"].tolist() == [0, 1, 2, 3, 0, 1, 2]
        assert file["episode"].tolist() == [0, 0, 0, 0, 1, 1, 1]


def test_a_stop_right_after_a_reset_takes_nothing(tmp_path: Path) -> None:
    scene, arm = arm_scene()
    scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz"))
    scene.build()
    scene.step(2)
    scene.reset()
    scene.stop_recording()
    assert steps_in(tmp_path / "q.npz") == [0, 1, 2]


def test_a_stop_before_any_step_takes_step_0(tmp_path: Path) -> None:
    scene, arm = arm_scene()
    scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz"))
    scene.build()
    scene.stop_recording()
    assert steps_in(tmp_path / "q.npz") == [0]


def test_a_file_for_each_episode(tmp_path: Path) -> None:
    scene, arm = arm_scene()
    scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz", save_on_reset=True))
    scene.start_recording(arm.get_qpos, sr.recorders.CSVFile(tmp_path / "q.csv", save_on_reset=True))
    scene.build()
    for n in (3, 1):
        scene.step(n)
        scene.reset()
        scene.reset()
    scene.stop_recording()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "q_0000.csv",
        "q_0000.npz",
        "q_0001.csv",
        "q_0001.npz",
    ]
    assert steps_in(tmp_path / "q_0000.npz") == [0, 1, 2, 3]
    assert steps_in(tmp_path / "q_0001.npz") == [0, 1]
    assert len((tmp_path / "q_0001.csv").read_text().splitlines()) == 3


def test_a_run_that_blows_up_keeps_its_good_samples_and_goes_on_after_a_reset(tmp_path: Path) -> None:
    scene, arm = arm_scene()
    recorder = scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz"))
    scene.build()
    scene.step(5)
    arm.set_qpos(np.full(7, np.nan))
    for _ in range(2):
        with pytest.raises(UnstableError, match="step 5") as caught:
            scene.step()
        assert caught.value.step == 5
    assert recorder.is_alive
    scene.reset()
    scene.step(2)
    scene.stop_recording()
    with np.load(tmp_path / "q.npz") as file:
        assert file["step"].tolist() == [0, 1, 2, 3, 4, 0, 1, 2]
        assert np.isfinite(file["data"]).all()


def test_an_error_at_open_lets_build_be_called_again(tmp_path: Path) -> None:
    scene, arm = arm_scene()
    scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "a.npz"))
    scene.start_recording(arm.get_qpos, sr.recorders.CSVFile(tmp_path / "b.csv"))
    (tmp_path / "b.csv").write_text("came in between")
    with pytest.raises(TargetExistsError, match=r"b\.csv"):
        scene.build()
    assert not scene.is_built
    assert [path.name for path in tmp_path.iterdir()] == ["b.csv"]
    scene.build()
    scene.step()
    scene.stop_recording()
    assert steps_in(tmp_path / "a.npz") == [0, 1]
    assert (tmp_path / "b.csv").read_text() == "came in between"


def test_a_recorder_that_ends_lets_the_step_and_the_others_go_on(tmp_path: Path) -> None:
    scene, arm = arm_scene()

    def fails_at_3() -> np.ndarray:
        return arm.get_qpos() if scene.step_count < 3 else 1 / 0

    scene.start_recording(fails_at_3, sr.recorders.NPZFile(tmp_path / "bad.npz"))
    scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "good.npz"))
    scene.build()
    raised = []
    for _ in range(6):
        try:
            scene.step()
        except RecorderError as error:
            raised.append(error)
    scene.stop_recording()
    assert scene.step_count == 6
    assert len(raised) == 1
    assert isinstance(raised[0].__cause__, ZeroDivisionError)
    assert "bad.npz" in str(raised[0])
    assert steps_in(tmp_path / "good.npz") == list(range(7))
    assert steps_in(tmp_path / "bad.npz") == [0, 1, 2]


def test_a_stopped_recorder_keeps_no_scene_alive(tmp_path: Path) -> None:
    scene, arm = arm_scene()
    recorder = scene.start_recording(qpos_of(scene, arm), sr.recorders.NPZFile(tmp_path / "q.npz"))
    scene.build()
    scene.step(3)
    scene.stop_recording()
    reference = weakref.ref(scene)
    del scene, arm
    gc.collect()
    assert reference() is None
    assert recorder.status.written == 4


def test_a_forgotten_scene_closes_its_files_and_names_them(tmp_path: Path) -> None:
    scene, arm = arm_scene()
    scene.start_recording(qpos_of(scene, arm), sr.recorders.NPZFile(tmp_path / "q.npz"))
    scene.build()
    scene.step(3)
    del scene, arm
    with pytest.warns(sr.SimreelWarning, match=r"q\.npz"):
        gc.collect()
    assert steps_in(tmp_path / "q.npz") == [0, 1, 2]


def test_a_summary_line_tells_the_counts(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    scene, arm = arm_scene()
    scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz"))
    scene.build()
    scene.step(1000)
    with caplog.at_level(logging.INFO, "simreel"):
        scene.stop_recording()
    assert [record.getMessage() for record in caplog.records] == ["NPZFile q.npz: 1001 samples, 0 dropped, 56 kB"]


def test_progress_is_told_at_most_twice_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("simreel.scene.progress.time.monotonic", lambda: now)
    scene, arm = arm_scene()
    scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz"))
    scene.build()
    told = []
    scene.on_progress(told.append)
    for _ in range(20):
        now += 0.11
        scene.step()
    scene.stop_recording()
    assert [progress.step for progress in told] == [5, 10, 15, 20]
    assert told[0].time == 5 * scene.dt
    ((name, status),) = told[-1].statuses
    assert (name, status.received) == ("NPZFile q.npz", 20)


def test_no_warning_comes_from_a_plain_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with sr.Scene() as scene:
            scene.add_entity(sr.morphs.Plane())
            quadruped = scene.add_entity(sr.morphs.MJCF(sr.models.path("quadruped"), prefix=""))
            scene.start_recording(quadruped.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz"))
            scene.build()
            scene.step(10)
    assert capfd.readouterr() == ("", "")
