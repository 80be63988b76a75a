"""What a recorder of trajectories writes, and when."""

import logging

import mujoco
import numpy as np
import pytest

import simreel as sr
from simreel.errors import OptionsError, SampleError, SceneStateError, SimreelWarning, TargetExistsError, UnstableError
from simreel.recorders import TrajectoryFile, TrajectoryFileWriter
from simreel.reel import Reel
from simreel.testing import FakeEngine

BALL = """<mujoco><option timestep="0.01"/><worldbody><geom type="plane" size="1 1 .1"/>
<body pos="0 0 .09"><freejoint/><geom size=".1" mass="1"/></body>
<body pos="1 0 1"><joint name="hinge" axis="0 1 0"/><geom size=".05" mass="1" pos="0 0 -.3"/></body></worldbody>
<actuator><motor joint="hinge"/></actuator></mujoco>"""
STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)


@pytest.fixture
def ball():
    """A scene of a ball that rolls, and a pendulum with a motor."""
    return sr.Scene.from_mujoco(mujoco.MjModel.from_xml_string(BALL))


@pytest.fixture
def record(tmp_path, ball):
    """Builds the scene with a trajectory recorder, runs something, stops, and gives the recorder and the reel."""
    opened = []

    def record(run, scene=ball, *, n_envs=0, **options):
        recorder = scene.start_recording(TrajectoryFile(filename=tmp_path / "run.reel", **options))
        scene.build(n_envs)
        run(scene)
        scene.stop_recording()
        opened.append(Reel.open(tmp_path / "run.reel"))
        return recorder, opened[-1]

    yield record
    for reel in opened:
        reel.close()


def run(steps):
    def go(scene):
        for _ in range(steps):
            scene.step()

    return go


def values(reel, name):
    return reel.field(name)[:].ravel().tolist()


def notes(reel, kind):
    return [
        (note.frame, {key: value for key, value in note.value.items() if key != "type"})
        for note in reel.notes
        if note.value["type"] == kind
    ]


def test_each_frame_is_the_state_that_its_step_starts_from_to_the_bit(ball, record):
    model, data = ball.model, ball.data
    expected = []

    def drive(scene):
        for step in range(20):
            data.ctrl[0] = np.sin(step)
            data.xfrc_applied[1, 0] = 0.1 * step
            expected.append(state(model, data))
            scene.step()
        expected.append(state(model, data))

    _, reel = record(drive)
    names = [field.name for field in reel.layout.fields]
    assert names[-2:] == ["step", "episode"]
    rows = np.hstack([reel.field(name)[:] for name in names[:-2]])
    assert rows.tobytes() == np.array(expected).tobytes()
    assert reel.meta["exact"] is True


def state(model, data):
    row = np.empty(mujoco.mj_stateSize(model, STATE))
    mujoco.mj_getState(model, data, row, STATE)
    return row


@pytest.mark.parametrize("who", ["recorder before", "recorder after", "channel"])
@pytest.mark.parametrize("field", ["ctrl", "xfrc_applied"])
def test_inputs_that_a_function_sets_are_those_of_the_next_frame(tmp_path, ball, record, who, field):
    inputs, seen = getattr(ball.data, field), []

    def function():
        seen.append(float(inputs.flat[0]))
        inputs.flat[0] = ball.step_count + 5
        return ball.data.qpos

    def others():
        ball.start_recording(function, sr.recorders.NPZFile(tmp_path / "a.npz"))

    if who == "recorder before":
        others()
    if who == "channel":
        ball.add_channel("c", function)

    def go(scene):
        if who == "recorder after":
            others()
        run(6)(scene)

    _, reel = record(go)
    assert reel.field(field)[:][:, 0].tolist() == [0, *range(5, 11)] == seen


@pytest.mark.parametrize("steps", [0, 1, 255, 256, 257])
def test_n_steps_give_one_frame_more(record, steps):
    recorder, reel = record(run(steps))
    assert len(reel) == steps + 1
    assert values(reel, "step") == list(range(steps + 1))
    assert (recorder.status.received, recorder.status.written) == (steps + 1, steps + 1)
    assert recorder.status.bytes == reel.path.stat().st_size
    assert reel.is_complete


def test_episodes_end_with_the_state_that_the_reset_or_the_stop_left(record):
    def episodes(scene):
        run(30)(scene)
        scene.reset()
        run(5)(scene)

    _, reel = record(episodes)
    assert values(reel, "step") == [*range(31), *range(6)]
    assert values(reel, "episode") == [0] * 31 + [1] * 6
    assert notes(reel, "episode") == [
        (30, {"first": 0, "stop": 31, "reason": "reset"}),
        (36, {"first": 31, "stop": 37, "reason": "stop"}),
    ]
    assert notes(reel, "segment") == [(31, {"reason": "reset"})]
    assert reel.field("time")[:].ravel() == pytest.approx(np.array([*range(31), *range(6)]) * 0.01)


