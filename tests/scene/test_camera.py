from __future__ import annotations

import errno
import os
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

import simreel as sr
from simreel.errors import (
    FieldError,
    OptionsError,
    SceneStateError,
    TargetError,
    TargetExistsError,
    UnknownNameError,
)
from simreel.recorders.growing import GrowingFile

pytestmark = pytest.mark.usefixtures("schematic")


def filmed(dt: float = 0.01, n_envs: int = 0, res: tuple[int, int] = (48, 32)):
    scene = sr.Scene(sr.SimOptions(dt=dt))
    robot = scene.add_entity(sr.morphs.MJCF(sr.models.path("quadruped")))
    camera = scene.add_camera(res=res, pos=(1.2, 1.2, 0.8), lookat=(0, 0, 0.2))
    scene.build(n_envs)
    return scene, robot, camera


def times(path: Path) -> list[Fraction]:
    with av.open(str(path)) as container:
        return [frame.pts * frame.time_base for frame in container.decode(video=0)]


def test_pictures_come_in_the_order_of_the_arguments() -> None:
    _, _, camera = filmed()
    rgb = camera.render()
    assert (rgb.shape, rgb.dtype) == ((32, 48, 3), np.uint8)
    pictures = camera.render(rgb=True, depth=True, segmentation=True)
    assert [(p.shape, str(p.dtype)) for p in pictures] == [
        ((32, 48, 3), "uint8"),
        ((32, 48), "float32"),
        ((32, 48, 2), "int32"),
    ]
    depth = camera.render(rgb=False, depth=True)
    np.testing.assert_array_equal(depth, pictures[1])


def test_a_picture_is_of_the_state_that_stands() -> None:
    scene, robot, camera = filmed()
    before = camera.render()
    np.testing.assert_array_equal(camera.render(), before)
    qpos = robot.get_qpos()
    qpos[0] += 0.2
    robot.set_qpos(qpos)
    assert not np.array_equal(camera.render(), before)
    scene.reset()
    np.testing.assert_array_equal(camera.render(), before)


def test_rendering_changes_no_bit_of_the_run() -> None:
    runs = []
    for watched in (False, True):
        scene, robot, camera = filmed()
        for k in range(50):
            robot.set_ctrl(np.sin(k / 5 + np.arange(12)))
            if watched and k % 7 == 0:
                camera.render()
            scene.step()
        runs.append(scene.data.qpos.tobytes() + scene.data.qvel.tobytes())
    assert runs[0] == runs[1]


def test_worlds_are_drawn_one_at_a_time() -> None:
    _, robot, camera = filmed(n_envs=3)
    qpos = robot.get_qpos()
    qpos[1, 2] += 0.3
    robot.set_qpos(qpos)
    first, second, third = (camera.render(env=world) for world in range(3))
    np.testing.assert_array_equal(first, third)
    assert not np.array_equal(first, second)
    for world in (3, -1):
        with pytest.raises(FieldError, match=f"env: {world} given, a world from 0 to 2"):
            camera.render(env=world)
    for world in (True, 1.5, "a", None):
        with pytest.raises(FieldError, match=f"env: {world!r} given, the number of a world"):
            camera.render(env=world)


def test_a_scene_of_one_world_has_no_other() -> None:
    _, _, camera = filmed()
    with pytest.raises(FieldError, match="env: 1 given"):
        camera.render(env=1)


def test_a_camera_of_a_scene_that_is_not_built_says_so() -> None:
    scene = sr.Scene()
    camera = scene.add_camera()
    with pytest.raises(SceneStateError, match=r"call scene\.build\(\) first"):
        camera.render()


def test_names_of_cameras_are_given_or_made_and_are_unique() -> None:
    scene = sr.Scene()
    names = [scene.add_camera().name, scene.add_camera().name, scene.add_camera("side").name]
    assert names == ["camera", "camera_2", "side"]
    assert [camera.name for camera in scene.cameras] == names
    assert scene.camera("side") is scene.cameras[2]
    with pytest.raises(OptionsError, match="'side'"):
        scene.add_camera("side")


def test_a_camera_of_the_model_is_found_by_its_name() -> None:
    scene, _, _ = filmed()
    camera = scene.camera("side")
    assert camera is scene.camera("side")
    assert camera.res == (640, 480)
    assert scene.cameras == (scene.camera("camera"),)
    with pytest.raises(UnknownNameError, match=r"'camera', 'side'.* Did you mean 'side'"):
        scene.camera("sid")


