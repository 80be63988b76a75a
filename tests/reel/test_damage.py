"""A cut or flipped byte anywhere: data that is right with its gaps named, or an error of ours; never anything else."""

import random
import struct
import tracemalloc
import warnings
import zlib

import numpy as np
import pytest
import zstandard

from simreel.errors import DamagedFileError, SimreelWarning
from simreel.reel import Field, Layout, Reel, ReelWriter
from simreel.reel.head import Head
from simreel.reel.index import Trailer
from simreel.reel.record import HEADER_SIZE, Header, Start


def records(data):
    """Where each record starts, and its header."""
    at, found = 64, []
    while at < len(data):
        header = Header.unpack(data[at : at + HEADER_SIZE], at)
        found.append((at, header))
        at = (at + HEADER_SIZE + header.length + 4 + 7) & ~7
    return found


def flipped(data, at, bit):
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


def check_flip(path, data, frames, at, bit, examine):
    path.write_bytes(flipped(data, at, bit))
    gaps, count = examine(path, frames)
    assert count == 28
    assert gaps in ([], [(0, 8)], [(8, 16)], [(16, 24)], [(24, 28)])
    inside = [h for start, h in records(data) if start <= at < start + HEADER_SIZE + h.length + 4 and h.tag == b"CHNK"]
    assert gaps == [(h.first, h.first + h.frames) for h in inside]


def check_cut(path, data, frames, size, examine):
    path.write_bytes(data[:size])
    whole = [h for at, h in records(data) if at + HEADER_SIZE + h.length + 4 <= size]
    found = examine(path, frames)
    if not whole:
        assert found is None
    else:
        assert found == ([], sum(h.frames for h in whole))
        with Reel.open(path) as reel:
            assert reel.is_complete == (size == len(data))


def test_a_flipped_byte_costs_at_most_the_chunk_that_it_is_in(tmp_path, small, examine):
    data, frames = small
    rng = random.Random(1)
    for at in rng.sample(range(len(data)), 250):
        check_flip(tmp_path / "a.reel", data, frames, at, rng.randrange(8), examine)


def test_a_cut_keeps_every_whole_chunk(tmp_path, small, examine):
    data, frames = small
    for size in random.Random(2).sample(range(len(data)), 250):
        check_cut(tmp_path / "a.reel", data, frames, size, examine)


@pytest.mark.slow
@pytest.mark.parametrize("bit", [0, 7])
def test_any_flipped_bit_costs_at_most_the_chunk_that_it_is_in(tmp_path, small, examine, bit):
    data, frames = small
    for at in range(len(data)):
        check_flip(tmp_path / "a.reel", data, frames, at, bit, examine)


@pytest.mark.slow
def test_a_cut_anywhere_keeps_every_whole_chunk(tmp_path, small, examine):
    data, frames = small
    for size in range(len(data) + 1):
        check_cut(tmp_path / "a.reel", data, frames, size, examine)


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 300))])
def test_many_damaged_stretches_never_give_wrong_data(tmp_path, small, examine, seed):
    data, frames = small
    rng = random.Random(seed)
    for _ in range(10):
        damaged = bytearray(data)
        for _ in range(rng.randrange(1, 6)):
            at, size = rng.randrange(len(data)), rng.choice([1, 4, 40, 300])
            damaged[at : at + size] = rng.choice([rng.randbytes(size), bytes(size), b""])
        (tmp_path / "a.reel").write_bytes(bytes(damaged[: rng.choice([len(damaged), rng.randrange(len(damaged))])]))
        examine(tmp_path / "a.reel", frames)


