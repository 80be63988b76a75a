"""Recorders that fail, and steps and resets that the environment refuses."""

from __future__ import annotations

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed: pip install 'simreel[gym]'")

from gymnasium.vector import AutoresetMode, SyncVectorEnv  # noqa: E402

import simreel as sr  # noqa: E402
from simreel.errors import FieldError, OptionsError, RecorderError, RecorderErrorGroup  # noqa: E402
from simreel.gym import Record  # noqa: E402


class Counter(gymnasium.Env):
    """Counts resets and the steps since; refuses the action 1, and a reset while `refuses` is set."""

    observation_space = gymnasium.spaces.Discrete(1000)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, length: int = 3) -> None:
        self.metadata = {}
        self.length = length
        self.count = self.resets = 0
        self.refuses = False

    def reset(self, *, seed=None, options=None):
        if self.refuses:
            raise LookupError("no reset")
        self.count = 0
        self.resets += 1
        return 0, {}

    def step(self, action):
        if action == 1:
            raise LookupError("no action")
        self.count += 1
        return self.count, 0.0, self.count == self.length, False, {}


def failing(at: int):
    """A data function that raises at its sample of that number, from 1."""
    calls = []

    def data_func() -> int:
        calls.append(None)
        if len(calls) == at:
            raise RuntimeError("boom")
        return 0

    return data_func


def npz(path, data_func, **options):
    return data_func, sr.recorders.NPZFile(path, **options)


def load(path):
    with np.load(path) as file:
        return {key: file[key].tolist() for key in file.files if key != "meta"}


@pytest.mark.parametrize("at", range(1, 9))
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_a_recorder_that_fails_leaves_the_worlds_of_the_others_right(tmp_path, mode, at: int) -> None:
    vector = SyncVectorEnv([Counter, lambda: Counter(2)], autoreset_mode=mode)
    counts = lambda: [[env.resets, env.count] for env in vector.envs]  # noqa: E731
    recorded = Record(vector, [npz(tmp_path / "a.npz", counts), npz(tmp_path / "b.npz", failing(at))])
    recorded.reset()
    errors = []
    for _ in range(8):
        try:
            recorded.step(np.zeros(2, int))
        except RecorderError as error:
            errors.append(str(error))
        ended = np.array([env.count == env.length for env in vector.envs])
        if mode is AutoresetMode.DISABLED and ended.any():
            recorded.reset(options={"reset_mask": ended})
    recorded.close()
    assert len(errors) == 1
    assert "boom" in errors[0]
    rows = load(tmp_path / "a.npz")
    data = np.array(rows["data"])
    np.testing.assert_array_equal(rows["world_time"], data[..., 1])
    np.testing.assert_array_equal(rows["episode"], data[..., 0] - 1)


@pytest.mark.parametrize("is_vector", [False, True])
def test_a_recorder_that_fails_at_the_last_sample_has_the_environment_reset(tmp_path, is_vector: bool) -> None:
    env = Counter()
    inner = SyncVectorEnv([lambda: env]) if is_vector else env
    action = np.zeros(1, int) if is_vector else 0
    count = (lambda: [env.count]) if is_vector else (lambda: env.count)
    recorded = Record(inner, [npz(tmp_path / "a.npz", count), npz(tmp_path / "b.npz", failing(4))])
    recorded.reset()
    for _ in range(3):
        recorded.step(action)
    with pytest.raises(RecorderError, match="boom"):
        recorded.reset()
    assert (env.resets, env.count) == (2, 0)
    recorded.step(action)
    recorded.close()
    rows = load(tmp_path / "a.npz")
    assert rows["step"] == [0, 1, 2, 3, 0, 1]
    assert np.ravel(rows["data"]).tolist() == [0, 1, 2, 3, 0, 1]
    assert np.ravel(rows["episode"]).tolist() == [0, 0, 0, 0, 1, 1]


def test_recorders_that_fail_together_are_told_together(tmp_path) -> None:
    env = Counter()
    recorded = Record(env, [npz(tmp_path / name, failing(1)) for name in ("a.npz", "b.npz")])
    recorded.reset()
    with pytest.raises(RecorderErrorGroup):
        recorded.step(0)
    assert env.count == 1
    recorded.close()


def test_a_step_that_is_refused_does_not_count(tmp_path) -> None:
    env = Counter()
    recorded = Record(env, [npz(tmp_path / "a.npz", lambda: env.count, hz=0.5)])
    recorded.reset()
    for action in (1, 0, 1, 0, 1, 1, 0, 0):
        if action:
            with pytest.raises(LookupError, match="no action"):
                recorded.step(1)
        else:
            recorded.step(0)
    recorded.close()
    rows = load(tmp_path / "a.npz")
    assert rows["step"] == rows["data"] == [0, 2, 4]


def test_a_step_that_is_refused_tells_its_own_error_and_that_of_a_recorder_comes_next(tmp_path) -> None:
    env = Counter()
    recorded = Record(env, [npz(tmp_path / "a.npz", failing(1))])
    recorded.reset()
    with pytest.raises(LookupError, match="no action"):
        recorded.step(1)
    with pytest.raises(RecorderError, match="boom"):
        recorded.step(0)
    assert env.count == 1
    recorded.close()