def test_a_camera_without_a_name_is_not_found_by_none() -> None:
    scene = sr.Scene()
    scene.add_entity(sr.morphs.MJCF("<mujoco><worldbody><camera/><camera name='b'/></worldbody></mujoco>"))
    scene.build()
    for name in ("", 0, None, []):
        with pytest.raises(UnknownNameError, match="there are: 'b'"):
            scene.camera(name)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"res": (0, 10)}, "res = "),
        ({"fov": 180}, "fov = "),
        ({"fov": "x"}, "fov = 'x'"),
        ({"pos": (1, 2)}, "pos = "),
        ({"pos": (0, 0, 0.5)}, "lookat = "),
        ({"body": 1.5}, "body = 1.5"),
        ({"name": 5}, "name = 5"),
    ],
)
def test_a_wrong_view_is_named(options: dict[str, object], told: str) -> None:
    with pytest.raises(OptionsError, match=f"^add_camera: {told}"):
        sr.Scene().add_camera(**options)


def test_the_first_picture_of_each_step_is_a_frame(tmp_path: Path) -> None:
    scene, _, camera = filmed()
    camera.start_recording()
    for _ in range(5):
        camera.render()
        camera.render(depth=True)
        camera.render(rgb=False, depth=True)
        scene.step()
    camera.stop_recording(tmp_path / "run.mp4", fps=30)
    assert times(tmp_path / "run.mp4") == [Fraction(i, 30) for i in range(5)]


@pytest.mark.parametrize("start", [0, 1, 2, 3])
def test_a_span_gives_the_same_number_of_frames_wherever_it_starts(tmp_path: Path, start: int) -> None:
    scene, _, camera = filmed()
    scene.step(start)
    camera.start_recording(fps=25)
    for _ in range(16):
        camera.render()
        scene.step()
    camera.stop_recording(tmp_path / "run.mp4")
    assert times(tmp_path / "run.mp4") == [Fraction(i, 25) for i in range(4)]


def test_pause_resets_and_steps_that_are_left_out_are_no_frames(tmp_path: Path) -> None:
    scene, _, camera = filmed()
    camera.start_recording(fps=50)
    for step in range(12):
        if step == 4:
            camera.pause_recording()
            assert not camera.is_recording
        if step == 8:
            camera.resume_recording()
        if step != 10:
            camera.render()
        scene.step()
    scene.reset()
    camera.render()
    camera.stop_recording(tmp_path / "run.mp4")
    # Steps 0, 2, 8, 11 for the 10 that was left out, and 0 of the next episode.
    assert len(times(tmp_path / "run.mp4")) == 5


@pytest.mark.parametrize(
    ("name", "start", "save", "fps"),
    [
        ("a.mp4", None, None, Fraction(60)),
        ("a.mp4", 25, None, Fraction(25)),
        ("a.mp4", 50, 29.97, Fraction(30000, 1001)),
        ("a.mkv", None, 20, Fraction(20)),
        ("a.webm", None, 25, Fraction(25)),
        ("a.gif", None, 20, Fraction(20)),
    ],
)
def test_a_clip_is_saved_in_any_container_at_any_rate(
    tmp_path: Path, name: str, start: float | None, save: float | None, fps: Fraction
) -> None:
    scene, _, camera = filmed(res=(49, 33))
    camera.start_recording(start)
    for _ in range(12):
        camera.render()
        scene.step()
    is_padded = name.endswith(("mp4", "mkv"))
    told = pytest.warns(sr.SimreelWarning, match="49 x 33 are padded to 50 x 34") if is_padded else nullcontext()
    with told:
        camera.stop_recording(tmp_path / "new" / name, save)
    found = times(tmp_path / "new" / name)
    assert len(found) == {None: 12, 25: 3, 50: 6}[start]
    tolerance = {".mp4": 0, ".mkv": Fraction(1, 2000), ".webm": Fraction(1, 2000), ".gif": Fraction(1, 200)}
    for i, time in enumerate(found):
        assert abs(time - i / fps) <= tolerance[Path(name).suffix]
    with av.open(str(tmp_path / "new" / name)) as container:
        size = (container.streams.video[0].width, container.streams.video[0].height)
    assert size == ((50, 34) if is_padded else (49, 33))


