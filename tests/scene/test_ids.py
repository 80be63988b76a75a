from __future__ import annotations

import numpy as np
import pytest

from simreel.errors import FieldError, OptionsError
from simreel.scene.ids import count, world_ids


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([2, 0], [2, 0]),
        (3, [3]),
        (np.array([1, 1]), [1, 1]),
        ((), []),
        (range(2), [0, 1]),
        ([True, False, False, True], [0, 3]),
        (np.zeros(4, bool), []),
    ],
)
def test_worlds_are_taken_by_number_or_as_a_mask(given: object, expected: list[int]) -> None:
    assert world_ids("reset", given, 4).tolist() == expected


@pytest.mark.parametrize("given", [[4], [-1], [0.5], ["a"], [[0, 1]], [True, False], None])
def test_worlds_that_there_are_not_are_told_with_those_there_are(given: object) -> None:
    with pytest.raises(FieldError, match="from 0 to 3 or a mask of 4"):
        world_ids("reset", given, 4)


@pytest.mark.parametrize("given", [[0], [], [True]])
def test_a_scene_of_one_world_has_no_numbers(given: object) -> None:
    with pytest.raises(FieldError, match="one world"):
        world_ids("reset", given, 0)


@pytest.mark.parametrize("given", [[[0], [1, 2]], [0.5], "ab", [[1]], [5]])
def test_what_is_no_world_is_told(given: object) -> None:
    with pytest.raises(FieldError, match=r"reset: envs_idx.*numbers from 0 to 3 or a mask of 4 are allowed"):
        world_ids("reset", given, 4)


@pytest.mark.parametrize("given", [True, np.True_, 2.0, -1, "3", None])
def test_what_is_no_count_is_told(given: object) -> None:
    with pytest.raises(OptionsError, match=r"build: n_envs = .*: a whole number of at least 0 is needed"):
        count("build", "n_envs", given)
    assert type(count("build", "n_envs", np.int8(4))) is int