def test_a_rate_leaves_steps_out_but_never_the_last_state(record):
    _, reel = record(lambda scene: (run(7)(scene), scene.reset(), run(8)(scene)), hz=25)
    assert values(reel, "step") == [0, 4, 7, 0, 4, 8]
    assert reel.meta["stride"] == 4
    assert reel.dt == 0.01


def test_a_stop_right_after_a_reset_adds_nothing(record):
    _, reel = record(lambda scene: (run(2)(scene), scene.reset()))
    assert values(reel, "step") == [0, 1, 2]


def test_a_compact_trajectory_leaves_out_what_a_step_computes_anew(record):
    _, reel = record(run(3), exact=False)
    assert [field.name for field in reel.layout.fields] == [
        "time", "qpos", "qvel", "ctrl", "qfrc_applied", "xfrc_applied", "step", "episode",
    ]  # fmt: skip
    assert reel.meta["exact"] is False


def test_what_none_means_is_said_once(record, caplog):
    with caplog.at_level(logging.INFO, "simreel"):
        record(lambda scene: (run(3)(scene), scene.reset(), run(3)(scene)))
    said = [text for text in caplog.messages if "exact" in text]
    assert said == [
        "TrajectoryFile run.reel: exact, to go on from any frame bit for bit; exact=False records it otherwise"
    ]


def test_save_on_reset_makes_a_file_of_each_episode(tmp_path, ball, record):
    with pytest.raises(Exception, match=r"run\.reel"):
        record(lambda scene: (run(3)(scene), scene.reset(), run(2)(scene), scene.reset()), save_on_reset=True)
    recorded = []
    for number in range(2):
        with Reel.open(tmp_path / f"run_{number:04d}.reel") as reel:
            recorded.append(values(reel, "step"))
            assert reel.is_complete
    assert recorded == [[0, 1, 2, 3], [0, 1, 2]]
    assert sorted(path.name for path in tmp_path.glob("*.reel")) == ["run_0000.reel", "run_0001.reel"]


def test_counts_add_up_over_files(tmp_path, ball):
    recorder = ball.start_recording(TrajectoryFile(tmp_path / "run.reel", save_on_reset=True))
    ball.build()
    for _ in range(3):
        run(4)(ball)
        ball.reset()
    ball.stop_recording()
    size = sum(path.stat().st_size for path in tmp_path.glob("*.reel"))
    assert (recorder.status.received, recorder.status.written, recorder.status.bytes) == (15, 15, size)


def test_a_data_function_is_refused(tmp_path, ball):
    with pytest.raises(OptionsError, match="records the scene itself: give no data_func"):
        ball.start_recording(lambda: 1.0, TrajectoryFile(tmp_path / "run.reel"))
    assert ball.recorders == ()


def test_a_file_that_is_there_is_kept(tmp_path, ball):
    (tmp_path / "run.reel").write_bytes(b"mine")
    with pytest.raises(TargetExistsError, match="overwrite"):
        ball.start_recording(TrajectoryFile(tmp_path / "run.reel"))


def test_the_recorder_is_the_writer_of_its_options(tmp_path, ball):
    recorder = ball.start_recording(TrajectoryFile(tmp_path / "run.reel"))
    assert isinstance(recorder, TrajectoryFileWriter)
    assert recorder.label == "TrajectoryFile run.reel"
    recorder.stop()
    assert list(tmp_path.iterdir()) == []


def test_sync_brings_all_frames_to_the_file(tmp_path, ball):
    recorder = ball.start_recording(TrajectoryFile(tmp_path / "run.reel"))
    ball.build()
    run(10)(ball)
    recorder.sync()
    assert (recorder.status.written, recorder.status.queued) == (10, 0)
    with Reel.open(tmp_path / "run.reel") as reel:
        assert len(reel) == 10
        assert not reel.is_complete
    ball.stop_recording()


def test_a_pause_is_a_break_between_frames(record):
    def paused(scene):
        run(3)(scene)
        scene.recorders[0].pause()
        run(4)(scene)
        scene.recorders[0].resume()
        run(2)(scene)

    _, reel = record(paused)
    assert values(reel, "step") == [0, 1, 2, 7, 8, 9]
    assert notes(reel, "segment") == [(3, {"reason": "pause"})]


