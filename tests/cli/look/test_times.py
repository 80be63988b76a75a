import numpy as np
import pytest

from simreel.cli.look.times import Times


@pytest.mark.parametrize("pieces", [[5], [2, 3], [1, 1, 3]])
def test_the_pieces_do_not_matter(pieces):
    times, stamps = Times(), np.arange(5) / 8
    for piece in np.split(stamps, np.cumsum(pieces)[:-1]):
        times.add_times(piece)
    assert times.text() == "5 rows, 0 to 0.5 s at 8 Hz"


def test_without_rows_there_is_no_span():
    assert Times().text() == "0 rows"


def test_one_row_has_no_rate():
    times = Times()
    times.add_times(np.array([0.25]))
    assert times.text() == "1 row, 0.25 to 0.25 s"


def test_times_that_fall_back_at_an_episode_do_not_count_for_the_rate():
    times = Times()
    times.add_times(np.array([0, 0.1, 0, 0.1, 0, 0.1]))
    times.add_episodes(np.array([0, 0, 1, 1, 2, 2]))
    assert times.text() == "6 rows, 0 to 0.1 s at 10 Hz, 3 episodes"


def test_times_that_are_no_numbers_are_rows_all_the_same():
    times = Times()
    times.add_times(np.array([np.nan, 1.0, np.inf]))
    assert times.text() == "3 rows, 1 to 1 s"


def test_episodes_are_counted_for_each_world():
    times = Times()
    times.add_episodes(np.array([[0, 0], [0, 1]]))
    times.add_episodes(np.array([[1, 1]]))
    assert times.text() == "0 rows, 4 episodes in 2 worlds"
