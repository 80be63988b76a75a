import numpy as np
import pytest

import simreel as sr
from simreel.errors import (
    FieldError,
    OptionsError,
    SceneDiffersError,
    SceneStateError,
    TargetExistsError,
    UnstableError,
)
from simreel.reel import ReelWriter


def drive(scene, inputs, steps, seed):
    move = inputs(scene, seed)
    for step in range(steps):
        move.set(step)
        scene.step()


@pytest.mark.parametrize("n_envs", [0, 1, 3])
def test_a_scene_that_is_loaded_stands_where_the_saved_one_stood_and_steps_on_with_it(
    made, inputs, state, tmp_path, n_envs
):
    scene = made("quadruped", n_envs)
    drive(scene, inputs, 30, seed=0)
    if n_envs > 1:
        scene.reset(envs_idx=[1])
        drive(scene, inputs, 5, seed=2)
    scene.save_checkpoint(tmp_path / "here.reel")
    loaded = sr.Scene.load_checkpoint(tmp_path / "here.reel")
    assert loaded.is_built
    assert loaded.n_envs == n_envs
    assert [entity.name for entity in loaded.entities] == ["quadruped"]
    assert np.array_equal(loaded.step_count, scene.step_count)
    assert np.array_equal(loaded.get_time(), scene.get_time())
    assert state(loaded).tobytes() == state(scene).tobytes()
    scene.refresh()
    assert loaded.entities[0].get_pos().tobytes() == scene.entities[0].get_pos().tobytes()
    drive(scene, inputs, 50, seed=1)
    drive(loaded, inputs, 50, seed=1)
    assert state(loaded).tobytes() == state(scene).tobytes()


def test_the_file_is_a_trajectory_of_one_frame(made, inputs, tmp_path):
    scene = made("arm")
    scene.add_channel("hand", scene.entities[0].get_pos, unit="m")
    drive(scene, inputs, 10, seed=0)
    scene.save_checkpoint(tmp_path / "here.reel")
    with sr.Scene.load_trajectory(tmp_path / "here.reel") as traj:
        assert (len(traj), traj.is_exact, traj.is_complete) == (1, True, True)
        assert traj.info()["kind"] == "checkpoint"
        assert traj.episodes == [(0, 1)]
        assert traj.time(0) == scene.get_time() == 10 * scene.dt
        assert traj.channel("hand")[0].tolist() == scene.entities[0].get_pos().tolist()
        traj.seek(0)
        assert traj.scene.step_count == 10


def test_saving_leaves_the_scene_as_it_is(made, inputs, state, tmp_path):
    scene, other = made("arm"), made("arm")
    for each in (scene, other):
        drive(each, inputs, 10, seed=0)
    scene.save_checkpoint(tmp_path / "here.reel")
    for each in (scene, other):
        drive(each, inputs, 10, seed=1)
    assert state(scene).tobytes() == state(other).tobytes()
    assert scene.step_count == 20


def test_parameters_that_were_edited_are_in_the_file(made, tmp_path):
    scene = made("arm")
    scene.step(3)
    with scene.edit_model():
        scene.model.body_mass[4] = 0.625
    scene.save_checkpoint(tmp_path / "here.reel")
    assert sr.Scene.load_checkpoint(tmp_path / "here.reel").model.body_mass[4] == 0.625


def test_user_state_rides_along(made, tmp_path):
    rng = np.random.default_rng(0)

    def scene_with_rng():
        def put(state):
            rng.bit_generator.state = state

        scene = made("arm")
        scene.add_state("rng", lambda: rng.bit_generator.state, put)
        return scene

    scene = scene_with_rng()
    rng.random(10)
    scene.save_checkpoint(tmp_path / "here.reel")
    expected = rng.random(5)
    rng.random(100)
    sr.Scene.load_checkpoint(tmp_path / "here.reel", scene_with_rng())
    assert rng.random(5).tolist() == expected.tolist()


def test_user_state_waits_in_a_loaded_scene_for_whoever_takes_it(made, tmp_path):
    scene = made("arm")
    scene.add_state("count", lambda: 7, lambda _: None)
    scene.save_checkpoint(tmp_path / "here.reel")
    loaded = sr.Scene.load_checkpoint(tmp_path / "here.reel")
    taken = []
    loaded.add_state("other", lambda: 0, taken.append)
    assert taken == []
    loaded.add_state("count", lambda: 0, taken.append)
    assert taken == [7]


def test_a_file_that_is_there_is_not_replaced_unless_it_is_asked_for(made, tmp_path):
    scene = made("arm")
    scene.save_checkpoint(tmp_path / "here.reel")
    scene.step(5)
    with pytest.raises(TargetExistsError, match=r"here\.reel.*overwrite"):
        scene.save_checkpoint(tmp_path / "here.reel")
    assert sr.Scene.load_checkpoint(tmp_path / "here.reel").step_count == 0
    scene.save_checkpoint(tmp_path / "here.reel", overwrite=True)
    assert sr.Scene.load_checkpoint(tmp_path / "here.reel").step_count == 5
    assert [path.name for path in tmp_path.iterdir()] == ["here.reel"]