def test_a_target_that_exists_is_kept_and_the_recording_goes_on(tmp_path: Path) -> None:
    (tmp_path / "run.mp4").write_bytes(b"mine")
    scene, _, camera = filmed()
    camera.start_recording()
    camera.render()
    with pytest.raises(TargetExistsError, match="overwrite"):
        camera.stop_recording(tmp_path / "run.mp4")
    with pytest.raises(OptionsError, match=r"\.mpx"):
        camera.stop_recording(tmp_path / "run.mpx")
    scene.step()
    camera.render()
    camera.stop_recording(tmp_path / "other.mp4")
    assert len(times(tmp_path / "other.mp4")) == 2
    assert (tmp_path / "run.mp4").read_bytes() == b"mine"


@pytest.mark.parametrize(
    ("name", "fps", "error", "told"),
    [
        ("x" * 300 + ".mp4", None, TargetError, "too long"),
        ("file/a.mp4", None, TargetError, "is not a folder"),
        ("a.mp4", 1e300, OptionsError, r"stop_recording: fps = 1e\+300"),
        ("a.gif", None, OptionsError, "stop_recording: fps: .* at most 50 .* not 60; give fps=50 or less"),
        ("a\0.mp4", None, OptionsError, "stop_recording: save_to_filename = "),
    ],
)
def test_where_no_file_can_be_made_the_recording_goes_on(
    tmp_path: Path, name: str, fps: float | None, error: type, told: str
) -> None:
    (tmp_path / "file").touch()
    scene, _, camera = filmed()
    camera.start_recording()
    camera.render()
    with pytest.raises(error, match=told):
        camera.stop_recording(tmp_path / name, fps)
    scene.step()
    camera.render()
    camera.stop_recording(tmp_path / "a.mp4")
    assert len(times(tmp_path / "a.mp4")) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.mp4", "file"]


