"""The ring between the simulation and the window process, both ends in one process."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

from simreel.recorders.plots.channel import Channel
from simreel.recorders.schema import Schema


@pytest.fixture
def ends():
    """Both ends of a channel of some capacity."""
    made = []

    def make(capacity, data=0.0):
        near, bell = Channel.create({"name": "ü"}, Schema.of(data).columns, capacity)
        far = Channel(os.dup(near.memory), bell)
        made.append((near, far))
        return near, far

    yield make
    for each in made:
        for end in each:
            if end.bell.fileno() >= 0:
                end.close()


def write(channel, first, count, episode=0):
    numbers = np.arange(first, first + count, dtype=float)
    channel.write(numbers.astype(int), episode, [numbers])


def test_the_description_arrives(ends):
    _, far = ends(3, {"a": np.zeros((2, 3), np.float32), "b": True})
    assert far.description == {
        "name": "ü",
        "columns": [["a", "<f4", [2, 3]], ["b", "|b1", []]],
        "capacity": 3,
    }
    json.dumps(far.description)


@pytest.mark.parametrize("count", [1, 2, 4, 5, 7])
def test_rows_come_out_as_they_went_in_across_the_end_of_the_ring(ends, count):
    near, far = ends(8)
    for first in range(0, 50, count):
        write(near, first, count, episode=first)
        rows = far.newest(count)
        assert rows["0"].tolist() == list(range(first, first + count))
        assert rows["step"].tolist() == list(range(first, first + count))
        assert set(rows["episode"]) == {first}
        assert not len(far.newest(8))


def test_the_newest_win(ends):
    near, far = ends(8)
    put = near.writer()
    for k in range(100):
        put(k, k // 50, np.array(float(k)))
    rows = far.newest(3)
    assert rows["0"].tolist() == [97, 98, 99]
    assert rows["step"].tolist() == [97, 98, 99]
    assert rows["episode"].tolist() == [1, 1, 1]
    assert far.header.tail == near.header.head == 100


def test_a_row_is_the_same_from_bytes_and_from_an_array(ends):
    first = np.arange(6, dtype=np.float32).reshape(2, 3)
    near, far = ends(4, first)
    put = near.writer()
    for values in (first, first.tobytes(), np.asfortranarray(first), first[::-1][::-1]):
        put(5, 3, values)
        (row,) = far.newest(1)
        assert row["0"].tolist() == first.tolist()
        assert (row["step"], row["episode"]) == (5, 3)


def test_bytes_hold_all_columns(ends):
    data = {"a": np.arange(3.0), "b": True, "c": np.int16(-7)}
    near, far = ends(4, data)
    near.writer()(5, 0, Schema.of(data).packer()(data))
    (row,) = far.newest(1)
    assert [row[name].tolist() for name in "012"] == [[0, 1, 2], True, -7]


def test_a_row_rings_where_it_is_waited_for_only(ends):
    near, far = ends(4)
    put = near.writer()
    put(0, 0, np.array(1.0))
    with pytest.raises(BlockingIOError):
        far.bell.recv(1)
    far.header.receiver_waits = 1
    put(1, 0, np.array(2.0))
    assert far.bell.recv(1)


def test_the_row_that_may_be_being_overwritten_is_not_given(ends):
    near, far = ends(4)
    write(near, 0, 4)
    assert far.newest(4)["0"].tolist() == [1, 2, 3], "the sender may be writing row 4, over row 0"
    near.header.head = 100
    near.header.tail = 0
    assert len(far.newest(4)) == 3


def test_one_row_after_another_is_read_without_a_loss(ends):
    near, far = ends(4, np.zeros((2, 2), np.int16))
    seen = []
    for k in range(20):
        near.write(np.array([k]), 0, [np.full((1, 2, 2), k, np.int16)])
        row = far.next_row()
        seen.append(int(row["0"][0, 1, 1]))
        far.header.tail += 1
    assert seen == list(range(20))
    assert far.next_row() is None


def test_a_letter_of_any_size_arrives(ends):
    near, far = ends(2)
    for content in (b"", b"text", bytes(range(256)) * 10_000):
        far.put_letter(content)
        assert near.letter() == content


def test_a_bell_wakes_and_its_end_is_told(ends):
    near, far = ends(2)
    near.listen(0.01)
    for _ in range(100_000):
        far.ring()  # never waits, also where nobody listens
    near.listen(10)
    assert near.hear()
    far.close()
    assert not near.hear()
    near.ring()


def test_after_its_end_the_header_can_still_be_read(ends):
    near, far = ends(2)
    write(near, 0, 2)
    far.header.lost = 7
    near.close()
    assert (near.header.head, near.header.lost) == (2, 7)
