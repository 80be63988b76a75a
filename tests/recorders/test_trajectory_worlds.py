"""Trajectories of many worlds."""

import logging

import numpy as np
import pytest

import simreel as sr
from simreel.errors import OptionsError, UnstableError
from simreel.recorders import TrajectoryFile
from simreel.reel import Reel
from simreel.testing import FakeEngine


@pytest.fixture
def quadrupeds(tmp_path):
    """Records so many worlds while something runs; gives the reel and the scene."""
    opened = []

    def record(run, n_envs=4, **options):
        scene = sr.Scene()
        robot = scene.add_entity(sr.morphs.MJCF(sr.models.path("quadruped")))
        scene.start_recording(TrajectoryFile(tmp_path / "run.reel", **options))
        scene.build(n_envs)
        run(scene, robot)
        scene.stop_recording()
        opened.append(Reel.open(tmp_path / "run.reel"))
        return opened[-1], scene

    yield record
    for reel in opened:
        reel.close()


def notes(reel, kind):
    return [note for note in reel.notes if note.value["type"] == kind]


@pytest.mark.parametrize("n_envs", [1, 3])
@pytest.mark.parametrize("exact", [False, True])
def test_a_field_has_the_values_of_world_0_then_those_of_world_1(quadrupeds, n_envs, exact):
    qpos, qvel = [], []

    def run(scene, robot):
        rng = np.random.default_rng(0)
        for _ in range(5):
            robot.set_ctrl(rng.normal(size=(n_envs, 12)))
            qpos.append(robot.get_qpos())
            qvel.append(robot.get_qvel())
            scene.step()

    reel, scene = quadrupeds(run, n_envs, exact=exact)
    assert len(reel) == 6
    assert reel.field("qpos")[:5].reshape(5, n_envs, 19).tobytes() == np.array(qpos).tobytes()
    assert reel.field("qvel")[:5].reshape(5, n_envs, 18).tobytes() == np.array(qvel).tobytes()
    assert reel.field("step")[:].tolist() == [[step] * n_envs for step in range(6)]
    assert (reel.meta["n_envs"], reel.meta["exact"]) == (n_envs, exact)
    assert ("warmstart" in {field.name for field in reel.layout.fields}) == exact
    assert len(reel.layout.joints) == n_envs * scene.model.njnt


def test_many_worlds_are_compact_unless_asked_otherwise_and_that_is_said(quadrupeds, caplog):
    with caplog.at_level(logging.INFO, "simreel"):
        reel, _ = quadrupeds(lambda scene, _: scene.step(3))
    assert reel.meta["exact"] is False
    assert [text for text in caplog.messages if "exact" in text] == [
        "TrajectoryFile run.reel: compact, without solver warm starts; exact=True records it otherwise"
    ]


def test_worlds_that_are_reset_end_their_episodes_and_the_others_run_on(quadrupeds):
    last = []

    def run(scene, robot):
        scene.step(3)
        last.append(robot.get_qpos())
        scene.reset([1, 3])
        scene.step(2)

    reel, _ = quadrupeds(run)
    assert reel.field("step")[:].T.tolist() == [[0, 1, 2, 3, 4, 5], [0, 1, 2, 0, 1, 2]] * 2
    assert reel.field("episode")[:].T.tolist() == [[0] * 6, [0, 0, 0, 1, 1, 1]] * 2
    (end,) = notes(reel, "world_end")
    assert (end.frame, end.value["worlds"], end.value["unstable"]) == (3, [1, 3], [])
    assert end.arrays["qpos"].tobytes() == last[0][[1, 3]].tobytes()
    assert end.arrays["time"].ravel() == pytest.approx([0.006, 0.006])
    assert notes(reel, "segment") == []


