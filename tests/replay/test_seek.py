import json
import logging
import warnings

import mujoco
import numpy as np
import pytest

import simreel as sr
from simreel.errors import FieldError, FrameIndexError, SceneDiffersError, SimreelWarning
from simreel.replay import DataKind

SLEEPY = """<mujoco><option timestep="0.002"><flag sleep="enable"/></option><worldbody>
<geom type="plane" size="1 1 .1"/><body pos="0 0 .2"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
</worldbody></mujoco>"""


def test_from_a_frame_the_scene_steps_on_as_it_did(made, record, state):
    scene = made("arm")
    path = record(scene, 80, 40)
    with sr.Scene.load_trajectory(path) as traj:
        for first in (0, 17, 79, 81, 100):
            traj.seek(first)
            for frame in range(first + 1, traj.episodes[first > 80][1]):
                traj.scene.data.ctrl[:] = traj.frame(frame - 1)["ctrl"]
                traj.scene.data.xfrc_applied.flat = traj.frame(frame - 1)["xfrc_applied"]
                traj.scene.step()
                expected = traj.frame(frame, [DataKind.STATE, DataKind.WARMSTART])
                there = traj.scene.data
                assert there.qpos.tobytes() == expected["qpos"].tobytes(), frame
                assert there.qvel.tobytes() == expected["qvel"].tobytes(), frame
                assert there.qacc_warmstart.tobytes() == expected["warmstart"].tobytes(), frame


def test_a_frame_that_was_sought_is_the_frame_to_the_bit_and_so_are_its_poses(made, record, state):
    scene = made("arm")
    path = record(scene, 50)
    last, poses = state(scene), scene.data.xpos.copy()
    with sr.Scene.load_trajectory(path) as traj:
        traj.seek(-1)
        assert state(traj.scene).tobytes() == last.tobytes()
        scene.refresh()
        assert traj.scene.entities[0].get_pos().tobytes() == scene.entities[0].get_pos().tobytes()
        traj.seek(10)
        traj.seek(50)
        assert state(traj.scene).tobytes() == last.tobytes()
    assert not np.array_equal(poses, np.zeros_like(poses))


def test_the_clock_goes_on_from_the_frame(made, record):
    with sr.Scene.load_trajectory(record(made("arm"), 30, 5)) as traj:
        assert traj.episodes == [(0, 31), (31, 37)]
        for frame, step in ((0, 0), (30, 30), (31, 0), (34, 3), (-1, 5)):
            traj.seek(frame)
            assert traj.scene.step_count == step
            assert traj.scene.get_time() == traj.time(frame) == step * traj.dt
        traj.scene.step(4)
        assert traj.scene.step_count == 9