def test_a_folder_that_turns_out_not_to_be_writable_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene, _, camera = filmed()
    camera.start_recording()
    camera.render()

    def refuse(target: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(target))

    with monkeypatch.context() as patch:
        patch.setattr("simreel.scene.clip.provisional", refuse)
        with pytest.raises(TargetError, match=r"Permission denied\); the recording goes on"):
            camera.stop_recording(tmp_path / "a.mp4")
    scene.step()
    camera.render()
    camera.stop_recording(tmp_path / "a.mp4")
    assert len(times(tmp_path / "a.mp4")) == 2


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv", "a.webm", "a.gif"])
def test_a_disk_that_fills_up_at_the_end_costs_no_frame(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    scene, _, camera = filmed()
    camera.start_recording(fps=50)
    for _ in range(4):
        camera.render()
        scene.step(2)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("simreel.scene.clip.sync", full)
        with pytest.raises(TargetError, match=r"No space left on device\); its frames are kept"):
            camera.stop_recording(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    assert not camera.is_recording
    assert camera.render().shape == (32, 48, 3)
    camera.stop_recording(tmp_path / name)
    assert len(times(tmp_path / name)) == 4
    camera.start_recording()
    camera.render()
    camera.stop_recording(tmp_path / "next.mp4")


def test_a_file_system_without_hard_links_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, camera = filmed()

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    camera.start_recording()
    camera.render()
    camera.stop_recording(tmp_path / "a.mp4")
    assert len(times(tmp_path / "a.mp4")) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.mp4"]


@pytest.mark.parametrize("room", [100, 20_000])
@pytest.mark.parametrize("name", ["a.mp4", "a.webm"])
def test_after_an_error_of_encoding_the_frames_before_are_saved_and_the_camera_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int, name: str
) -> None:
    scene, robot, camera = filmed()
    write = GrowingFile.write

    def limited(self: GrowingFile, data: bytes) -> int:
        if self.size + len(data) > room:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(self, data)

    camera.start_recording()
    with monkeypatch.context() as patch:
        patch.setattr(GrowingFile, "write", limited)
        with pytest.raises(TargetError, match="No space left on device"):  # noqa: PT012 - which frame it is told at
            while True:
                robot.set_ctrl(np.sin(scene.step_count / 5 + np.arange(12)))
                camera.render()
                scene.step()
    with pytest.raises(TargetError, match="No space left on device"):
        camera.stop_recording(tmp_path / name)
    assert not camera.is_recording
    assert (tmp_path / name).exists() == (room > 1000)
    assert room < 1000 or len(times(tmp_path / name)) >= 10
    camera.start_recording()
    camera.render()
    camera.stop_recording(tmp_path / "next.mp4")
    assert len(times(tmp_path / "next.mp4")) == 1


def test_a_rate_that_is_asked_for_before_build_is_of_the_built_scene(tmp_path: Path) -> None:
    scene = sr.Scene()
    camera = scene.add_camera(res=(48, 32))
    camera.start_recording(fps=25)
    model = "<mujoco><option timestep='0.01'/><worldbody><geom size='.1'/></worldbody></mujoco>"
    scene.add_entity(sr.morphs.MJCF(model))
    scene.build()
    for _ in range(16):
        camera.render()
        scene.step()
    camera.stop_recording(tmp_path / "run.mp4")
    assert times(tmp_path / "run.mp4") == [Fraction(i, 25) for i in range(4)]


def test_a_rate_that_does_not_divide_the_steps_is_told_by_its_name(tmp_path: Path) -> None:
    _, _, camera = filmed()
    camera.start_recording(fps=30)
    with pytest.warns(sr.SimreelWarning, match="camera 'camera': fps=30 does not divide") as told:
        camera.render()
    assert told[0].filename == __file__
    camera.stop_recording(tmp_path / "run.mp4")


def test_a_clip_without_a_frame_is_told_and_makes_no_file(tmp_path: Path) -> None:
    _, _, camera = filmed()
    camera.start_recording()
    with pytest.warns(sr.SimreelWarning, match="no frame"):
        camera.stop_recording(tmp_path / "run.mp4")
    assert list(tmp_path.iterdir()) == []


def test_calls_out_of_turn_are_told(tmp_path: Path) -> None:
    _, _, camera = filmed()
    for call in (camera.pause_recording, camera.resume_recording, lambda: camera.stop_recording(tmp_path / "a.mp4")):
        with pytest.raises(SceneStateError, match="does not record"):
            call()
    camera.start_recording()
    with pytest.raises(SceneStateError, match="records already"):
        camera.start_recording()
    camera.render()
    camera.stop_recording(tmp_path / "a.mp4")


@pytest.mark.parametrize("fps", [0, -1, float("nan"), float("inf"), "3", [1]])
def test_a_wrong_rate_is_named(tmp_path: Path, fps: float) -> None:
    _, _, camera = filmed()
    with pytest.raises(OptionsError, match="start_recording: fps"):
        camera.start_recording(fps)
    camera.start_recording()
    with pytest.raises(OptionsError, match="stop_recording: fps"):
        camera.stop_recording(tmp_path / "a.mp4", fps)


def test_a_video_of_a_camera_is_recorded_as_any_other_data(tmp_path: Path) -> None:
    scene, _, camera = filmed()
    scene.start_recording(camera.render, sr.recorders.VideoFile(tmp_path / "run.mp4", hz=25))
    scene.step(16)
    scene.stop_recording()
    assert times(tmp_path / "run.mp4") == [Fraction(i, 25) for i in range(5)]


def test_chosen_worlds_are_filmed_each_to_its_own_file(tmp_path: Path) -> None:
    scene, robot, camera = filmed(n_envs=4)
    qpos = robot.get_qpos()
    qpos[2, 2] += 0.3
    robot.set_qpos(qpos)
    scene.start_recording(camera.render, sr.recorders.VideoFile(tmp_path / "run.mp4", hz=25, worlds=[0, 2]))
    scene.step(4)
    scene.stop_recording()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run_w0.mp4", "run_w2.mp4"]
    frames = []
    for path in sorted(tmp_path.iterdir()):
        with av.open(str(path)) as container:
            frames.append(next(container.decode(video=0)).to_ndarray(format="rgb24").astype(int))
    assert np.abs(frames[0] - frames[1]).mean() > 1


@pytest.mark.parametrize("worlds", [[1, 0], [0, 1], [2, 0], [2, 0, 1]])
def test_each_file_has_its_world_whatever_the_order(tmp_path: Path, worlds: list[int]) -> None:
    scene, robot, camera = filmed(n_envs=max(worlds) + 1)
    qpos = robot.get_qpos()
    qpos[:, 2] += 0.2 * np.arange(len(qpos))
    robot.set_qpos(qpos)
    expected = {world: camera.render(env=world).astype(int) for world in worlds}
    scene.start_recording(camera.render, sr.recorders.VideoFile(tmp_path / "run.mp4", worlds=worlds, crf=10))
    scene.stop_recording()
    for world in worlds:
        with av.open(str(tmp_path / f"run_w{world}.mp4")) as container:
            frame = next(container.decode(video=0)).to_ndarray(format="rgb24")
        differences = {other: np.abs(frame - picture).mean() for other, picture in expected.items()}
        assert min(differences, key=differences.__getitem__) == world