@pytest.mark.parametrize("is_vector", [False, True])
def test_a_start_whose_step_is_refused_is_not_the_row_of_the_next_one(tmp_path, is_vector: bool) -> None:
    env = Counter()
    state = lambda: [[env.resets, env.count]]  # noqa: E731
    recorded = Record(SyncVectorEnv([lambda: env]) if is_vector else env, [npz(tmp_path / "a.npz", state)])
    wrong, right = ([1], [0]) if is_vector else (1, 0)
    recorded.reset()
    with pytest.raises(LookupError):
        recorded.step(wrong)
    for _ in range(2):
        recorded.reset()
    recorded.step(right)
    recorded.reset()
    recorded.step(right)
    recorded.close()
    rows = load(tmp_path / "a.npz")
    assert rows["data"] == [[[1, 0]], [[3, 0]], [[3, 1]], [[4, 0]], [[4, 1]]]
    assert rows["step"] == [0, 0, 1, 0, 1]
    assert np.ravel(rows["episode"]).tolist() == [0, 1, 1, 2, 2]


@pytest.mark.parametrize("is_vector", [False, True])
def test_a_step_before_the_first_reset_is_refused_and_no_sample_is_taken(tmp_path, is_vector: bool) -> None:
    make = lambda: gymnasium.make("CartPole-v1")  # noqa: E731
    env = SyncVectorEnv([make]) if is_vector else make()
    one = env.envs[0] if is_vector else env
    action = np.zeros(1, int) if is_vector else 0
    # Without a state before the first reset.
    recorded = Record(env, [npz(tmp_path / "a.npz", lambda: np.array([one.unwrapped.state], float))])
    with pytest.raises(gymnasium.error.ResetNeeded):
        recorded.step(action)
    recorded.reset(seed=1)
    start = np.array(one.unwrapped.state, float)
    recorded.step(action)
    recorded.close()
    rows = load(tmp_path / "a.npz")
    assert rows["step"] == [0, 1]
    assert rows["data"][0] == [start.tolist()]


def test_an_environment_that_was_reset_before_it_is_wrapped_has_its_start(tmp_path) -> None:
    env = gymnasium.wrappers.OrderEnforcing(Counter())
    env.reset()
    recorded = Record(env, [npz(tmp_path / "a.npz", lambda: env.unwrapped.count)])
    recorded.step(0)
    recorded.close()
    assert load(tmp_path / "a.npz")["data"] == [0, 1]


@pytest.mark.parametrize("is_reset", [False, True])
def test_an_environment_that_is_closed_before_its_first_step_leaves_no_file(tmp_path, is_reset: bool) -> None:
    env = gymnasium.make("CartPole-v1")
    options = [sr.recorders.NPZFile(tmp_path / "a.npz"), sr.recorders.CSVFile(tmp_path / "a.csv")]
    recorded = Record(env, [(lambda: {"state": env.unwrapped.state}, each) for each in options])
    if is_reset:
        recorded.reset()
    recorded.close()
    assert list(tmp_path.iterdir()) == []


def test_each_environment_of_an_async_vector_may_be_recorded(tmp_path) -> None:
    def make(index: int):
        env = Counter()
        return Record(env, [npz(tmp_path / f"{index}.npz", lambda: env.count)])

    vector = gymnasium.vector.AsyncVectorEnv([lambda: make(0), lambda: make(1)])
    vector.reset()
    for _ in range(5):
        vector.step(np.zeros(2, int))
    vector.close()
    for index in range(2):
        rows = load(tmp_path / f"{index}.npz")
        assert rows["data"] == [0, 1, 2, 3, 0, 1]
        assert rows["episode"] == [0, 0, 0, 0, 1, 1]


@pytest.mark.parametrize(
    "mask", [[True, False], np.array([1, 0]), np.array([True]), None, [[1], [1, 2]], np.zeros(2, bool)]
)
def test_a_reset_of_worlds_that_is_refused_ends_nothing(tmp_path, mask) -> None:
    vector = SyncVectorEnv([lambda: Counter(100)] * 2, autoreset_mode=AutoresetMode.DISABLED)
    recorded = Record(vector, [npz(tmp_path / "a.npz", lambda: [env.count for env in vector.envs])])
    recorded.reset()
    recorded.step(np.zeros(2, int))
    # What is no mask is refused here, the rest by gymnasium.
    with pytest.raises((TypeError, ValueError, AssertionError), match="reset_mask"):
        recorded.reset(options={"reset_mask": mask})
    recorded.step(np.zeros(2, int))
    recorded.close()
    rows = load(tmp_path / "a.npz")
    assert rows["data"] == rows["world_time"] == [[0, 0], [1, 1], [2, 2]]
    assert rows["episode"] == [[0, 0]] * 3