def test_another_ending_is_refused(made, tmp_path):
    with pytest.raises(OptionsError, match=r"\.reel"):
        made("arm").save_checkpoint(tmp_path / "here.npz")


def test_a_scene_that_is_not_built_has_no_state_to_save(tmp_path):
    with pytest.raises(SceneStateError, match="save_checkpoint"):
        sr.Scene().save_checkpoint(tmp_path / "here.reel")


def test_a_state_of_no_use_is_not_saved(made, tmp_path):
    scene = made("arm")
    scene.data.qvel[0] = np.nan
    with pytest.raises(UnstableError):
        scene.step()
    with pytest.raises(SceneStateError, match="reset"):
        scene.save_checkpoint(tmp_path / "here.reel")
    assert list(tmp_path.iterdir()) == []


def test_another_scene_is_refused(made, tmp_path):
    made("arm").save_checkpoint(tmp_path / "here.reel")
    with pytest.raises(SceneDiffersError, match="differ"):
        sr.Scene.load_checkpoint(tmp_path / "here.reel", made("quadruped"))


def test_of_a_trajectory_the_last_frame_is_loaded(made, record):
    assert sr.Scene.load_checkpoint(record(made("arm"), 12)).step_count == 12


def test_a_simulator_of_the_users_own_is_loaded_into_its_scene(tmp_path):
    value = np.array([1.0])

    def step():
        value[:] = value * 1.5

    def scene():
        engine = sr.scene.FunctionEngine(step, dt=1, get_state=lambda: value, set_state=lambda v: np.copyto(value, v))
        made = sr.Scene(engine=engine)
        made.build()
        return made

    first = scene()
    first.step(3)
    first.save_checkpoint(tmp_path / "here.reel")
    first.step(4)
    loaded = sr.Scene.load_checkpoint(tmp_path / "here.reel", scene())
    assert value.tolist() == [1.5**3]
    assert loaded.step_count == 3


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("value", [float("inf"), float("nan"), {1}, b"a", 1j], ids=repr)
def test_user_state_that_cannot_be_stored_leaves_what_was_there(made, tmp_path, overwrite, value):
    best = [0.5]
    scene = made("arm")
    scene.add_state("control", lambda: {"best": best}, lambda _: None)
    if overwrite:
        scene.save_checkpoint(tmp_path / "here.reel")
        scene.step(5)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    best[0] = value
    with pytest.raises(FieldError, match="state 'control/best/0'"):
        scene.save_checkpoint(tmp_path / "here.reel", overwrite=overwrite)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("call", ["next_part", "commit", "close"])
def test_ctrl_c_leaves_the_checkpoint_that_was_there(made, tmp_path, monkeypatch, call):
    scene = made("arm")
    scene.save_checkpoint(tmp_path / "here.reel")
    before = (tmp_path / "here.reel").read_bytes()
    original = getattr(ReelWriter, call)

    def interrupted(self, *args):
        original(self, *args)
        raise KeyboardInterrupt

    scene.step(5)
    with monkeypatch.context() as patched:
        patched.setattr(ReelWriter, call, interrupted)
        with pytest.raises(KeyboardInterrupt):
            scene.save_checkpoint(tmp_path / "here.reel", overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["here.reel"]
    assert (tmp_path / "here.reel").read_bytes() == before
    scene.save_checkpoint(tmp_path / "here.reel", overwrite=True)
    assert sr.Scene.load_checkpoint(tmp_path / "here.reel").step_count == 5


def test_a_path_may_begin_in_the_users_folder_and_folders_are_made(made, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    scene = made("arm")
    scene.step(3)
    scene.save_checkpoint("~/runs/here.reel")
    assert (tmp_path / "runs" / "here.reel").is_file()
    assert sr.Scene.load_checkpoint("~/runs/here.reel").step_count == 3
    with sr.Scene.load_trajectory("~/runs/here.reel") as traj:
        assert traj.path == tmp_path / "runs" / "here.reel"
    scene.export("~/scenes/arm.reel")
    assert [entity.name for entity in sr.Scene.load("~/scenes/arm.reel").entities] == ["arm"]


def test_a_scene_that_is_exported_again_is_replaced_when_the_new_one_is_whole(made, tmp_path, monkeypatch):
    scene = made("arm")
    scene.export(tmp_path / "arm.reel")

    def interrupted(self):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        close = ReelWriter.close
        patched.setattr(ReelWriter, "close", lambda self: (close(self), interrupted(self)))
        with pytest.raises(KeyboardInterrupt):
            scene.export(tmp_path / "arm.reel", overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["arm.reel"]
    assert sr.Scene.load(tmp_path / "arm.reel").entities


@pytest.mark.parametrize("path", [None, 3, b"here.reel"])
def test_a_path_that_is_none_is_an_error_of_ours(made, path):
    for call in (sr.Scene.load_checkpoint, sr.Scene.load_trajectory, sr.Scene.load, made("arm").export):
        with pytest.raises(FieldError, match="path"):
            call(path)