def test_a_jump_of_time_is_a_break_between_frames(ball, record):
    def jump(scene):
        run(3)(scene)
        ball.data.time += 1
        run(2)(scene)

    _, reel = record(jump)
    assert notes(reel, "segment") == [(3, {"reason": "time"})]


def test_steps_of_half_an_hour_are_no_jump_of_time(ball, record):
    ball.data.time = 1e6
    _, reel = record(run(50))
    assert notes(reel, "segment") == []


def test_somebody_elses_loop_is_recorded_too(ball, record):
    def loop(scene):
        for _ in range(4):
            scene.sample()
            mujoco.mj_step(ball.model, ball.data)

    _, reel = record(loop)
    assert values(reel, "step") == [0, 1, 2, 3, 4]
    assert notes(reel, "segment") == []


def test_nan_ends_the_run_at_its_step_and_the_last_good_frame_is_kept(ball, record):
    def spoil(scene):
        run(5)(scene)
        scene.data.qpos[0] = np.nan
        with pytest.raises(UnstableError, match="at step 5"):
            scene.step()
        scene.reset()
        run(2)(scene)

    _, reel = record(spoil)
    assert values(reel, "step") == [0, 1, 2, 3, 4, 0, 1, 2]
    assert np.isfinite(reel.field("qpos")[:]).all()


def test_two_trajectories_and_another_recorder_run_side_by_side(tmp_path, ball):
    for name, exact in (("a", True), ("b", False)):
        ball.start_recording(TrajectoryFile(tmp_path / f"{name}.reel", exact=exact))
    ball.start_recording(lambda: ball.data.qpos, sr.recorders.NPZFile(tmp_path / "q.npz", hz=50))
    ball.build()
    ball.step(9)
    ball.stop_recording()
    with (
        Reel.open(tmp_path / "a.reel") as a,
        Reel.open(tmp_path / "b.reel") as b,
        np.load(tmp_path / "q.npz") as npz,
    ):
        qpos = a.field("qpos")[:]
        assert qpos.tobytes() == b.field("qpos")[:].tobytes()
        assert npz["data"].tobytes() == qpos[::2].tobytes()


def test_blocks_end_where_another_recorder_is_due(tmp_path, ball, record, monkeypatch):
    engine, blocks = ball.engine, []
    monkeypatch.setattr(
        engine, "run", lambda mark, rows: blocks.append(len(rows)) or type(engine).run(engine, mark, rows)
    )
    other = ball.start_recording(lambda: ball.data.xpos, sr.recorders.NPZFile(tmp_path / "x.npz", hz=10))
    recorder, reel = record(lambda scene: scene.step(100))
    assert sum(blocks) > 80
    assert max(blocks) <= 9
    assert (recorder.status.written, other.status.written) == (101, 11)
    alone = sr.Scene.from_mujoco(mujoco.MjModel.from_xml_string(BALL))
    alone.build()
    positions = []
    for _ in range(100):
        positions.append(alone.data.qpos.copy())
        alone.step()
    positions.append(alone.data.qpos.copy())
    assert reel.field("qpos")[:].tobytes() == np.array(positions).tobytes()
    with np.load(tmp_path / "x.npz") as npz:
        assert npz["data"][:, 1].tobytes() == np.array(positions)[::10, :3].tobytes()


def test_contacts_are_those_of_the_frame(ball, record):
    model = ball.model
    _, reel = record(run(30), contacts=True)
    data = mujoco.MjData(model)
    for frame in (0, 7, 29, 30):
        row = reel.row(frame)
        mujoco.mj_setState(model, data, np.concatenate([row[f.name] for f in reel.layout.fields[:-6]]), STATE)
        mujoco.mj_forward(model, data)
        assert data.ncon > 0
        assert np.array_equal(row["contact/geom"], data.contact.geom)
        assert np.array_equal(row["contact/pos"], data.contact.pos)
        assert np.array_equal(row["contact/frame"], data.contact.frame)
        force = np.empty(6)
        mujoco.mj_contactForce(model, data, 0, force)
        assert row["contact/force"][0] == pytest.approx(force, rel=1e-9)


def test_contacts_do_not_change_the_run(tmp_path):
    ends = []
    for contacts in (False, True):
        scene = sr.Scene.from_mujoco(mujoco.MjModel.from_xml_string(BALL))
        scene.start_recording(TrajectoryFile(tmp_path / f"{contacts}.reel", contacts=contacts))
        scene.build()
        run(40)(scene)
        scene.stop_recording()
        ends.append(state(scene.model, scene.data).tobytes())
    assert ends[0] == ends[1]


