from dataclasses import replace

import mujoco
import numpy as np
import pytest

import simreel as sr
from simreel.errors import FrameIndexError, NotExactError, SceneDiffersError, SimreelWarning
from simreel.reel import Reel
from simreel.replay import VerifyReport


def verified(path, scene=None, **options):
    with sr.Scene.load_trajectory(path, scene) as traj:
        return traj.verify(**options)


@pytest.mark.parametrize("n_envs", [0, 1, 3])
def test_a_run_is_reached_again_in_every_step(made, record, n_envs):
    report = verified(record(made("arm", n_envs), 40, 0, 20))
    assert report == VerifyReport(True, 60)


def test_a_state_that_was_altered_is_found_with_its_frame_field_and_size(made, record, rewrite, tmp_path):
    def change(rows):
        rows["qvel"][41, 2] += 1e-9
        rows["qvel"][60, 2] += 5

    path = rewrite(record(made("arm"), 80), tmp_path / "other.reel", rows=change)
    report = verified(path)
    assert (report.ok, report.first_step, report.field, report.steps) == (False, 41, "qvel", 41)
    assert report.max_abs == pytest.approx(1e-9, rel=1e-3)


def test_an_input_that_was_altered_shows_in_the_frame_after_it(made, record, rewrite, tmp_path):
    def change(rows):
        rows["ctrl"][41] += 1e-9

    report = verified(rewrite(record(made("arm"), 80), tmp_path / "other.reel", rows=change))
    assert (report.ok, report.first_step) == (False, 42)
    assert 0 < report.max_abs < 1e-6


def test_a_zero_with_another_sign_is_another_state(made, record, rewrite, tmp_path):
    def change(rows):
        assert rows["time"][0] == 0
        rows["time"][31] = -0.0

    report = verified(rewrite(record(made("arm"), 30, 5), tmp_path / "other.reel", rows=change))
    assert report.ok  # frame 31 begins an episode: what it starts from is given, not reached


def test_a_nan_differs_by_nan(made, record, rewrite, tmp_path):
    def change(rows):
        rows["qpos"][8, 1] = np.nan

    report = verified(rewrite(record(made("arm"), 20), tmp_path / "other.reel", rows=change))
    assert (report.first_step, report.field) == (8, "qpos")
    assert np.isnan(report.max_abs)


def test_the_world_that_differs_is_named(made, record, rewrite, tmp_path):
    def change(rows):
        rows["qpos"][12].reshape(3, -1)[1, 0] += 0.5

    report = verified(rewrite(record(made("arm", 3), 20), tmp_path / "other.reel", rows=change))
    assert (report.first_step, report.field, report.worlds) == (12, "qpos", (1,))
    assert report.max_abs == pytest.approx(0.5)


