from __future__ import annotations

import gc

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed: pip install 'simreel[gym]'")

import simreel as sr  # noqa: E402
from simreel.errors import OptionsError, RecorderError, TargetExistsError  # noqa: E402
from simreel.gym import Record  # noqa: E402


class Counter(gymnasium.Env):
    """Counts its steps; an episode lasts as long as its world says."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (1,))
    action_space = gymnasium.spaces.Discrete(2)
    dt = 0.5

    def __init__(self, length: int = 3) -> None:
        self.length = length
        self.count = -1
        self.closed = False

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count = 0
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.count += 1
        return np.full(1, self.count, np.float32), 1.0, self.count >= self.length, False, {}

    def close(self) -> None:
        self.closed = True


def vector(mode: str, lengths=(2, 3, 4, 100)):
    mode = gymnasium.vector.AutoresetMode[mode]
    return gymnasium.vector.SyncVectorEnv([lambda n=n: Counter(n) for n in lengths], autoreset_mode=mode)


def load(path):
    with np.load(path) as file:
        return dict(file)


def test_an_episode_of_n_steps_gives_n_plus_1_rows(tmp_path) -> None:
    env = Counter()
    recorded = Record(env, [(lambda: env.count, sr.recorders.NPZFile(tmp_path / "run.npz", save_on_reset=True))])
    assert isinstance(recorded, gymnasium.Env)
    assert isinstance(recorded, Record)
    assert recorded.unwrapped is env
    for _ in range(3):
        recorded.reset()
        done = False
        while not done:
            _, _, done, _, _ = recorded.step(0)
    recorded.close()
    assert env.closed
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run_0000.npz", "run_0001.npz", "run_0002.npz"]
    for index in range(3):
        rows = load(tmp_path / f"run_{index:04d}.npz")
        assert rows["data"].tolist() == [0, 1, 2, 3]
        assert rows["timestamp"].tolist() == [0, 0.5, 1, 1.5]


def test_stop_recording_leaves_the_environment_open(tmp_path) -> None:
    env = Counter()
    recorded = Record(env, [(lambda: env.count, sr.recorders.NPZFile(tmp_path / "run.npz"))])
    recorded.reset()
    recorded.step(0)
    recorded.stop_recording()
    recorded.stop_recording()
    assert not env.closed
    recorded.step(0)
    assert load(tmp_path / "run.npz")["data"].tolist() == [0, 1]
    assert recorded.recorders == ()


def test_an_environment_that_ends_without_close_leaves_a_whole_file(tmp_path) -> None:
    env = Counter()
    recorded = Record(env, [(lambda: env.count, sr.recorders.NPZFile(tmp_path / "run.npz"))])
    recorded.reset()
    recorded.step(0)
    del recorded
    with pytest.warns(sr.SimreelWarning, match=r"run\.npz"):
        gc.collect()
    assert load(tmp_path / "run.npz")["data"].tolist() == [0]


def test_a_recorder_that_fails_is_told_and_the_environment_takes_its_step(tmp_path) -> None:
    env = Counter()
    recorded = Record(env, [(lambda: 1 / 0, sr.recorders.NPZFile(tmp_path / "run.npz"))])
    recorded.reset()
    with pytest.raises(RecorderError, match="ZeroDivisionError"):
        recorded.step(0)
    assert env.count == 1
    recorded.step(0)
    assert env.count == 2
    recorded.close()


@pytest.mark.parametrize(("fps", "dt"), [(50, 0.02), (None, 1.0)])
def test_dt_is_that_of_the_environment_or_of_its_pictures_or_1(tmp_path, fps, dt) -> None:
    class Plain(Counter):
        dt = None
        metadata = {"render_fps": fps} if fps else {}

    env = Plain()
    recorded = Record(env, [(lambda: env.count, sr.recorders.NPZFile(tmp_path / "run.npz"))])
    recorded.reset()
    recorded.step(0)
    recorded.close()
    assert load(tmp_path / "run.npz")["timestamp"].tolist() == [0, dt]


def run_vector(tmp_path, mode: str, steps: int, lengths=(2, 3, 4, 100)):
    env = vector(mode, lengths)
    counts = lambda: np.array([inner.count for inner in env.envs])  # noqa: E731
    recorded = Record(env, [(counts, sr.recorders.NPZFile(tmp_path / "run.npz"))])
    assert isinstance(recorded, gymnasium.vector.VectorEnv)
    recorded.reset(seed=1)
    for _ in range(steps):
        _, _, terminated, truncated, _ = recorded.step(np.zeros(len(lengths), int))
        ended = terminated | truncated
        if mode == "DISABLED" and ended.any():
            recorded.reset(options={"reset_mask": ended})
    recorded.close()
    return load(tmp_path / "run.npz")


def test_next_step_autoreset_has_a_row_of_the_terminal_state_in_the_old_episode(tmp_path) -> None:
    rows = run_vector(tmp_path, "NEXT_STEP", 6)
    assert rows["data"].T.tolist() == [[0, 1, 2, 0, 1, 2, 0], [0, 1, 2, 3, 0, 1, 2], [0, 1, 2, 3, 4, 0, 1], [*range(7)]]
    assert rows["episode"].T.tolist() == [[0, 0, 0, 1, 1, 1, 2], [0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 1, 1], [0] * 7]
    np.testing.assert_array_equal(rows["world_time"], rows["data"] * 0.5)


@pytest.mark.parametrize("mode", ["SAME_STEP", "DISABLED"])
def test_the_other_modes_have_no_terminal_row(tmp_path, mode: str) -> None:
    rows = run_vector(tmp_path, mode, 6)
    assert rows["data"].T.tolist() == [[0, 1, 0, 1, 0, 1, 0], [0, 1, 2, 0, 1, 2, 0], [0, 1, 2, 3, 0, 1, 2], [*range(7)]]
    assert rows["episode"].T.tolist() == [[0, 0, 1, 1, 2, 2, 3], [0, 0, 0, 1, 1, 1, 2], [0, 0, 0, 0, 1, 1, 1], [0] * 7]
    np.testing.assert_array_equal(rows["world_time"], rows["data"] * 0.5)


def test_a_full_reset_of_a_vector_ends_all_episodes_with_their_last_row(tmp_path) -> None:
    env = vector("NEXT_STEP", (2, 100))
    counts = lambda: np.array([inner.count for inner in env.envs])  # noqa: E731
    recorded = Record(env, [(counts, sr.recorders.NPZFile(tmp_path / "run.npz"))])
    for _ in range(2):
        recorded.reset()
        for _ in range(2):
            recorded.step(np.zeros(2, int))
    recorded.close()
    rows = load(tmp_path / "run.npz")
    assert rows["step"].tolist() == [0, 1, 2, 0, 1, 2]
    assert rows["data"].T.tolist() == [[0, 1, 2, 0, 1, 2], [0, 1, 2, 0, 1, 2]]
    assert rows["episode"].T.tolist() == [[0, 0, 0, 1, 1, 1]] * 2


def test_ant_over_five_episodes_gives_five_files(tmp_path) -> None:
    env = gymnasium.make("Ant-v5", max_episode_steps=30)
    inner = env.unwrapped
    data_func = lambda: {"qpos": inner.data.qpos, "torso": inner.data.body("torso").xpos}  # noqa: E731
    recorded = Record(env, [(data_func, sr.recorders.NPZFile(tmp_path / "ant.npz", save_on_reset=True))])
    recorded.action_space.seed(0)
    lengths = []
    for episode in range(5):
        recorded.reset(seed=episode)
        lengths.append(0)
        done = False
        while not done:
            _, _, terminated, truncated, _ = recorded.step(recorded.action_space.sample())
            lengths[-1] += 1
            done = terminated or truncated
    recorded.close()
    files = sorted(tmp_path.iterdir())
    assert [path.name for path in files] == [f"ant_{index:04d}.npz" for index in range(5)]
    assert [len(load(path)["qpos"]) for path in files] == [length + 1 for length in lengths]
    assert load(files[0])["timestamp"][1] == inner.dt


@pytest.mark.parametrize("recordings", [[print], [(print,)], "ab"])
def test_recordings_that_are_no_pairs_are_named(recordings) -> None:
    with pytest.raises(OptionsError, match="pairs of"):
        Record(Counter(), recordings)


def test_what_is_no_environment_is_named() -> None:
    with pytest.raises(OptionsError, match=r"gymnasium\.Env or VectorEnv"):
        Record("Ant-v5", [])


def test_a_recorder_that_cannot_start_stops_the_others(tmp_path) -> None:
    (tmp_path / "b.npz").write_bytes(b"mine")
    with pytest.raises(TargetExistsError, match=r"b\.npz"):
        Record(Counter(), [(lambda: 0, sr.recorders.NPZFile(tmp_path / name)) for name in ("a.npz", "b.npz")])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.npz"]