def test_contacts_of_an_engine_that_has_none_are_refused(tmp_path):
    scene = sr.Scene(engine=FakeEngine())
    scene.start_recording(TrajectoryFile(tmp_path / "run.reel", contacts=True))
    scene.build()
    with pytest.raises(SceneStateError, match="FakeEngine has no contacts"):
        scene.step()


def test_functions_without_a_state_are_refused_with_what_to_give(tmp_path):
    scene = sr.Scene(engine=sr.scene.FunctionEngine(lambda: None, dt=0.1))
    with pytest.raises(SceneStateError, match=r"get_state=\.\.\., set_state=\.\.\."):
        scene.start_recording(TrajectoryFile(tmp_path / "run.reel"))
    assert scene.recorders == ()


def test_an_engine_that_gives_no_state_is_refused(tmp_path, still_scene):
    with pytest.raises(SceneStateError, match="the StillEngine gives no state to record: layout, read_state"):
        still_scene().start_recording(TrajectoryFile(tmp_path / "run.reel"))


def test_the_state_of_functions_is_a_field_for_each_array(tmp_path):
    now = {"angle": np.array([0.5, 1.5]), "step": np.array(7)}

    def step():
        now["angle"] += 0.25
        now["step"] += 1

    engine = sr.scene.FunctionEngine(step, dt=0.1, get_state=lambda: now, set_state=now.update, fields={"angle": "rad"})
    scene = sr.Scene(engine=engine)
    scene.start_recording(TrajectoryFile(tmp_path / "run.reel"))
    scene.build()
    run(2)(scene)
    scene.stop_recording()
    with Reel.open(tmp_path / "run.reel") as reel:
        assert reel.field("angle")[:].tolist() == [[0.5, 1.5], [0.75, 1.75], [1.0, 2.0]]
        assert values(reel, "state/step") == [7, 8, 9]
        assert values(reel, "step") == [0, 1, 2]
        assert reel.layout["angle"].unit == "rad"
        assert (reel.meta["engine"], reel.meta["exact"]) == ("function", True)


def test_a_recorder_holds_no_memory_of_a_closed_file(tmp_path, ball):
    recorder = ball.start_recording(TrajectoryFile(tmp_path / "run.reel"))
    ball.build()
    run(3)(ball)
    recorder.stop()
    assert recorder._reels[0] is None


def test_a_model_that_sleeps_is_marked(tmp_path):
    xml = BALL.replace('timestep="0.01"/>', 'timestep="0.01"><flag sleep="enable"/></option>')
    scene = sr.Scene.from_mujoco(mujoco.MjModel.from_xml_string(xml))
    scene.start_recording(TrajectoryFile(tmp_path / "run.reel"))
    scene.build()
    scene.step(30)
    scene.stop_recording()
    with Reel.open(tmp_path / "run.reel") as reel:
        assert reel.meta["sleep"] is True


def test_a_channel_that_cannot_be_recorded_leaves_no_file(tmp_path, ball):
    ball.add_channel("mode", lambda: "walk")
    ball.start_recording(TrajectoryFile(tmp_path / "run.reel"))
    ball.build()
    with pytest.raises(SampleError, match="key 'mode': str"):
        ball.step()
    assert list(tmp_path.iterdir()) == []


def test_writes_to_the_model_are_noticed_with_the_frames_that_are_uncertain(ball, record):
    def edit(scene):
        run(20)(scene)
        ball.model.body_mass[1] = 2
        with pytest.warns(SimreelWarning, match=r"body_mass of the model changed between frames 16 and 32.*edit_model"):
            run(20)(scene)
        ball.model.opt.gravity[2] = -1
        run(1)(scene)

    _, reel = record(edit, chunk_size=16)
    first, second = reel.params
    assert (first.frame, first.value) == (32, {"from": 32, "uncertain": [17, 32]})
    assert first.arrays["body_mass"][1] == 2
    assert second.value["uncertain"] == [33, 42]
    assert list(second.arrays) == ["opt.gravity"]


def test_writes_between_a_reset_and_the_next_step_are_certain(ball, record):
    def edit(scene):
        run(3)(scene)
        scene.reset()
        ball.model.geom_friction[0, 0] = 0.3
        run(3)(scene)

    _, reel = record(edit)
    assert [(each.frame, each.value["uncertain"]) for each in reel.params] == [(4, None)]


def test_each_step_is_compared_on_request(ball, record):
    def edit(scene):
        run(20)(scene)
        ball.model.body_mass[1] = 2
        run(20)(scene)

    _, reel = record(edit, watch_model="step")
    assert [(each.frame, each.value["uncertain"]) for each in reel.params] == [(20, None)]
