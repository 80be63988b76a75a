"""The index says where the records are, and is believed only where that can be."""

import numpy as np
import pytest

from simreel.reel.index import ENTRY, Trailer, index_size, pack_entry, pack_index, read_index
from simreel.reel.record import Header, record_end

HEAD = Header(b"HEAD", 0, 100, 0, 0)
RECORDS = [(64, HEAD), (200, Header(b"CHNK", 0, 60, 0, 8)), (296, Header(b"CHNK", 0, 20, 8, 4))]
END = 352


def body(records=RECORDS):
    return pack_index(b"".join(pack_entry(header, at) for at, header in records))


def test_entries_come_back():
    entries = read_index(body(), 64, END)
    assert entries.tolist() == [(h.tag, h.frames, h.first, at, h.length) for at, h in RECORDS]
    assert index_size(3) == record_end(0, len(body()))
    assert read_index(body([]), 64, END).tolist() == []


def test_entries_of_a_newer_writer_are_longer():
    entries = read_index(body(), 64, END)
    raw = np.zeros((3, 40), np.uint8)
    raw[:, :32] = entries.view(np.uint8).reshape(3, 32)
    assert (read_index(np.array([40, 3], "<u4").tobytes() + raw.tobytes(), 64, END) == entries).all()


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        np.array([32, 3], "<u4").tobytes(),
        np.array([31, 0], "<u4").tobytes(),
        np.array([2**32 - 1, 2**32 - 1], "<u4").tobytes(),
        body(RECORDS[::-1]),
        body([RECORDS[0], RECORDS[0]]),
        body([(8, RECORDS[0][1])]),
        body([(64, Header(b"CHNK", 0, 2**64 - 40, 0, 1))]),
        body([(2**64 - 8, RECORDS[0][1])]),
        body([(64, Header(b"CHNK", 0, END, 0, 1))]),
    ],
)
def test_an_impossible_index_is_a_value_error(raw):
    with pytest.raises(ValueError, match="index"):
        read_index(raw, 64, END)


def test_a_trailer_comes_back_and_bytes_after_it_are_ignored():
    raw = Trailer(1, 2, 2**63).pack()
    assert len(raw) == 28
    assert Trailer.unpack(raw + b"more") == (1, 2, 2**63)
    with pytest.raises(ValueError, match="short"):
        Trailer.unpack(raw[:-1])
    assert ENTRY.itemsize == 32
