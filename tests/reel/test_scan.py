"""The records of a file are found by its index, and without it from header to header."""

import struct
import zlib

import numpy as np
import pytest

from simreel.errors import GapError
from simreel.reel import Reel
from simreel.reel.file import ReelFile
from simreel.reel.record import HEADER_SIZE
from simreel.reel.scan import find_records


def test_the_index_and_the_headers_tell_the_same(tmp_path, small):
    data, _ = small
    (tmp_path / "a.reel").write_bytes(data)
    (tmp_path / "b.reel").write_bytes(data[:-64])
    file, cut = ReelFile(tmp_path / "a.reel"), ReelFile(tmp_path / "b.reel")
    indexed, scanned = find_records(file), find_records(cut)
    assert (indexed.is_indexed, indexed.is_complete, indexed.damage) == (True, True, [])
    assert (scanned.is_indexed, scanned.is_complete, scanned.damage) == (False, False, [])
    # The headers have that of the index too.
    assert scanned.entries[:-1].tolist() == indexed.entries.tolist()
    assert scanned.entries["tag"][-1] == b"INDX"
    assert scanned.end == len(data) - 64
    file.close()
    cut.close()


def test_what_is_appended_to_a_closed_file_costs_none_of_it(tmp_path, small, examine):
    data, frames = small
    (tmp_path / "a.reel").write_bytes(data + b"whatever" * 20)
    assert examine(tmp_path / "a.reel", frames) == ([], 28)
    with Reel.open(tmp_path / "a.reel") as reel:
        assert reel.is_complete
        assert [(damage.start, damage.stop) for damage in reel.damage] == [(len(data), len(data) + 160)]


@pytest.mark.parametrize(("column", "change"), [("frames", 1), ("first", 1), ("offset", 8), ("length", 1)])
def test_an_index_that_lies_gives_no_wrong_frame(tmp_path, small, column, change):
    """A liar with good checksums: its chunk is refused."""
    data, frames = small
    (tmp_path / "a.reel").write_bytes(data)
    with Reel.open(tmp_path / "a.reel") as reel:
        at = reel.records.trailer.index_at
        number = reel.records.entries["tag"].tolist().index(b"CHNK")
        length = struct.unpack_from("<Q", data, at + 8)[0]
    body = bytearray(data[at + HEADER_SIZE : at + HEADER_SIZE + length])
    place = {"frames": (4, "<I"), "first": (8, "<Q"), "offset": (16, "<Q"), "length": (24, "<Q")}[column]
    value = struct.unpack_from(place[1], body, 8 + 32 * number + place[0])[0]
    struct.pack_into(
        place[1], body, 8 + 32 * number + place[0], value - change if column == "frames" else value + change
    )
    end = at + HEADER_SIZE + length
    (tmp_path / "a.reel").write_bytes(
        data[: at + HEADER_SIZE] + body + struct.pack("<I", zlib.crc32(body)) + data[end + 4 :]
    )
    with Reel.open(tmp_path / "a.reel") as reel:
        right = 0
        for i in range(len(reel)):
            try:
                row = reel.row(i)
            except GapError:
                continue
            assert np.array_equal(row["step"], frames["step"][i])
            right += 1
        assert right >= 12
