"""The bytes of the start and of records, against the page of the format."""

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simreel.reel.record import MAGIC, TAGS, Header, Start, record_end, record_parts

u32, u64 = st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1)


@given(st.sampled_from(TAGS), u32, u64, u64, u32, st.integers(0, 2**40).map(lambda n: n * 8))
def test_a_header_comes_back_at_its_place_and_nowhere_else(tag, flags, length, first, frames, at):
    raw = Header(tag, flags, length, first, frames).pack(at)
    assert Header.unpack(raw, at) == (tag, flags, length, first, frames)
    assert Header.unpack(raw, at + 8) is None
    assert Header.unpack(raw[:-1], at) is None
    for i in range(32):
        assert Header.unpack(raw[:i] + bytes([raw[i] ^ 1]) + raw[i + 1 :], at) is None


def test_a_header_is_what_the_page_says():
    raw = Header(b"CHNK", 1, 2, 3, 4).pack(64)
    fields = struct.pack("<4sIQQI", b"CHNK", 1, 2, 3, 4)
    assert raw == fields + struct.pack("<I", zlib.crc32(fields + struct.pack("<Q", 64)))


@pytest.mark.parametrize("size", range(9))
def test_a_record_ends_at_a_multiple_of_8(size):
    body = bytes(range(size))
    raw = b"".join(record_parts(Header(b"NOTE", 0, size, 0, 0), [body[:3], body[3:]], 64))
    assert len(raw) % 8 == 0
    assert 64 + len(raw) == record_end(64, size)
    assert raw[32 : 32 + size] == body
    assert raw[32 + size : 36 + size] == struct.pack("<I", zlib.crc32(body))
    assert not any(raw[36 + size :])


@given(st.text(max_size=60), st.integers(0, 65535), st.integers(0, 65535))
def test_a_start_is_64_bytes_whoever_wrote_it(writer, major, minor):
    raw = Start((major, minor), writer.replace("\0", "").encode("utf-8", "replace").decode()).pack()
    assert len(raw) == 64
    assert raw.startswith(MAGIC)
    start = Start.unpack(raw)
    assert start is not None
    assert start.version == (major, minor)


def test_a_damaged_start_is_none():
    raw = Start((1, 0), "ü").pack()
    assert Start.unpack(raw) == ((1, 0), "ü")
    assert all(Start.unpack(raw[:i] + bytes([raw[i] ^ 4]) + raw[i + 1 :]) is None for i in range(64))
    other = b"\x89otherfmt" + raw[9:60]
    assert Start.unpack(other + struct.pack("<I", zlib.crc32(other))) is None