def test_each_world_goes_on_from_its_own_step(made, record, inputs, tmp_path, state):
    scene = made("arm", 4)
    scene.start_recording(sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel", exact=True))
    move = inputs(scene)
    for step in range(20):
        if step == 12:
            scene.reset(envs_idx=[1, 3])
        move.set(step)
        scene.step()
    scene.stop_recording()
    last = state(scene)
    with sr.Scene.load_trajectory(tmp_path / "run.reel") as traj:
        assert traj.episodes == [(0, 21)]
        traj.seek(15)
        assert traj.scene.step_count.tolist() == [15, 3, 15, 3]
        assert traj.time(15) == pytest.approx(np.array([15, 3, 15, 3]) * traj.dt)
        for frame in range(15, 20):
            traj.scene.engine.batch.bind("ctrl")[:] = traj.field("ctrl")[frame]
            traj.scene.engine.batch.bind("xfrc_applied")[:] = traj.field("xfrc_applied")[frame].reshape(4, -1, 6)
            traj.scene.step()
        assert state(traj.scene).tobytes() == last.tobytes()
        assert traj.scene.step_count.tolist() == [20, 8, 20, 8]


@pytest.mark.parametrize("n_envs", [0, 2])
def test_parameters_are_those_of_the_frame_backwards_too(made, tmp_path, n_envs):
    scene = made("arm", n_envs)
    heavy = scene.model.body_mass.copy()
    scene.start_recording(sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel", exact=True))
    scene.step(10)
    with scene.edit_model():
        scene.model.body_mass[2] *= 2
        scene.model.opt.gravity[2] = -1
    scene.step(10)
    with scene.edit_model():
        scene.model.body_mass[2] *= 2
    scene.step(10)
    scene.stop_recording()
    with sr.Scene.load_trajectory(tmp_path / "run.reel") as traj:
        model = traj.scene.model
        for frame, factor, gravity in (
            (25, 4, -1),
            (10, 2, -1),
            (19, 2, -1),
            (9, 1, -9.81),
            (20, 4, -1),
            (0, 1, -9.81),
        ):
            traj.seek(frame)
            assert model.body_mass[2] == heavy[2] * factor, frame
            assert model.opt.gravity[2] == gravity, frame
            info = traj.frame(frame, DataKind.INFO)
            assert info["body_mass"][2] == heavy[2] * factor
            assert traj.frame(frame, DataKind.CONFIG)["opt.gravity"][2] == gravity
        assert traj.verify().ok


def test_a_scene_that_records_ends_its_episode(made, record, tmp_path):
    path = record(made("arm"), 20)
    scene = made("arm")
    scene.start_recording(lambda: scene.data.time, sr.recorders.NPZFile(filename=tmp_path / "time.npz"))
    with sr.Scene.load_trajectory(path, scene) as traj:
        scene.step(3)
        traj.seek(10)
        scene.step(2)
        scene.stop_recording()
    with np.load(tmp_path / "time.npz") as run:
        assert run["episode"].tolist() == [0, 0, 0, 0, 1, 1, 1]
        assert run["step"].tolist() == [0, 1, 2, 3, 10, 11, 12]


def test_a_trajectory_of_a_scene_that_seeks_starts_a_segment(made, record, tmp_path):
    path = record(made("arm"), 20, name="first.reel")
    scene = made("arm")
    scene.start_recording(sr.recorders.TrajectoryFile(filename=tmp_path / "second.reel"))
    with sr.Scene.load_trajectory(path, scene) as traj:
        scene.step(3)
        traj.seek(10)
        scene.step(2)
        scene.stop_recording()
        expected = traj.frame(10)["qpos"]
    with sr.Scene.load_trajectory(tmp_path / "second.reel") as second:
        assert second.episodes == [(0, 4), (4, 7)]
        assert second.frame(4)["qpos"].tobytes() == expected.tobytes()
        report = second.verify()
        assert (report.ok, report.steps, report.unchecked) == (True, 5, ())


def test_user_state_comes_back_where_it_is_present(made, tmp_path):
    def watched(value):
        scene = made("arm")
        kept = {"count": value, "memory": np.arange(3.0) * value}
        scene.add_state("count", lambda: kept["count"], lambda count: kept.update(count=count))
        scene.add_state("memory", lambda: kept["memory"], lambda memory: kept.update(memory=memory))
        return scene, kept

    scene, kept = watched(7)
    scene.start_recording(sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel", chunk_size=8))
    for _ in range(30):
        kept["count"] += 1
        scene.step()
    scene.stop_recording()
    other, found = watched(0)
    with sr.Scene.load_trajectory(tmp_path / "run.reel", other) as traj:
        for frame in (16, 8, 0, 24):
            traj.seek(frame)
            assert found["count"] == 8 + frame
            assert found["memory"].tolist() == [0, 7, 14]
        traj.seek(20)
        assert found["count"] == 8 + 16
        traj.scene.step()
    with sr.Scene.load_trajectory(tmp_path / "run.reel") as traj:
        traj.seek(20)


def test_a_model_that_sleeps_warns_unless_an_episode_begins_there(tmp_path):
    scene = sr.Scene()
    scene.add_entity(sr.morphs.MJCF(file=SLEEPY))
    scene.start_recording(sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel"))
    scene.build()
    scene.step(1500)
    scene.reset()
    scene.step(10)
    scene.stop_recording()
    with sr.Scene.load_trajectory(tmp_path / "run.reel") as traj:
        traj.seek(0)
        traj.seek(1501)
        with pytest.warns(SimreelWarning, match="sleep"):
            traj.seek(700)
        report = traj.verify()
        assert (report.ok, report.steps, report.unchecked) == (True, 1510, ())


def test_a_compact_frame_has_the_positions_to_the_bit_and_says_once_that_no_more_is_promised(
    made, record, tmp_path, caplog
):
    scene = made("arm")
    scene.start_recording(sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel", exact=False))
    scene.step(50)
    scene.stop_recording()
    with caplog.at_level(logging.INFO, "simreel"), sr.Scene.load_trajectory(tmp_path / "run.reel") as traj:
        assert not traj.is_exact
        traj.seek(-1)
        traj.seek(-2)
        traj.seek(-1)
        assert traj.scene.data.qpos.tobytes() == scene.data.qpos.tobytes()
        assert not traj.scene.data.qacc_warmstart.any()
    assert caplog.text.count("is compact") == 1


@pytest.mark.parametrize(("t", "frame"), [(0, 0), (0.02, 10), (0.0209, 10), (0.0211, 11), (0.06, 30), (0.0599, 30)])
def test_a_time_is_found_in_the_first_episode(made, record, t, frame):
    with sr.Scene.load_trajectory(record(made("arm"), 30, 5)) as traj:
        assert traj.seek_time(t) == frame
        assert traj.scene.step_count == frame


def test_a_time_is_that_of_the_episode_of_the_last_seek(made, record):
    with sr.Scene.load_trajectory(record(made("arm"), 30, 20)) as traj:
        traj.seek(40)
        assert traj.seek_time(0.01) == 36
        with pytest.raises(FieldError, match=r"t = 0\.06 s.*frames 31 to 51 are from 0 to 0\.04 s"):
            traj.seek_time(0.06)
        with pytest.raises(FieldError, match="seek_time"):
            traj.seek_time(float("nan"))


def test_every_frame_of_a_slower_recording_is_found_by_its_time(made, record):
    with sr.Scene.load_trajectory(record(made("arm"), 33, hz=100)) as traj:
        assert (traj.stride, len(traj)) == (5, 8)
        times = [traj.time(i) for i in range(8)]
        assert times == pytest.approx([0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.066])
        assert [traj.seek_time(t) for t in times] == list(range(8))


def test_a_frame_that_is_not_there_leaves_the_scene_as_it_is(made, record, state):
    with sr.Scene.load_trajectory(record(made("arm"), 10)) as traj:
        traj.seek(5)
        before = state(traj.scene)
        for i in (11, -12):
            with pytest.raises(FrameIndexError, match=f"no frame {i}; its 11 frames"):
                traj.seek(i)
        assert state(traj.scene).tobytes() == before.tobytes()
        assert traj.scene.step_count == 5


def test_opening_builds_no_scene_and_neither_does_reading(made, record, monkeypatch):
    path = record(made("arm"), 10)
    monkeypatch.setattr("simreel.scene.description.scene_from", None)
    with sr.Scene.load_trajectory(path) as traj:
        assert len(traj.field("qpos")[2:5]) == 3
        assert traj.frame(3)["qpos"].shape == (7,)
        assert json.loads(json.dumps(traj.info()))["episodes"] == [[0, 11]]
        assert "11 frames" in repr(traj)


def test_the_scene_is_one_and_stays_when_the_file_is_closed(made, record):
    with sr.Scene.load_trajectory(record(made("arm"), 10)) as traj:
        scene = traj.scene
        assert traj.scene is scene
        traj.seek(4)
    scene.step()
    assert scene.step_count == 5


def test_a_given_scene_is_built_where_it_was_not(made, record):
    path = record(made("arm", 2), 10)
    scene = sr.Scene()
    scene.add_entity(sr.morphs.MJCF(file=sr.models.path("arm")), name="arm")
    with sr.Scene.load_trajectory(path, scene) as traj:
        assert traj.scene is scene
        assert scene.n_envs == 2


@pytest.mark.parametrize("change", ["mass", "dt", "n_envs", "joint"])
def test_another_scene_is_refused_with_what_differs(made, record, change):
    path = record(made("arm"), 10)
    text = sr.models.path("arm").read_text()
    scene = sr.Scene(sr.SimOptions(dt=0.003) if change == "dt" else None)
    if change == "joint":
        text = text.replace("joint1", "my_joint")
    scene.add_entity(sr.morphs.MJCF(file=text), name="arm")
    scene.build(3 if change == "n_envs" else 0)
    if change == "mass":
        scene.model.body_mass[3] += 0.25
    with pytest.raises(SceneDiffersError, match="differ") as caught:
        sr.Scene.load_trajectory(path, scene)
    named = {"mass": scene.model.body(3).name, "dt": "0.003", "n_envs": "3", "joint": "my_"}[change]
    assert str(path) in str(caught.value)
    assert named in str(caught.value)


def test_derived_fields_are_those_of_mj_forward(made, record):
    scene = made("arm")
    path = record(scene, 25)
    mujoco.mj_forward(scene.model, scene.data)
    with sr.Scene.load_trajectory(path) as traj:
        derived = traj.frame(-1, DataKind.DERIVED)
        assert "qpos" not in derived
        for name in ("xpos", "xquat", "qacc", "sensordata"):
            assert derived[name].tobytes() == getattr(scene.data, name).tobytes()
        before = traj.scene.data.qpos.copy()
        traj.frame(3, DataKind.DERIVED)
        assert traj.scene.data.qpos.tobytes() == before.tobytes()


def test_parts_of_a_frame_are_chosen_by_kind(made, record):
    with sr.Scene.load_trajectory(record(made("arm"), 5)) as traj:
        assert set(traj.frame(2, DataKind.INPUT)) == {"ctrl", "qfrc_applied", "xfrc_applied"}
        assert set(traj.frame(2, [DataKind.WARMSTART])) == {"warmstart"}
        assert set(traj.frame(2, DataKind.INFO)) == {"step", "episode"}
        everything = traj.frame(2)
        assert set(everything) == {
            "time",
            "qpos",
            "qvel",
            *traj.frame(2, DataKind.INPUT),
            "warmstart",
            "step",
            "episode",
        }
        assert traj.frame(2, DataKind.CONFIG)["opt.timestep"] == traj.dt
        assert traj.frame(2, DataKind.CONSTANT)["body_mass"].tobytes() == traj.scene.model.body_mass.tobytes()
        with pytest.raises(FieldError, match="kinds"):
            traj.frame(2, ["state"])


def test_no_warning_comes_of_a_plain_replay(made, record):
    path = record(made("arm"), 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with sr.Scene.load_trajectory(path) as traj:
            traj.seek(3)
            traj.scene.step(2)


def test_a_function_of_the_users_that_fails_leaves_the_scene_and_its_clock_at_the_frame(made, record):
    path = record(made("arm"), 20)
    scene = made("arm")
    steps = []

    def put(_):
        steps.append(scene.step_count)
        raise ZeroDivisionError

    scene.add_state("mine", lambda: 1, put)
    with scene.recording(sr.recorders.TrajectoryFile(filename=path.with_name("mine.reel"))):
        scene.step(9)
    with sr.Scene.load_trajectory(path.with_name("mine.reel"), scene) as traj:
        with pytest.raises(ZeroDivisionError):
            traj.seek(5)
        assert steps == [5]
        assert scene.step_count == 5
        assert scene.get_time() == traj.time(5) == pytest.approx(scene.data.time)
        with pytest.raises(FieldError, match="frames 0 to 9"):
            traj.seek_time(1.0)
        scene.step()
        assert scene.step_count == 6


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda traj: traj.seek("a"), "frames: 'a'"),
        (lambda traj: traj.seek(1.5), r"frames: 1\.5"),
        (lambda traj: traj.seek(None), "frames: None"),
        (lambda traj: traj.seek_time("a"), "seek_time: t = 'a'"),
        (lambda traj: traj.seek_time(None), "seek_time: t = None"),
        (lambda traj: traj.play(start=1.5), r"start: 1\.5"),
        (lambda traj: traj.play(stop="a"), "stop: 'a'"),
        (lambda traj: traj.play(speed="x"), "speed: 'x'"),
        (lambda traj: traj.play(speed=None), "speed: None"),
        (lambda traj: traj.frame(0, 5), "kinds: 5"),
        (lambda traj: traj.frame(0, "state"), "kinds: 'state'"),
        (lambda traj: traj.frame("a"), "frames: 'a'"),
        (lambda traj: traj.time(slice(0, 2)), r"time: slice\(0, 2"),
        (lambda traj: traj.time("a"), "frames: 'a'"),
        (lambda traj: traj.channel([]), r"name: \[\]"),
        (lambda traj: traj.field([]), r"name: \[\]"),
        (lambda traj: traj.field(3), "name: 3"),
        (lambda traj: sr.Scene.load_trajectory(traj.path, 3), "scene: 3"),
        (lambda traj: sr.Scene.load_checkpoint(traj.path, "scene"), "scene: 'scene'"),
    ],
)
def test_an_argument_of_another_type_is_named(made, record, call, named):
    with sr.Scene.load_trajectory(record(made("arm"), 5)) as traj:
        with pytest.raises(FieldError, match=f"^{named}"):
            call(traj)
        assert traj.scene.step_count == 0
