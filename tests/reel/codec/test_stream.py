from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from simreel.errors import SimreelError
from simreel.reel.codec import CodecError, codec_for
from simreel.reel.codec.stream import Content, pack, unpack
from simreel.reel.layout import Field, Layout

N, WIDTH = 40, 5
LAYOUT = Layout((Field("x", "f8", WIDTH),))
HEAD = WIDTH * 9
COLUMN = (N - 1) * 8


def read(stream, layout=LAYOUT, n=N):
    return codec_for("phys1", layout, 0.01).decode({0: memoryview(stream)}, n, [0])[0]


def frame(content, **options):
    return zstandard.ZstdCompressor(**options).compress(content)


def content(predictors, residuals=None):
    varying = sum(map(bool, predictors)) if residuals is None else residuals
    return bytes(predictors) + bytes(8 * WIDTH) + bytes(varying * COLUMN)


def test_a_stream_made_by_hand_is_read():
    stream = frame(bytes([0, 1, 0, 0, 3]) + np.arange(5.0).tobytes() + b"\2" + bytes(2 * COLUMN - 1))
    values = read(stream)
    assert (values[:, 0] == 0.0).all()
    # The first difference of column 1 from frame 0 to 1 is 1: the next larger number.
    assert values[0, 1] == 1.0
    assert (values[1:, 1] == np.nextafter(1.0, 2.0)).all()
    assert (values[:, 4] == 4.0).all()


@settings(max_examples=50, deadline=None)
@given(st.sampled_from(["i1", "i4", "i8"]), st.integers(0, 4), st.integers(1, 300), st.integers(0, 2**32))
def test_what_is_packed_is_unpacked(dtype, varying, n, seed):
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    predictors = np.array([1] * varying + [0] * 3, np.uint8)
    rng.shuffle(predictors)
    first = np.frombuffer(rng.bytes(len(predictors) * dtype.itemsize), dtype)
    residual = np.frombuffer(rng.bytes(varying * (n - 1) * dtype.itemsize), dtype).reshape(varying, n - 1)
    stream = pack(Content(predictors, first, residual), zstandard.ZstdCompressor(level=1))
    got = unpack("x", [memoryview(stream)], (n, len(predictors)), dtype)
    assert (got.predictors == predictors).all()
    assert (got.first == first).all()
    assert (got.residual == residual).all()


def test_the_planes_stand_as_the_page_says():
    residual = np.array([[1, -1], [0x0102, -(2**63)]])
    stream = pack(Content(np.array([1, 1], np.uint8), np.array([7, 8]), residual), zstandard.ZstdCompressor())
    body = zstandard.ZstdDecompressor().decompress(stream)
    # 1, -1, 0x102 and the lowest number are 2, 1, 0x204 and 2**64 - 1 in zigzag.
    planes = [b"\x02\x01\x04\xff", b"\0\0\x02\xff", *[b"\0\0\0\xff"] * 6]
    assert body == b"\1\1" + np.array([7, 8], "<i8").tobytes() + b"".join(planes)


MALFORMED = {
    "no bytes": b"",
    "no zstd": b"no zstd frame at all",
    "a frame that is cut": frame(content([1] * WIDTH))[:-1],
    "bytes after the frame": frame(content([1] * WIDTH)) + b"\0",
    "two frames": frame(content([1] * WIDTH)) * 2,
    "a skippable frame": b"\x50\x2a\x4d\x18" + HEAD.to_bytes(4, "little") + bytes(HEAD),
    "a frame without its size": frame(content([1] * WIDTH), write_content_size=False),
    "an empty frame": frame(b""),
    "less than the head": frame(bytes(HEAD - 1)),
    "a part of a column": frame(content([0] * WIDTH) + b"\0"),
    "a column too few": frame(content([1] * WIDTH, 4)),
    "a column too many": frame(content([0] * WIDTH, 1)),
    "more columns than there are": frame(content([1] * WIDTH, WIDTH + 1)),
    "an unknown predictor": frame(content([1, 1, 200, 0, 0])),
    "a predictor of other fields": frame(content([1, 1, 5, 0, 0])),
    "a dictionary": frame(
        bytes([1] * WIDTH) + bytes(range(40)) + bytes(WIDTH * COLUMN),
        dict_data=zstandard.ZstdCompressionDict(bytes(range(40))),
    ),
    "gigabytes of zeros": frame(bytes(2**24)),
}


