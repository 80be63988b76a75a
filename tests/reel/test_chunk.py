"""The lengths of the streams of a chunk."""

import struct

import pytest

from simreel.reel.chunk import directory_size, pack_directory, stream_places, unpack_directory


def test_streams_are_found_and_bytes_after_them_ignored():
    streams = [b"abc", b"", b"de"]
    body = pack_directory(streams) + b"".join(streams)
    assert len(body) == directory_size(3) + 5
    for more in (b"", b"news"):
        places = unpack_directory(body + more, len(body + more), 3)
        assert [body[start:stop] for start, stop in places] == streams
    assert unpack_directory(pack_directory([]), 4, 0) == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\3\0\0\0",
        *(struct.pack("<4I", *numbers) for numbers in [(2, 0, 0, 0), (3, 0, 1, 0), (3, *[2**32 - 1] * 3)]),
    ],
)
def test_a_directory_that_does_not_fit_is_a_value_error(body):
    with pytest.raises(ValueError, match="chunk"):
        unpack_directory(body, len(body), 3)


def test_a_ragged_field_has_two_streams():
    assert stream_places([False, True, True, False]) == [0, 1, 3, 5]
