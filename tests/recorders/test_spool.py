"""A spool that was cut or altered anywhere gives right rows and counts the others, or an error of ours."""

import json
import os
import tracemalloc
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simreel.errors import DamagedFileError, SimreelError
from simreel.recorders.spool import MAGIC, Header, SpoolReader, spools_of
from simreel.recorders.spool_writer import SpoolWriter

HEAD = {
    "writer": "simreel test",
    "dt": 0.01,
    "has_episode": True,
    "compression": "none",
    "columns": [
        {"name": "qpos", "dtype": "<f8", "shape": [3]},
        {"name": "on", "dtype": "|b1", "shape": []},
        {"name": "none", "dtype": "<f4", "shape": [0, 2]},
    ],
}
SIZES = [3, 1, 4, 2]


def block(first, rows):
    steps = np.arange(first, first + rows)
    return [np.stack([steps, steps * 0.5, -steps], axis=1).astype(float), steps % 2 == 0, np.zeros((rows, 0, 2), "f4")]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The bytes of a spool of ten rows in four records."""
    path = tmp_path_factory.mktemp("small") / "a.npz.1.spool"
    writer = SpoolWriter(path)
    writer.write_head(HEAD)
    first = 0
    for rows in SIZES:
        writer.write_rows(first, 1, first // 5, block(first, rows))
        first += rows
    writer.close()
    raw = path.read_bytes()
    path.unlink()
    return raw


def read(path):
    """The steps, rows and lost rows that a reader finds; values are checked against their step."""
    with SpoolReader(path) as spool:
        records = list(spool.records)
        steps = [r.first + i * r.stride for r in records for i in range(r.rows)]
        assert len(steps) == spool.rows
        if steps:
            qpos, on, none = (b"".join(spool.column(i)) for i in range(3))
            values = np.frombuffer(qpos, "<f8").reshape(-1, 3)
            assert values.tolist() == [[s, s * 0.5, -s] for s in steps]
            assert np.frombuffer(on, "?").tolist() == [s % 2 == 0 for s in steps]
            assert none == b""
            assert [r.episode for r in records] == [r.first // 5 for r in records]
        return steps, spool.lost_rows, spool.lost_bytes


def check(tmp_path, raw, *, changed):
    path = tmp_path / "b.npz.1.spool"
    path.write_bytes(raw)
    try:
        steps, lost, lost_bytes = read(path)
    except SimreelError:
        return None
    finally:
        path.unlink()
    assert steps == sorted(set(steps))
    assert set(steps) <= set(range(10))
    if changed:
        assert lost_bytes, "something is lost, and it must be counted"
    return steps, lost


def test_what_was_written_is_read(tmp_path, small):
    assert check(tmp_path, small, changed=False) == (list(range(10)), 0)


def places(small, n):
    """Some hundred places, the borders of the records among them."""
    rng = np.random.default_rng(5)
    return sorted({*range(70), *rng.integers(0, len(small), n).tolist(), *range(len(small) - 60, len(small))})


def test_a_flipped_bit_costs_its_record_and_nothing_else(tmp_path, small):
    rng = np.random.default_rng(7)
    for at in places(small, 200):
        flip(tmp_path, small, at, 1 << int(rng.integers(8)))


def test_a_spool_cut_anywhere_gives_the_rows_before_the_cut(tmp_path, small):
    for at in places(small, 200):
        cut(tmp_path, small, at)


@pytest.mark.slow
def test_every_byte_may_be_flipped_or_cut(tmp_path, small):
    for at in range(len(small)):
        cut(tmp_path, small, at)
        for bits in (1, 0x80, 0xFF):
            flip(tmp_path, small, at, bits)


def flip(tmp_path, small, at, bits):
    raw = bytearray(small)
    raw[at] ^= bits
    found = check(tmp_path, bytes(raw), changed=True)
    first_rows = small.index(b"ROWS")
    if at >= first_rows:
        steps, lost = found
        assert len(steps) + lost == 10
        assert lost in SIZES
    elif found is not None:
        assert found[0] == []


def cut(tmp_path, small, at):
    found = check(tmp_path, small[:at], changed=False)
    steps, lost = found
    assert steps == list(range(len(steps)))
    starts = [i for i in range(len(small)) if small.startswith(b"ROWS", i)]
    whole = [n for n, end in enumerate([*starts[1:], len(small)], 1) if end <= at]
    assert len(steps) == sum(SIZES[: len(whole)])
    torn = at not in {*starts, len(small)} and at > starts[0]
    assert (lost > 0) == torn


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_damage_gives_right_rows_or_an_error_of_ours(tmp_path_factory, small, data):
    raw = bytearray(small)
    for _ in range(data.draw(st.integers(1, 4))):
        kind = data.draw(st.sampled_from(["overwrite", "remove", "insert", "repeat", "zero"]))
        at = data.draw(st.integers(0, len(raw)))
        size = data.draw(st.integers(1, 300))
        piece = bytes(raw[at : at + size])
        if kind == "overwrite":
            raw[at : at + size] = data.draw(st.binary(min_size=len(piece), max_size=len(piece)))
        elif kind == "remove":
            del raw[at : at + size]
        elif kind == "insert":
            raw[at:at] = data.draw(st.binary(max_size=60))
        elif kind == "repeat":
            raw[at:at] = piece
        else:
            raw[at : at + size] = bytes(len(piece))
    check(tmp_path_factory.mktemp("damage"), bytes(raw), changed=False)


@pytest.mark.parametrize("raw", [b"", MAGIC[:5], MAGIC], ids=["empty", "cut magic", "no record"])
def test_a_spool_without_rows_has_none(tmp_path, raw):
    assert check(tmp_path, raw, changed=False) == ([], 0)


@pytest.mark.parametrize(
    ("raw", "words"),
    [(b"PK\3\4" + bytes(99), "not a simreel spool"), (b"simreel spool 2\n" + bytes(9), "another version")],
)
def test_another_file_is_told_from_a_spool(tmp_path, raw, words):
    (tmp_path / "a").write_bytes(raw)
    with pytest.raises(DamagedFileError, match=words):
        SpoolReader(tmp_path / "a")


# Files that somebody made up, with right checksums.


def record(tag, rows, first, stride, episode, body, at, size=None):
    header = Header(tag, rows, first, stride, episode, len(body) if size is None else size, zlib.crc32(body))
    return header.pack(at) + body


def with_head(head, *more):
    raw = MAGIC + record(b"HEAD", 0, 0, 0, 0, json.dumps(head).encode(), len(MAGIC))
    for each in more:
        raw += record(*each[:6], len(raw), *each[6:])
    return raw


PETABYTE = 2**50


@pytest.mark.parametrize(
    "more",
    [
        (b"ROWS", 1000, 0, 1, 0, b"abc", PETABYTE),
        (b"ROWS", 2**32 - 1, 0, 1, 0, b"abc", 2**64 - 1),
        (b"HEAD", 0, 0, 0, 0, b"{}", PETABYTE),
        (b"ROWS", 2**32 - 1, 0, 1, 0, b""),
        (b"ROWS", 1, 0, 1, 2**40, bytes(25)),
        (b"ROWS", 1, 0, 1, -1, bytes(25)),
        (b"JUNK", 1, 0, 1, 0, bytes(25)),
    ],
    ids=["petabyte", "all bits", "petabyte head", "rows without bytes", "episode", "negative episode", "tag"],
)
def test_a_header_that_claims_too_much_is_damage_and_takes_no_memory(tmp_path, more):
    path = tmp_path / "a"
    path.write_bytes(with_head(HEAD, more, (b"ROWS", 1, 0, 1, 0, bytes(24) + b"\1")))
    tracemalloc.start()
    try:
        steps, _, lost_bytes = read(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert steps == [0]
    assert lost_bytes
    assert peak < 4 * 2**20


def test_rows_of_empty_arrays_claim_no_memory(tmp_path):
    head = HEAD | {"columns": [{"name": "none", "dtype": "<f4", "shape": [2**40, 0]}]}
    path = tmp_path / "a"
    path.write_bytes(with_head(head, (b"ROWS", 2**32 - 1, 0, 1, 0, b""), (b"ROWS", 3, 0, 1, 0, b"")))
    with SpoolReader(path) as spool:
        assert spool.rows == 3
        assert list(spool.column(0)) == []


COLUMN = HEAD["columns"][0]


@pytest.mark.parametrize(
    "head",
    [
        [],
        {},
        "text",
        {**HEAD, "columns": []},
        {**HEAD, "columns": [3]},
        {**HEAD, "columns": [COLUMN | {"dtype": "O"}]},
        {**HEAD, "columns": [COLUMN | {"dtype": "<f3"}]},
        {**HEAD, "columns": [COLUMN | {"dtype": 8}]},
        {**HEAD, "columns": [COLUMN | {"shape": 3}]},
        {**HEAD, "columns": [COLUMN | {"shape": [-1]}]},
        {**HEAD, "columns": [COLUMN | {"shape": [1.5]}]},
        {**HEAD, "columns": [COLUMN | {"name": None}]},
        {**HEAD, "columns": [{"name": "a"}]},
        {**HEAD, "dt": "fast"},
        {**HEAD, "dt": 0},
        {key: value for key, value in HEAD.items() if key != "compression"},
    ],
)
def test_a_head_that_makes_no_sense_is_told_with_its_place(tmp_path, head):
    (tmp_path / "a").write_bytes(with_head(head))
    with pytest.raises(DamagedFileError, match="head cannot be read") as caught:
        SpoolReader(tmp_path / "a")
    assert caught.value.offset > len(MAGIC)


def test_a_head_that_nests_without_end_is_told(tmp_path):
    (tmp_path / "a").write_bytes(MAGIC + record(b"HEAD", 0, 0, 0, 0, b"[" * 200_000, len(MAGIC)))
    with pytest.raises(DamagedFileError, match="head cannot be read"):
        SpoolReader(tmp_path / "a")


def test_what_a_later_version_adds_is_passed_over(tmp_path):
    head = HEAD | {"columns": [c | {"unit": "m"} for c in HEAD["columns"]], "scene": "arm"}
    (tmp_path / "a").write_bytes(with_head(head, (b"ROWS", 1, 0, 1, 0, bytes(24) + b"\1")))
    assert read(tmp_path / "a")[0] == [0]


def test_a_second_head_does_not_change_how_rows_are_read(tmp_path):
    other = json.dumps(HEAD | {"columns": [COLUMN]}).encode()
    row = (b"ROWS", 1, 0, 1, 0, bytes(24) + b"\1")
    (tmp_path / "a").write_bytes(with_head(HEAD, row, (b"HEAD", 0, 0, 0, 0, other)))
    assert read(tmp_path / "a")[0] == [0]


def test_a_record_inside_recorded_data_is_never_taken_for_one(tmp_path, small):
    start = small.index(b"ROWS")
    inner = small[start : start + 200]
    head = HEAD | {"columns": [{"name": "raw", "dtype": "|u1", "shape": [200]}]}
    raw = bytearray(with_head(head, (b"ROWS", 1, 7, 1, 0, inner)))
    raw[raw.index(b"ROWS") + 5] ^= 1
    (tmp_path / "a").write_bytes(raw)
    with SpoolReader(tmp_path / "a") as spool:
        assert (spool.rows, spool.lost_rows) == (0, 1)


def test_rows_lost_with_the_head_are_counted(tmp_path, small):
    raw = bytearray(small)
    raw[len(MAGIC) + 60] ^= 1
    (tmp_path / "a").write_bytes(raw)
    with SpoolReader(tmp_path / "a") as spool:
        assert (spool.rows, spool.lost_rows, spool.columns) == (0, 10, ())


# Large ones.


def big_spool(path, records, row_bytes):
    writer = SpoolWriter(path)
    writer.write_head(HEAD | {"columns": [{"name": "raw", "dtype": "|u1", "shape": [row_bytes]}]})
    piece = np.arange(row_bytes, dtype=np.uint8)[None]
    for i in range(records):
        writer.write_rows(i, 1, 0, [piece])
    writer.close()


def test_reading_takes_the_memory_of_one_piece(tmp_path):
    small, long, wide = tmp_path / "small", tmp_path / "long", tmp_path / "wide"
    big_spool(small, 10, 1000)
    big_spool(long, 5000, 1000)
    big_spool(wide, 3, 20_000_000)
    peaks = []
    for path in (small, long, wide):
        tracemalloc.start()
        with SpoolReader(path) as spool:
            assert sum(len(piece) for piece in spool.column(0)) == spool.rows * spool.columns[0].row_bytes
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 50_000
    assert peaks[2] < 4 * 2**20


def test_searching_through_damage_finds_the_next_record_across_pieces(tmp_path):
    path = tmp_path / "a"
    big_spool(path, 3, 3 * 2**20)
    raw = bytearray(path.read_bytes())
    first = raw.index(b"ROWS")
    raw[first + 5] ^= 1
    # Tags without a record, one of them across the border of two pieces.
    for at in (first + 2**20 - 1, first + 2**20 + 500):
        raw[at : at + 4] = b"ROWS"
    path.write_bytes(raw)
    with SpoolReader(path) as spool:
        assert (spool.rows, spool.lost_rows) == (2, 1)
        assert [r.first for r in spool.records] == [1, 2]


# Beside a target.


@pytest.mark.leaves_spools
def test_the_spools_of_a_target_are_its_own_and_those_of_its_episodes_oldest_first(tmp_path):
    mine = ["a.npz.12.spool", "a.npz.12.spool.1", "a_0003.npz.7.spool", "a_12345.npz.7.spool"]
    others = [
        "b.npz.12.spool",
        "a.npz.spool",
        "a.npz.x.spool",
        "a_1.npz.3.spool",
        "aa.npz.3.spool",
        "a.npz.3.spool.old",
    ]
    for i, name in enumerate([*mine, *others]):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (100 - i, 100 - i))
    assert [path.name for path in spools_of(tmp_path / "a.npz")] == mine[::-1]
    assert spools_of(tmp_path / "none" / "a.npz") == []


@pytest.mark.leaves_spools
@pytest.mark.parametrize("name", ["a[1].npz", "a+b.npz", "a.b.npz", "(.npz", "a$^.npz", "ü ü.NPZ"])
def test_names_with_signs_of_patterns_are_taken_as_they_are(tmp_path, name):
    (tmp_path / f"{name}.1.spool").touch()
    assert [path.name for path in spools_of(tmp_path / name)] == [f"{name}.1.spool"]