def test_what_is_no_mask_is_told_with_what_is_needed() -> None:
    recorded = Record(SyncVectorEnv([Counter] * 2), [])
    with pytest.raises(FieldError, match=r"options\['reset_mask'\]: None given, an array \(2,\) bool is needed"):
        recorded.reset(options={"reset_mask": None})


def test_worlds_whose_reset_fails_stay_in_their_episodes(tmp_path) -> None:
    vector = SyncVectorEnv([lambda: Counter(100)] * 2, autoreset_mode=AutoresetMode.DISABLED)
    recorded = Record(vector, [npz(tmp_path / "a.npz", lambda: [env.count for env in vector.envs])])
    recorded.reset()
    recorded.step(np.zeros(2, int))
    vector.envs[1].refuses = True
    with pytest.raises(LookupError, match="no reset"):
        recorded.reset(options={"reset_mask": np.array([False, True])})
    recorded.step(np.zeros(2, int))
    recorded.close()
    assert load(tmp_path / "a.npz")["episode"] == [[0, 0]] * 3


def test_a_mask_that_the_reset_changes_is_taken_as_it_was(tmp_path) -> None:
    class Clearing(SyncVectorEnv):
        def reset(self, *, seed=None, options=None):
            mask = options.get("reset_mask") if options else None
            result = super().reset(seed=seed, options=options)
            if mask is not None:
                mask[:] = False
            return result

    vector = Clearing([Counter, lambda: Counter(100)], autoreset_mode=AutoresetMode.NEXT_STEP)
    recorded = Record(vector, [npz(tmp_path / "a.npz", lambda: [env.count for env in vector.envs])])
    recorded.reset()
    for _ in range(3):
        _, _, ended, _, _ = recorded.step(np.zeros(2, int))
    # The next step has nothing left to reset.
    recorded.reset(options={"reset_mask": ended})
    for _ in range(2):
        recorded.step(np.zeros(2, int))
    recorded.close()
    rows = load(tmp_path / "a.npz")
    assert rows["data"] == rows["world_time"] == [[0, 0], [1, 1], [2, 2], [0, 3], [1, 4], [2, 5]]
    assert rows["episode"] == [[0, 0]] * 3 + [[1, 0]] * 3


def test_a_step_in_which_an_inner_recorder_fails_counts(tmp_path) -> None:
    env = Counter(100)
    inner = Record(env, [npz(tmp_path / "in.npz", failing(2))])
    outer = Record(inner, [npz(tmp_path / "out.npz", lambda: env.count)])
    outer.reset()
    outer.step(0)
    with pytest.raises(RecorderError, match=r"in\.npz"):
        outer.step(0)
    outer.step(0)
    outer.close()
    rows = load(tmp_path / "out.npz")
    assert rows["data"] == rows["step"] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("mode", "is_right"),
    [("SameStep", True), (AutoresetMode.SAME_STEP, True), ("NextStep", False), ("Disabled", False)],
)
def test_the_autoreset_mode_of_a_vector_may_be_text(tmp_path, mode, is_right: bool) -> None:
    vector = SyncVectorEnv([Counter], autoreset_mode=AutoresetMode.SAME_STEP)
    vector.metadata = {"autoreset_mode": mode}
    recorded = Record(vector, [npz(tmp_path / "a.npz", lambda: [env.count for env in vector.envs])])
    recorded.reset()
    for _ in range(5):
        recorded.step(np.zeros(1, int))
    recorded.close()
    rows = load(tmp_path / "a.npz")
    assert (rows["data"] == rows["world_time"]) is is_right


@pytest.mark.parametrize("mode", [None, "same-step", 1])
def test_an_autoreset_mode_that_there_is_not_is_named(mode) -> None:
    vector = SyncVectorEnv([Counter])
    vector.metadata = {"autoreset_mode": mode}
    with pytest.raises(OptionsError, match=rf"autoreset_mode'\] = {mode!r}: .*NEXT_STEP or 'NextStep'"):
        Record(vector, [])


@pytest.mark.parametrize("recordings", [None, 5])
def test_recordings_that_are_no_list_are_named(recordings) -> None:
    with pytest.raises(OptionsError, match=r"recordings = .*a list of pairs"):
        Record(Counter(), recordings)


def test_recordings_may_come_from_a_generator(tmp_path) -> None:
    env = Counter()
    recorded = Record(env, (npz(tmp_path / name, lambda: env.count) for name in ("a.npz", "b.npz")))
    assert len(recorded.recorders) == 2
    recorded.close()


@pytest.mark.parametrize("data_func", [None, lambda: 0])
def test_a_trajectory_is_refused_with_what_records_an_environment(tmp_path, data_func) -> None:
    trajectory = sr.recorders.TrajectoryFile(tmp_path / "run.reel")
    for pair in ((data_func, trajectory), (trajectory, None)):
        with pytest.raises(OptionsError, match=r"TrajectoryFile records a simreel\.Scene, and an environment is none"):
            Record(Counter(), [pair])
    assert list(tmp_path.iterdir()) == []