@pytest.mark.parametrize("stream", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_stream_is_refused_and_names_the_field(stream):
    with pytest.raises(CodecError, match="'x'"):
        read(stream)


def test_the_same_dictionary_free_frame_is_fine():
    assert read(frame(content([1] * WIDTH))).shape == (N, WIDTH)


def test_a_size_that_a_frame_only_claims_is_not_allocated():
    # Magic, a header with 8 bytes of content size, and nothing behind it.
    claim = b"\x28\xb5\x2f\xfd\xe0" + (2**40).to_bytes(8, "little")
    tracemalloc.start()
    try:
        with pytest.raises(CodecError):
            read(claim + bytes(100))
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_bytes_for_a_field_without_columns_are_refused():
    with pytest.raises(CodecError, match="no values"):
        read(b"x", Layout((Field("x", "f8", 0),)))


def survives(codec, streams, n, every):
    """Decodes, or raises our error."""
    try:
        decoded = codec.decode({index: memoryview(stream) for index, stream in enumerate(streams)}, n, every)
    except SimreelError:
        return
    for index in every:
        field = codec.layout.fields[index]
        assert decoded[index].shape == (n, field.width)
        assert decoded[index].dtype == field.dtype


@pytest.mark.parametrize("name", ["phys1", "diff1"])
def test_altered_and_cut_streams_give_values_or_our_error(body, wild, moved, name):
    rng = np.random.default_rng(0)
    codec = codec_for(name, body, 0.01)
    every = range(len(body.fields))
    for n, rows in [(1, moved(1, 0, 0.01)), (33, moved(33, 0, 0.01, 3)), (17, wild(body, 17, 3))]:
        streams = codec.encode(rows)
        for _ in range(300):
            altered = list(streams)
            place = rng.integers(len(streams))
            stream = bytearray(streams[place])
            match rng.integers(4):
                case 0:
                    stream = stream[: rng.integers(len(stream))]
                case 1:
                    stream += rng.bytes(rng.integers(1, 9))
                case _:
                    for at in rng.integers(len(stream), size=rng.integers(1, 4)):
                        stream[at] ^= rng.integers(1, 256)
            altered[place] = bytes(stream)
            survives(codec, altered, n, every)


def test_altered_content_in_a_whole_frame_gives_values_or_our_error(body, moved):
    rng = np.random.default_rng(1)
    codec = codec_for("phys1", body, 0.01)
    every = range(len(body.fields))
    streams = codec.encode(moved(33, 0, 0.01))
    inside = [zstandard.ZstdDecompressor().decompress(stream) for stream in streams]
    for _ in range(500):
        altered = list(streams)
        place = rng.integers(len(streams))
        new = bytearray(inside[place])
        # Half of them among the predictors.
        reach = body.fields[place].width if rng.integers(2) else len(new)
        new[rng.integers(reach)] = rng.integers(256) if rng.integers(2) else rng.integers(10)
        altered[place] = frame(bytes(new))
        survives(codec, altered, 33, every)


def test_streams_of_another_number_of_frames_are_refused(body, moved):
    codec = codec_for("phys1", body, 0.01)
    views = {index: memoryview(stream) for index, stream in enumerate(codec.encode(moved(33, 0, 0.01)))}
    for n in (32, 34, 300):
        with pytest.raises(CodecError):
            codec.decode(views, n, [1])


def test_planes_that_are_all_zero_take_next_to_nothing():
    """Whatever the height of those that are not: none, the lowest, all of them."""
    layout = Layout((Field("x", "i8", 8),))
    rows = np.zeros(256, layout.row_dtype)
    rng = np.random.default_rng(0)
    sizes = []
    for used in range(9):
        rows["x"] = rng.integers(-(2 ** (8 * used - 3)), 2 ** (8 * used - 3), rows["x"].shape) if used else 7
        rows["x"][0] = 0
        codec = codec_for("diff1", layout, 0.01)
        (stream,) = codec.encode(rows)
        assert np.array_equal(codec.decode({0: memoryview(stream)}, 256, [0])[0], rows["x"])
        sizes.append(len(stream))
    assert sizes[0] < 300
    assert all((used - 0.2) * 2040 < size < used * 2040 + 300 for used, size in enumerate(sizes))