def test_worlds_that_are_reset_and_set_start_anew_and_the_others_are_compared(made, tmp_path, inputs):
    scene = made("arm", 4)
    scene.start_recording(sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel", exact=True))
    move = inputs(scene)
    for step in range(40):
        if step in (10, 25):
            scene.reset(envs_idx=[1, 3])
        if step == 17:
            scene.entities[0].set_qpos(np.full((2, 7), 0.1), envs_idx=[0, 3])
        if step == 30:
            scene.reset(envs_idx=[0, 1, 2, 3])
        move.set(step)
        scene.step()
    scene.stop_recording()
    with sr.Scene.load_trajectory(tmp_path / "run.reel") as traj:
        assert traj.episodes == [(0, 41)]
        assert traj.verify() == VerifyReport(True, 39)


def test_the_last_state_of_a_world_that_was_reset_is_compared_too(made, tmp_path, inputs, rewrite):
    scene = made("arm", 2)
    scene.start_recording(sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel", exact=True))
    move = inputs(scene)
    for step in range(10):
        if step == 5:
            scene.reset(envs_idx=[1])
        move.set(step)
        scene.step()
    scene.stop_recording()

    def change(notes):
        for number, note in enumerate(notes):
            if note.value["type"] == "world_end":
                notes[number] = replace(note, arrays=note.arrays | {"qvel": note.arrays["qvel"] + 1})

    rewrite(tmp_path / "run.reel", tmp_path / "other.reel", notes=change)
    assert verified(tmp_path / "run.reel").ok
    report = verified(tmp_path / "other.reel")
    assert (report.ok, report.first_step, report.field, report.worlds) == (False, 5, "qvel", (1,))
    assert report.max_abs == pytest.approx(1)


def test_states_that_were_set_begin_a_segment(made, tmp_path):
    scene = made("arm")
    scene.start_recording(sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel"))
    scene.step(10)
    scene.entities[0].set_qpos(np.full(7, 0.2))
    scene.step(10)
    scene.entities[0].set_qvel(np.zeros(7))
    scene.step(10)
    scene.stop_recording()
    assert verified(tmp_path / "run.reel") == VerifyReport(True, 28)


def test_a_change_of_the_model_that_nobody_announced_is_left_out_where_it_is_uncertain(made, tmp_path):
    scene = made("arm")
    options = sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel", chunk_size=16)
    scene.start_recording(options)
    scene.step(20)
    scene.model.body_mass[3] *= 1.5
    with pytest.warns(SimreelWarning, match="body_mass"):
        scene.step(40)
    scene.stop_recording()
    with sr.Scene.load_trajectory(tmp_path / "run.reel") as traj:
        report = traj.verify()
    assert report.ok
    assert len(report.unchecked) == 1
    ((first, stop),) = report.unchecked
    assert first <= 21 < stop <= 33
    assert report.steps == 60 - (stop - first)


def test_a_model_that_is_compared_at_each_step_leaves_nothing_out(made, tmp_path):
    scene = made("arm")
    scene.start_recording(sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel", watch_model="step"))
    for _ in range(30):
        scene.model.body_mass[3] *= 1.01
        scene.step()
    scene.stop_recording()
    assert verified(tmp_path / "run.reel") == VerifyReport(True, 30)


def test_a_compact_recording_is_refused(made, tmp_path):
    scene = made("arm")
    with scene.recording(sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel", exact=False)):
        scene.step(3)
    with pytest.raises(NotExactError, match=r"run\.reel.*compact.*exact=True"):
        verified(tmp_path / "run.reel")


def test_a_recording_of_some_steps_is_refused(made, record):
    with pytest.raises(NotExactError, match=r"run\.reel.*one of 5 steps.*without hz"):
        verified(record(made("arm"), 20, hz=100))


def test_lost_frames_are_left_out(made, record, tmp_path):
    path = record(made("arm"), 100, chunk_size=10)
    raw = bytearray(path.read_bytes())
    with Reel.open(path) as reel:
        assert reel.chunks[4] == (40, 50)
        at = reel._frames.table.offsets[4]
    raw[at + 100] ^= 255
    path.write_bytes(raw)
    with sr.Scene.load_trajectory(path) as traj:
        assert traj.gaps == [(40, 50)]
        report = traj.verify()
    assert (report.ok, report.steps, report.unchecked) == (True, 89, ((40, 51),))


def test_the_scene_is_left_as_it_is(made, record, state):
    scene = made("arm")
    path = record(scene, 30)
    before, count = state(scene), scene.step_count
    assert verified(path, scene).ok
    assert state(scene).tobytes() == before.tobytes()
    assert scene.step_count == count


def test_progress_is_told_up_to_the_last_frame(made, record):
    told = []
    verified(record(made("arm"), 500), on_progress=lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert told[-1] == (501, 501)


def test_one_frame_needs_no_step(made, record):
    assert verified(record(made("arm"), 0)) == VerifyReport(True, 0)


class Counter:
    """A simulator that is no MuJoCo model."""

    def __init__(self, factor=1.0001):
        self.value = np.array([1.0, 2.0])
        self.factor = factor

    def scene(self):
        def put(state):
            self.value = state["value"].copy()

        def step():
            self.value = self.value * self.factor + 0.1

        engine = sr.scene.FunctionEngine(step, dt=0.5, get_state=lambda: {"value": self.value}, set_state=put)
        scene = sr.Scene(engine=engine)
        scene.build()
        return scene


def test_a_simulator_with_another_state_is_refused(tmp_path):
    with Counter().scene().recording(sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel")):
        pass
    other = Counter()
    other.value = np.zeros(3)
    with pytest.raises(SceneDiffersError, match=r"differ.*\n.*value \(2, state\) recorded, value \(3, state\) here"):
        verified(tmp_path / "run.reel", other.scene())


def test_a_simulator_of_the_users_own_is_run_again_in_a_given_scene(tmp_path):
    counter = Counter()
    scene = counter.scene()
    with scene.recording(sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel")):
        scene.step(20)
        scene.reset()
        scene.step(5)
    other = Counter()
    assert verified(tmp_path / "run.reel", other.scene()) == VerifyReport(True, 25)
    assert other.value.tolist() == [1, 2]
    report = verified(tmp_path / "run.reel", Counter(1.0002).scene())
    assert (report.ok, report.first_step, report.field) == (False, 1, "value")
    assert report.max_abs == pytest.approx(2e-4)


def test_parameters_that_changed_among_lost_frames_hold_behind_them(made, tmp_path, spoil):
    scene = made("arm")
    path = tmp_path / "run.reel"
    scene.start_recording(sr.recorders.TrajectoryFile(filename=path, chunk_size=16))
    scene.step(40)
    with scene.edit_model() as model:
        model.opt.gravity[2] = -5
    scene.step(45)
    scene.stop_recording()
    spoil(path, 2)
    with sr.Scene.load_trajectory(path) as traj:
        assert traj.gaps == [(32, 48)]
        report = traj.verify()
    assert (report.ok, report.steps, report.unchecked) == (True, 85 - 17, ((32, 49),))


@pytest.mark.parametrize(("n_envs", "steps"), [(0, 20), (3, 20)])
def test_where_somebody_wrote_to_the_time_nothing_is_compared(made, tmp_path, n_envs, steps):
    scene = made("arm", n_envs)
    scene.start_recording(sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel", exact=True))
    time = scene.engine.batch.bind("time") if n_envs else None
    for step in range(steps):
        if step in (5, 6, 12):
            if time is None:
                scene.data.time = 0
            else:
                time[1] = 0
        scene.step()
    scene.stop_recording()
    report = verified(tmp_path / "run.reel")
    assert (report.ok, report.unchecked) == (True, ((5, 7), (12, 13)))
    # The other worlds go on, and are compared.
    assert report.steps == (steps if n_envs else steps - 3)


def test_steps_that_were_taken_past_the_scene_are_not_taken_for_the_same(tmp_path, load):
    model = load("muscle")
    data = mujoco.MjData(model)
    scene = sr.Scene.from_mujoco(model, data)
    with scene.recording(sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel")):
        scene.build()
        for _ in range(20):
            scene.sample()
            mujoco.mj_step(model, data, nstep=2)
    assert verified(tmp_path / "run.reel") == VerifyReport(True, 0, unchecked=((1, 21),))


def test_a_file_without_a_frame_has_nothing_to_run(no_frame):
    with sr.Scene.load_trajectory(no_frame) as traj:
        assert len(traj) == 0
        for call in (traj.verify, lambda: traj.seek(0), lambda: traj.seek_time(0.0), traj.play, lambda: traj.frame(0)):
            with pytest.raises(FrameIndexError, match=r"run\.reel \(format version .*it has no frame"):
                call()
    with pytest.raises(FrameIndexError, match="it has no frame"):
        sr.Scene.load_checkpoint(no_frame)
