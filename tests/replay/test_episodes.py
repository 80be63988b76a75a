"""Where episodes begin, in files that are whole and in files that are not."""

import numpy as np
import pytest

import simreel as sr


def episodes_of(path):
    with sr.Scene.load_trajectory(path) as traj:
        return traj.gaps, traj.episodes


@pytest.fixture
def run(made, tmp_path):
    """`run(n_envs, 40, [1], 10, 20)` is a file: steps, single worlds that are reset, steps, a reset of all, steps."""

    def run(n_envs, *parts):
        scene = made("arm", n_envs)
        path = tmp_path / "run.reel"
        scene.start_recording(sr.recorders.TrajectoryFile(filename=path, exact=True, chunk_size=8))
        for number, part in enumerate(parts):
            if isinstance(part, list):
                scene.reset(envs_idx=part)
            else:
                if number and not isinstance(parts[number - 1], list):
                    scene.reset()
                scene.step(part)
        scene.stop_recording()
        return path

    return run


@pytest.mark.parametrize(
    ("steps", "chunk", "episodes"),
    [
        ((20, 20), 2, [(0, 21), (21, 42)]),
        ((17, 3, 20), 2, [(0, 18), (18, 22), (22, 43)]),
        ((15, 20), 2, [(0, 16), (16, 37)]),
        ((23, 20), 2, [(0, 24), (24, 45)]),
        ((20, 2), 2, [(0, 21), (21, 24)]),
        ((3, 20), 0, [(0, 4), (4, 25)]),
        ((40,), 2, [(0, 41)]),
    ],
)
@pytest.mark.parametrize("n_envs", [0, 2])
def test_an_episode_that_ended_among_lost_frames_ended_where_it_did(run, spoil, n_envs, steps, chunk, episodes):
    path = run(n_envs, *steps)
    assert episodes_of(path) == ([], episodes)
    spoil(path, chunk)
    assert episodes_of(path) == ([(8 * chunk, min(8 * chunk + 8, episodes[-1][1]))], episodes)


def test_worlds_that_were_reset_one_by_one_among_lost_frames_end_no_episode(run, spoil):
    path = run(2, 18, [0], 2, [1], 20)
    assert episodes_of(path) == ([], [(0, 41)])
    spoil(path, 2)
    assert episodes_of(path) == ([(16, 24)], [(0, 41)])


def test_without_notes_an_episode_ended_at_the_last_frame_that_is_lost(run, spoil, rewrite, tmp_path):
    def change(notes):
        notes[:] = [note for note in notes if note.value["type"] != "episode"]

    path = rewrite(run(0, 300, 300), tmp_path / "other.reel", notes=change)
    spoil(path, 1)
    assert episodes_of(path) == ([(256, 512)], [(0, 512), (512, 602)])


def test_user_state_is_that_of_the_frames_own_episode(made, tmp_path):
    kept = {"count": -1}
    scene = made("arm")
    scene.add_state("count", lambda: kept["count"], lambda count: None)
    scene.start_recording(sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel", chunk_size=8))
    for episode in range(3):
        if episode:
            scene.reset()
        for step in range(10):
            kept["count"] = 100 * episode + step
            scene.step()
    kept["count"] = 999
    scene.stop_recording()
    found = []
    other = made("arm")
    other.add_state("count", lambda: 0, found.append)
    with sr.Scene.load_trajectory(tmp_path / "run.reel", other) as traj:
        assert traj.episodes == [(0, 11), (11, 22), (22, 33)]
        for frame in (0, 7, 8, 10, 11, 12, 16, 21, 22, 23, 24, 32):
            traj.seek(frame)
    assert found == [0, 0, 8, 8, 100, 100, 105, 105, 200, 200, 202, 999]


def test_user_state_of_another_episode_is_left_out(made, tmp_path, rewrite):
    scene = made("arm")
    scene.add_state("memory", lambda: np.arange(3.0), lambda memory: None)
    with scene.recording(sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel")):
        scene.step(10)
        scene.reset()
        scene.step(10)

    def change(notes):
        notes[:] = [note for note in notes if note.value["type"] != "state" or note.frame == 0]

    path = rewrite(tmp_path / "run.reel", tmp_path / "other.reel", notes=change)
    found = []
    other = made("arm")
    other.add_state("memory", lambda: 0, lambda memory: found.append(memory.tolist()))
    with sr.Scene.load_trajectory(path, other) as traj:
        traj.seek(15)
        assert found == []
        traj.seek(10)
        assert found == [[0, 1, 2]]