@pytest.mark.parametrize("where", ["header", "body"])
def test_a_byte_in_chunk_3_of_10_costs_that_chunk_and_the_gap_is_named(tmp_path, mixed, make_frames, write, where):
    path, frames = tmp_path / "a.reel", make_frames(mixed, 80)
    write(path, mixed, frames, chunk_size=8)
    data = path.read_bytes()
    at, header = [(at, header) for at, header in records(data) if header.tag == b"CHNK"][3]
    path.write_bytes(flipped(data, at + (9 if where == "header" else HEADER_SIZE + header.length // 2), 0))
    with Reel.open(path) as reel:
        assert len(reel) == 80
        assert reel.gaps == [(24, 32)]
        assert reel.is_complete
        assert [damage.start for damage in reel.damage] == [at]
        with pytest.warns(SimreelWarning, match=r"a.reel: 8 frames of field 'qpos' are lost and read as nan") as caught:
            values = reel.field("qpos")[:]
        assert len(caught) == 1
        assert values[:24].tobytes() + values[32:].tobytes() == frames["qpos"][[*range(24), *range(32, 80)]].tobytes()
    # Without the index too.
    path.write_bytes(path.read_bytes()[:-64])
    with Reel.open(path) as reel:
        assert (len(reel), reel.gaps, reel.is_complete) == (80, [(24, 32)], False)


def test_the_second_head_stands_in_for_the_first(tmp_path, small, examine):
    data, frames = small
    (tmp_path / "a.reel").write_bytes(data[:64] + bytes(500) + data[564:])
    assert examine(tmp_path / "a.reel", frames) == ([], 28)


def test_a_lost_head_without_a_second_is_one_clear_sentence(tmp_path, small):
    data, _ = small
    cut = [at for at, header in records(data) if header.tag == b"HEAD"][1]
    (tmp_path / "a.reel").write_bytes(flipped(data, 100, 3)[:cut])
    with pytest.raises(DamagedFileError, match=r"a.reel: byte 64: .*HEAD.*damaged.*no second one") as caught:
        Reel.open(tmp_path / "a.reel")
    assert caught.value.offset == 64


def test_a_search_finds_the_next_record_however_far_it_is(tmp_path, mixed, make_frames, write):
    path, frames = tmp_path / "a.reel", make_frames(mixed, 24)
    blob = random.Random(3).randbytes(3 * 2**20 + 4)
    write(path, mixed, frames, chunk_size=8, blobs={"large": blob})
    data = path.read_bytes()
    at = next(at for at, header in records(data) if header.tag == b"BLOB")
    path.write_bytes(flipped(data, at + 10, 0)[:-64])
    with Reel.open(path) as reel:
        assert (len(reel), reel.gaps, dict(reel.blobs)) == (24, [], {})
        assert reel.row(23)["step"] == frames["step"][23]
        (damage,) = reel.damage
        assert (damage.start, damage.stop) == (at, records(data)[2][0])


def test_a_reel_inside_a_reel_is_not_taken_for_records_of_the_outer_one(tmp_path, small, examine, mixed, write):
    data, frames = small
    write(tmp_path / "a.reel", mixed, frames, blobs={"inner": bytes(random.Random(4).randbytes(64)) + data})
    outer = (tmp_path / "a.reel").read_bytes()
    at = next(at for at, header in records(outer) if header.tag == b"BLOB")
    (tmp_path / "a.reel").write_bytes(flipped(outer, at, 0)[:-64])
    with Reel.open(tmp_path / "a.reel") as reel:
        assert reel.gaps == []
        assert len(reel) == 28


def forged(at, tag, body, first=0, frames=0, length=None):
    """A record with good checksums that says what no writer would."""
    header = Header(tag, 0, len(body) if length is None else length, first, frames).pack(at)
    raw = header + body + struct.pack("<I", zlib.crc32(body))
    return raw + bytes(-len(raw) % 8)


@pytest.mark.parametrize(
    ("first", "frames", "length"),
    [
        (28, 9, None),
        (28, 0, None),
        (28, 2**32 - 1, None),
        (2**64 - 1, 1, None),
        (2**40, 1, None),
        (5, 1, None),
        (28, 1, 2**63),
    ],
)
def test_a_chunk_that_says_something_impossible_is_refused(tmp_path, small, examine, first, frames, length):
    data, given = small
    end = [at for at, header in records(data) if header.tag == b"HEAD"][1]
    (tmp_path / "a.reel").write_bytes(data[:end] + forged(end, b"CHNK", bytes(100), first, frames, length))
    assert examine(tmp_path / "a.reel", given) == ([], 28)
    with Reel.open(tmp_path / "a.reel") as reel:
        assert [damage.start for damage in reel.damage] == ([end] if length is None else [])


@pytest.mark.parametrize("body", [b"", bytes(4), b"\x06\0\0\0" + b"\xff" * 24, b"\x06\0\0\0" + bytes(24)])
def test_a_chunk_with_good_checksums_that_cannot_be_decoded_is_an_error_with_its_offset(tmp_path, small, body):
    data, _ = small
    end = [at for at, header in records(data) if header.tag == b"HEAD"][1]
    (tmp_path / "a.reel").write_bytes(data[:end] + forged(end, b"CHNK", body, 28, 1))
    with Reel.open(tmp_path / "a.reel") as reel:
        with pytest.raises(DamagedFileError, match="cannot be decoded") as caught:
            reel.row(28)
        assert caught.value.offset == end
        assert reel.row(27)["step"].shape == (1,)


def test_a_layout_of_huge_rows_costs_nothing_until_a_chunk_has_them(tmp_path):
    layout = Layout((Field("x", "f8", 2**25),))
    body = Head(layout, 1.0, 8, "phys1", 1).to_bytes()
    (tmp_path / "a.reel").write_bytes(Start((1, 0), "x").pack() + forged(64, b"HEAD", body))
    tracemalloc.start()
    with Reel.open(tmp_path / "a.reel") as reel:
        assert len(reel) == 0
        _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000


def directory(*streams):
    return struct.pack(f"<{len(streams) + 1}I", len(streams), *map(len, streams)) + b"".join(streams)


BOMB = zstandard.ZstdCompressor().compress(bytes(100 * 2**20))
# A counts stream of one frame, that says 2**31 - 1 items: predictor, frame 0.
COUNTS = zstandard.ZstdCompressor().compress(b"\0" + struct.pack("<i", 2**31 - 1))


@pytest.mark.parametrize(
    ("field", "body"),
    [
        ("step", directory(*[BOMB] * 6)),
        ("contacts", directory(b"", b"", b"", b"", BOMB, b"")),
        ("contacts", directory(b"", b"", b"", b"", COUNTS, BOMB)),
        ("contacts", directory(b"", b"", b"", b"", COUNTS, b"")),
    ],
)
def test_a_chunk_that_would_unpack_to_more_than_it_may_is_refused_before_it_is_allocated(tmp_path, small, field, body):
    data, _ = small
    end = [at for at, header in records(data) if header.tag == b"HEAD"][1]
    (tmp_path / "a.reel").write_bytes(data[:end] + forged(end, b"CHNK", body, 28, 1))
    with Reel.open(tmp_path / "a.reel") as reel:
        tracemalloc.start()
        with pytest.raises(DamagedFileError, match="cannot be decoded") as caught:
            reel.field(field)[28]
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert caught.value.offset == end
    assert peak < 2**20


@pytest.mark.parametrize("seed", range(3))
def test_no_damage_costs_more_memory_than_the_file_is_large(tmp_path, small, seed):
    data, _ = small
    rng = random.Random(seed)
    for _ in range(20):
        (tmp_path / "a.reel").write_bytes(flipped(data, rng.randrange(len(data)), rng.randrange(8)))
        tracemalloc.start()
        with Reel.open(tmp_path / "a.reel") as reel, warnings.catch_warnings():
            warnings.simplefilter("ignore", SimreelWarning)
            reel.info()
            for field in reel.layout.fields:
                reel.field(field.name)[:]
            _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 500_000


@pytest.mark.parametrize("name", ["step", "x"])
def test_to_tell_about_a_file_that_says_it_is_long_takes_no_memory(tmp_path, name):
    with ReelWriter(tmp_path / "a.reel", Layout((Field(name, "i8", 1),)), chunk_size=65536) as writer:
        writer.append(np.arange(5, dtype="<i8")[:, None])
    data = (tmp_path / "a.reel").read_bytes()
    at, _ = records(data)[-1]
    frames = len(data) // 40 * 65536
    trailer = Trailer.unpack(data[at + HEADER_SIZE :])._replace(frames=frames).pack()
    (tmp_path / "a.reel").write_bytes(data[:at] + forged(at, b"TRLR", trailer))
    with Reel.open(tmp_path / "a.reel") as reel:
        tracemalloc.start()
        info = reel.info()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert (info["frames"], info["gaps"]) == (frames, [[5, frames]])
    assert info["time"] == ([0, 4] if name == "step" else [0, frames - 1])
    assert peak < 2**20


def test_records_and_flags_that_are_not_known_are_ignored(tmp_path, small, examine):
    data, frames = small
    end = [at for at, header in records(data) if header.tag == b"HEAD"][1]
    (tmp_path / "a.reel").write_bytes(data[:end] + forged(end, b"NEWS", b"whatever") + b"")
    assert examine(tmp_path / "a.reel", frames) == ([], 28)
    with Reel.open(tmp_path / "a.reel") as reel:
        assert reel.damage == []