def test_a_reset_of_a_world_that_has_not_stepped_since_its_last_ends_nothing(quadrupeds):
    def run(scene, _):
        scene.reset([1])
        scene.step()
        scene.reset([1])
        scene.reset([1])
        scene.step()

    reel, _ = quadrupeds(run)
    assert len(notes(reel, "world_end")) == 1
    assert reel.field("episode")[:].T.tolist() == [[0, 0, 0], [0, 1, 1], [0, 0, 0], [0, 0, 0]]


def test_a_reset_of_all_worlds_ends_the_episodes_of_all(quadrupeds):
    def run(scene, _):
        scene.step(2)
        scene.reset([0])
        scene.step()
        scene.reset()
        scene.step()

    reel, _ = quadrupeds(run, 2)
    assert reel.field("step")[:].T.tolist() == [[0, 1, 0, 1, 0, 1], [0, 1, 2, 3, 0, 1]]
    assert reel.field("episode")[:].T.tolist() == [[0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1]]
    assert [note.value["stop"] for note in notes(reel, "episode")] == [4, 6]


def test_a_setter_breaks_the_run_of_its_worlds_only(quadrupeds):
    def run(scene, robot):
        scene.step(2)
        robot.set_qvel(np.ones((2, 18)), envs_idx=[0, 2])
        robot.set_qpos(robot.get_qpos()[:1], envs_idx=[3])
        scene.step()
        robot.set_qvel(np.zeros((4, 18)))
        robot.set_qvel(np.zeros((1, 18)), envs_idx=[3])
        robot.set_ctrl(np.zeros((4, 12)))
        scene.step()

    reel, _ = quadrupeds(run)
    assert [(note.frame, note.value) for note in notes(reel, "segment")] == [
        (2, {"type": "segment", "reason": "set_qvel", "worlds": [0, 2, 3]}),
        (3, {"type": "segment", "reason": "set_qvel"}),
    ]


def test_a_world_whose_time_jumps_is_named(quadrupeds):
    def run(scene, _):
        scene.step(2)
        scene.engine.batch.bind("time")[1] += 1
        scene.step()

    reel, _ = quadrupeds(run, 2)
    assert [(note.frame, note.value["worlds"]) for note in notes(reel, "segment")] == [(2, [1])]


def test_the_last_state_of_an_unstable_world_is_marked(quadrupeds):
    def run(scene, robot):
        scene.step(2)
        scene.engine.batch.state[1, 1] = np.nan
        with pytest.raises(UnstableError, match="world 1"):
            scene.step()
        scene.reset([1])
        scene.step()

    reel, _ = quadrupeds(run, 2)
    (end,) = notes(reel, "world_end")
    assert (end.value["worlds"], end.value["unstable"]) == ([1], [1])


def test_worlds_of_functions_have_a_leading_axis(tmp_path):
    scene = sr.Scene(engine=FakeEngine(state=lambda step, world: [step, world, 0.5]))
    scene.start_recording(TrajectoryFile(tmp_path / "run.reel"))
    scene.build(2)
    scene.step(2)
    scene.stop_recording()
    with Reel.open(tmp_path / "run.reel") as reel:
        assert reel.field("state")[:].reshape(3, 2, 3)[2].tolist() == [[2, 0, 0.5], [2, 1, 0.5]]
        assert reel.meta["exact"] is True


def test_contacts_of_worlds_are_refused(tmp_path):
    scene = sr.Scene()
    scene.add_entity(sr.morphs.Sphere(0.1))
    scene.start_recording(TrajectoryFile(tmp_path / "run.reel", contacts=True))
    with pytest.raises(OptionsError, match="contacts: they are recorded of one world only"):
        scene.build(2)


def test_an_edited_model_holds_for_all_worlds(quadrupeds):
    def run(scene, _):
        scene.step(2)
        with scene.edit_model() as model:
            model.opt.gravity[2] = 5
        scene.step(3)

    reel, _ = quadrupeds(run, 2)
    assert [(each.frame, list(each.arrays)) for each in reel.params] == [(2, ["opt.gravity"])]
    assert (np.diff(reel.field("qvel")[:].reshape(6, 2, 18)[2:, :, 2], axis=0) > 0).all()
