"""How recordings start and end."""

from __future__ import annotations

import gc
import logging
import weakref
from pathlib import Path

import pytest

import simreel as sr
from simreel.errors import (
    DuplicateTargetError,
    OptionsError,
    RecorderError,
    TargetExistsError,
)


@pytest.mark.parametrize("data_func", [None, 3, "qpos"])
def test_a_data_function_that_cannot_be_called_is_refused(tmp_path: Path, data_func: object, arm_scene) -> None:
    scene, _ = arm_scene()
    with pytest.raises(OptionsError, match="NPZFile needs a function"):
        scene.start_recording(data_func, sr.recorders.NPZFile(tmp_path / "q.npz"))


def test_missing_options_are_told(arm_scene) -> None:
    scene, arm = arm_scene()
    with pytest.raises(OptionsError, match="rec_options is missing"):
        scene.start_recording(arm.get_qpos)


def test_recording_is_started_by_position_by_keyword_and_by_its_other_name(tmp_path: Path, arm_scene, steps_in) -> None:
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


def test_one_file_is_recorded_by_one_recorder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arm_scene) -> None:
    monkeypatch.chdir(tmp_path)
    scene, arm = arm_scene()
    scene.start_recording(arm.get_qpos, sr.recorders.NPZFile("q.npz"))
    with pytest.raises(DuplicateTargetError, match=r"q\.npz"):
        scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "sub" / ".." / "q.npz"))
    scene.stop_recording()


def test_a_mistake_at_the_start_leaves_nothing_on_disk(tmp_path: Path, arm_scene) -> None:
    (tmp_path / "q.npz").write_bytes(b"mine")
    scene, arm = arm_scene()
    with pytest.raises(TargetExistsError, match="overwrite"):
        scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz"))
    assert [path.name for path in tmp_path.iterdir()] == ["q.npz"]
    assert (tmp_path / "q.npz").read_bytes() == b"mine"


def test_a_recording_block_ends_with_the_state_that_stands(tmp_path: Path, arm_scene, steps_in) -> None:
    scene, arm = arm_scene()
    scene.build()
    with scene.recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz")) as recorder:
        scene.step(5)
    assert not recorder.is_alive
    scene.step(5)
    assert steps_in(tmp_path / "q.npz") == [0, 1, 2, 3, 4, 5]


def test_an_error_in_a_with_block_comes_through_and_files_are_whole(tmp_path: Path, arm_scene, steps_in) -> None:
    scene, arm = arm_scene()
    scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz"))
    scene.build()
    scene.step(3)
    with pytest.raises(ZeroDivisionError), scene:
        1 / 0  # noqa: B018
    assert steps_in(tmp_path / "q.npz") == [0, 1, 2, 3]


def test_an_error_of_the_user_goes_before_one_of_closing(tmp_path: Path, arm_scene) -> None:
    scene, arm = arm_scene()
    scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz"))
    scene.build()
    scene.step()
    scene.start_recording(lambda: 1 / 0, sr.recorders.NPZFile(tmp_path / "never.npz"))
    with pytest.raises(ZeroDivisionError) as caught, scene:
        1 / 0  # noqa: B018
    assert "never.npz" in caught.value.__notes__[0]


def test_an_error_at_open_lets_build_be_called_again(tmp_path: Path, arm_scene, steps_in) -> None:
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


def test_a_recorder_that_ends_lets_the_step_and_the_others_go_on(tmp_path: Path, arm_scene, steps_in) -> None:
    scene, arm = arm_scene()

    def fails_at_3() -> object:
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


def test_a_stopped_recorder_keeps_no_scene_alive(tmp_path: Path, arm_scene, qpos_of) -> None:
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


def test_a_forgotten_scene_closes_its_files_and_names_them(tmp_path: Path, arm_scene, steps_in, qpos_of) -> None:
    scene, arm = arm_scene()
    scene.start_recording(qpos_of(scene, arm), sr.recorders.NPZFile(tmp_path / "q.npz"))
    scene.build()
    scene.step(3)
    del scene, arm
    with pytest.warns(sr.SimreelWarning, match=r"q\.npz"):
        gc.collect()
    assert steps_in(tmp_path / "q.npz") == [0, 1, 2]


def test_a_summary_line_tells_the_counts(tmp_path: Path, caplog: pytest.LogCaptureFixture, arm_scene) -> None:
    scene, arm = arm_scene()
    scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(tmp_path / "q.npz"))
    scene.build()
    scene.step(1000)
    with caplog.at_level(logging.INFO, "simreel"):
        scene.stop_recording()
    assert [record.getMessage() for record in caplog.records] == ["NPZFile q.npz: 1001 samples, 0 dropped, 56 kB"]
