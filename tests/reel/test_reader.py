"""Any part of a file is read as it was written, by any thread and any process, also while it grows."""

import os
import sys
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from simreel.errors import (
    ClosedFileError,
    DamagedFileError,
    FieldError,
    FileVersionError,
    FrameIndexError,
    GapError,
    MissingFileError,
    ReadError,
    SimreelWarning,
    UnknownNameError,
)
from simreel.reel import Field, Layout, Reel, ReelWriter
from simreel.reel.record import Start
from simreel.reel.store import ChunkStore

PLAIN = Layout((Field("x", "f8", 2, unit="m", kind="state"), Field("n", "i4", 1)))
COUNT = 37


@pytest.fixture
def path(tmp_path, make_frames, write):
    write(tmp_path / "a.reel", PLAIN, make_frames(PLAIN, COUNT), chunk_size=8)
    return tmp_path / "a.reel"


@pytest.fixture
def frames(make_frames):
    return make_frames(PLAIN, COUNT)


KEYS = [slice(*key) for key in [(None,), (5, 20), (-9, None), (None, None, 3), (None, None, -1), (30, 2, -7), (8, 16)]]
KEYS += [slice(*key) for key in [(7, 9), (20, 5), (0, 10**9), (-(10**9), 4), (36, None, -36), (1, 36, 17), (40, 50)]]


@pytest.mark.parametrize("key", KEYS)
def test_slices_are_those_of_an_array(path, frames, same_bits, key):
    with Reel.open(path) as reel:
        for name, values in frames.items():
            assert same_bits(reel.field(name)[key], values[key])


@pytest.mark.parametrize("key", KEYS)
def test_slices_of_ragged_fields_are_those_of_a_list(tmp_path, mixed, make_frames, write, same_bits, key):
    frames = make_frames(mixed, COUNT)
    write(tmp_path / "b.reel", mixed, frames, chunk_size=8)
    with Reel.open(tmp_path / "b.reel") as reel:
        found, given = reel.field("contacts")[key], frames["contacts"][key]
        assert len(found) == len(given)
        assert all(map(same_bits, found, given))


def test_a_field_reads_like_an_array(path, frames, same_bits):
    with Reel.open(path) as reel:
        column = reel.field("x")
        assert (len(column), column.shape, column.dtype) == (COUNT, (COUNT, 2), np.dtype("f8"))
        assert (column.field.unit, column.field.kind) == ("m", "state")
        assert same_bits(np.asarray(column), frames["x"])
        assert same_bits(column[-1], frames["x"][-1])
        assert same_bits(np.array(list(column)), frames["x"])
        assert "'x' of a.reel: 37 x 2 float64" in repr(column)
        with pytest.raises(ValueError, match="always a copy"):
            np.array(column, copy=False)


@pytest.mark.parametrize("key", ["x", None, ..., 1.0, [1, 2], np.array([3, 4]), np.ones(COUNT, bool), (slice(3), 0)])
def test_other_keys_are_refused_and_the_way_to_numpy_is_named(path, key):
    with Reel.open(path) as reel:
        with pytest.raises(FieldError, match=r"an integer or a slice .* numpy does the rest"):
            reel.field("x")[key]
        with pytest.raises(FieldError, match="an integer or a slice"):
            reel.row(key)


@pytest.mark.parametrize("key", [slice(None, None, 0), slice(0.5, 3), slice("a")])
def test_a_slice_that_none_can_be_is_refused(path, key):
    with Reel.open(path) as reel, pytest.raises(FieldError, match="frames"):
        reel.field("x")[key]


def test_a_ragged_field_is_no_array(tmp_path, mixed, make_frames, write):
    write(tmp_path / "b.reel", mixed, make_frames(mixed, 3))
    with Reel.open(tmp_path / "b.reel") as reel, pytest.raises(FieldError, match="'contacts'"):
        np.asarray(reel.field("contacts"))


def test_what_is_read_may_be_changed_and_the_next_reading_is_right(path, frames, same_bits):
    with Reel.open(path) as reel:
        reel.row(3)["x"][:] = 0
        reel.field("x")[3][:] = 0
        reel.field("x")[:][:] = 0
        assert same_bits(reel.row(3)["x"], frames["x"][3])


def test_rows_are_what_a_writer_can_append(path, tmp_path):
    with Reel.open(path) as reel, ReelWriter(tmp_path / "b.reel", PLAIN, chunk_size=5) as writer:
        writer.append(reel.rows(0, 20))
        writer.append(reel.rows(20, COUNT))
        with Reel.open(path) as again:
            assert (reel.rows(-5, COUNT) == again.rows(32, 37)).all()
    with Reel.open(path) as reel, Reel.open(tmp_path / "b.reel") as copy:
        assert reel.rows(0, COUNT).tobytes() == copy.rows(0, COUNT).tobytes()
        assert len(reel.rows(20, 10)) == 0


def test_times_are_the_number_of_the_step_times_dt(tmp_path, path):
    assert (Reel.open(path).times == np.arange(COUNT) * 1.0).all()
    for width in (1, 3):
        layout = Layout((Field("step", "i8", width),))
        steps = np.arange(width * 10).reshape(10, width) * 2
        with ReelWriter(tmp_path / f"{width}.reel", layout, dt=0.1) as writer:
            writer.append(steps)
        times = Reel.open(tmp_path / f"{width}.reel").times
        assert (times == (steps[:, 0] if width == 1 else steps) * 0.1).all()


def test_info_tells_the_size_of_each_field(tmp_path, mixed, make_frames, write):
    frames = make_frames(mixed, 40)
    write(tmp_path / "b.reel", mixed, frames, chunk_size=8, dt=0.5, meta={"who": "me"}, blobs={"b": b"12"})
    with Reel.open(tmp_path / "b.reel") as reel:
        info = reel.info()
    assert (info["frames"], info["chunks"], info["is_complete"], info["gaps"], info["damage"]) == (40, 5, True, [], [])
    assert (info["dt"], info["meta"], info["blobs"], info["codec"]) == (0.5, {"who": "me"}, {"b": 2}, "phys1")
    raw = {field["name"]: field["raw_bytes"] for field in info["fields"]}
    items = sum(each.nbytes for each in frames["contacts"])
    assert raw == {"step": 320, "qpos": 960, "qvel": 960, "on": 80, "contacts": 160 + items}
    assert all(field["ratio"] == field["raw_bytes"] / field["stored_bytes"] for field in info["fields"])
    import json

    assert json.loads(json.dumps(info)) == info


# What is no reel, or not all of one.


def test_a_wrong_frame_number_is_one_clear_sentence(path, tmp_path):
    with Reel.open(path) as reel:
        for i in (COUNT, -COUNT - 1, 10**30):
            found = rf"a.reel \(format version 1.0\): no frame {i}; its 37 frames are 0 to 36"
            with pytest.raises(FrameIndexError, match=found):
                reel.row(i)
            with pytest.raises(IndexError):
                reel.field("x")[i]
        with pytest.raises(UnknownNameError, match="no field named 'y'"):
            reel.field("y")
    ReelWriter(tmp_path / "b.reel", PLAIN).close()
    with Reel.open(tmp_path / "b.reel") as reel:
        assert (len(reel), reel.is_complete, reel.times.tolist()) == (0, True, [])
        assert reel.field("x")[:].shape == (0, 2)
        with pytest.raises(FrameIndexError, match="no frame 0; it has no frame"):
            reel.row(0)


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", "byte 0: the file is empty"),
        (b"\x89sim", "byte 0: the file ends inside the first 64 bytes of a reel; it holds no frame"),
        (b"PK\3\4" + bytes(500), r"byte 0: not a reel \(version 1.0"),
        (b"{}", r"byte 0: not a reel"),
        (b"\x89simreel\r\n\x1a\n" + bytes(500), "byte 0: a reel whose first bytes are damaged"),
        (Start((1, 0), "x").pack(), "byte 64: the file ends inside its HEAD; it holds no frame"),
    ],
)
def test_what_is_no_reel_is_one_clear_sentence(tmp_path, data, found):
    (tmp_path / "b.reel").write_bytes(data)
    with pytest.raises(DamagedFileError, match="b.reel: " + found):
        Reel.open(tmp_path / "b.reel")


def test_another_version_is_named_before_anything_else_with_who_wrote_it(path):
    data = path.read_bytes()
    path.write_bytes(Start((2, 3), "simreel 9.8").pack() + os.urandom(100))
    text = "a.reel: format version 2.3, written by simreel 9.8; this release of simreel reads version 1.0"
    with pytest.raises(FileVersionError, match=text):
        Reel.open(path)
    path.write_bytes(Start((1, 7), "simreel 1.2").pack() + data[64:])
    assert len(Reel.open(path)) == COUNT
    # Where the start is damaged the version stands in HEAD.
    path.write_bytes(bytes(64) + data[64:])
    assert len(Reel.open(path)) == COUNT


def test_what_cannot_be_opened_says_why(tmp_path):
    with pytest.raises(MissingFileError, match="no such file"):
        Reel.open(tmp_path / "none.reel")
    with pytest.raises(ReadError, match="not a file"):
        Reel.open(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ReadError, match="not a file"):
        Reel.open(tmp_path / "pipe")


def test_a_closed_reel_says_so(path):
    reel = Reel.open(path)
    reel.close()
    reel.close()
    with pytest.raises(ClosedFileError):
        reel.row(0)


# Gaps.


@pytest.fixture
def gapped(path):
    """Chunk 1 of 5 is damaged: frames 8 to 15 are lost."""
    data = bytearray(path.read_bytes())
    with Reel.open(path) as reel:
        at = reel.records.entries["offset"][reel.records.entries["tag"] == b"CHNK"][1]
    data[at + 40] ^= 1
    path.write_bytes(data)
    return path


def test_frames_of_a_gap_keep_their_numbers_and_are_never_given(gapped, frames, same_bits):
    with Reel.open(gapped) as reel:
        assert (len(reel), reel.gaps) == (COUNT, [(8, 16)])
        for i in (8, 15, -COUNT + 8):
            found = r"a.reel: frame \d+ is lost; the file is damaged at frames 8 to 15"
            with pytest.raises(GapError, match=found) as caught:
                reel.row(i)
            assert caught.value.gap == (8, 16)
        with pytest.raises(GapError):
            reel.field("n")[9]
        with pytest.raises(GapError):
            reel.rows(0, 9)
        assert same_bits(reel.rows(0, 8)["x"], frames["x"][:8])
        assert same_bits(reel.row(16)["x"], frames["x"][16])


def test_lost_frames_read_as_nan_or_0_with_one_warning(gapped, frames, same_bits):
    with Reel.open(gapped) as reel:
        for name, filler in (("x", np.nan), ("n", 0)):
            expected = frames[name].copy()
            expected[8:16] = filler
            for key in KEYS:
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    assert same_bits(reel.field(name)[key], expected[key])
                touched = len(set(range(COUNT)[key]) & set(range(8, 16)))
                assert [each.category for each in caught] == [SimreelWarning] * (touched > 0)
                assert all(f"{touched} frames of field '{name}' are lost" in str(each.message) for each in caught)
                assert all(each.filename == __file__ for each in caught)


def test_a_lost_step_has_no_time(tmp_path):
    with ReelWriter(tmp_path / "a.reel", Layout((Field("step", "i8", 1),)), chunk_size=4, dt=0.5) as writer:
        writer.append(np.arange(12)[:, None])
    data = bytearray((tmp_path / "a.reel").read_bytes())
    with Reel.open(tmp_path / "a.reel") as reel:
        data[int(reel.records.entries["offset"][2]) + 40] ^= 1
    (tmp_path / "a.reel").write_bytes(data)
    with Reel.open(tmp_path / "a.reel") as reel:
        assert np.array_equal(reel.times, [0, 0.5, 1, 1.5, *[np.nan] * 4, 4, 4.5, 5, 5.5], equal_nan=True)
        assert reel.info()["time"] == [0, 5.5]


def test_damaged_records_beside_the_frames_are_left_out_with_a_warning(tmp_path):
    with ReelWriter(tmp_path / "a.reel", PLAIN, blobs={"a": b"12345", "b": b"6"}) as writer:
        writer.note("first")
        writer.note("second")
    data = (tmp_path / "a.reel").read_bytes()
    data = data.replace(b"first", b"fIrst").replace(b"12345", b"12346")
    (tmp_path / "a.reel").write_bytes(data)
    with Reel.open(tmp_path / "a.reel") as reel:
        with pytest.warns(SimreelWarning, match=r"byte \d+: a NOTE record whose checksum does not fit; it is left out"):
            assert [note.value for note in reel.notes] == ["second"]
        with pytest.warns(SimreelWarning, match="BLOB"):
            assert dict(reel.blobs) == {"b": b"6"}
        assert len(reel.damage) == 2


# Bounds, threads, processes.


def test_memory_is_bounded_by_the_cache_however_long_the_file_is(tmp_path, monkeypatch):
    monkeypatch.setattr("simreel.reel.store.CACHE_BYTES", 2**20)
    layout = Layout((Field("x", "f8", 256),))
    with ReelWriter(tmp_path / "a.reel", layout, chunk_size=64) as writer:
        for _ in range(64):
            writer.append(np.random.default_rng(0).normal(size=(64, 256)))
    with Reel.open(tmp_path / "a.reel") as reel:
        tracemalloc.start()
        for i in range(0, len(reel), 32):
            reel.row(i)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        # 8 MiB were read; a chunk is 128 KiB and takes a few times that to decode.
        assert peak < 3 * 2**20
        assert reel._frames.store._cache.nbytes <= 2**20


def test_threads_may_share_a_reel(path, frames, same_bits, monkeypatch):
    monkeypatch.setattr("simreel.reel.store.CACHE_BYTES", 500)
    sys.setswitchinterval(1e-5)

    def read(seed, reel):
        for i in np.random.default_rng(seed).integers(0, COUNT, 200).tolist():
            assert same_bits(reel.row(i)["x"], frames["x"][i])
            assert same_bits(reel.field("n")[::3], frames["n"][::3])
        return True

    try:
        with Reel.open(path) as reel, ThreadPoolExecutor(4) as pool:
            assert list(pool.map(read, range(4), [reel] * 4)) == [True] * 4
    finally:
        sys.setswitchinterval(0.005)


def test_a_forked_child_reads_on_with_a_descriptor_of_its_own(path, run_script):
    out = run_script(
        """
        import warnings
        warnings.simplefilter("ignore", DeprecationWarning)  # that this process has threads
        reel = Reel.open(sys.argv[1])
        reel.row(3)
        expected = reel.field("x")[:]
        os.lseek(reel._file._fd, 7, os.SEEK_SET)
        # Another thread holds the lock while the process forks.
        reel._frames.store._cache._lock.acquire()
        child = os.fork()
        if not child:
            shared = os.lseek(reel._file._fd, 0, os.SEEK_CUR) == 7
            same = reel.field("x")[:].tobytes() == expected.tobytes()
            os._exit(0 if same and not shared else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """,
        path,
    )
    assert out.split() == ["0"]


def test_a_forked_child_leaves_the_writer_alone(tmp_path, run_script):
    out = run_script(
        """
        import warnings
        from simreel.errors import ClosedFileError
        warnings.simplefilter("ignore", DeprecationWarning)  # that this process has threads
        writer = ReelWriter(sys.argv[1], Layout((Field("x", "f8", 1),)), chunk_size=4)
        writer.append(np.arange(6.0)[:, None])
        child = os.fork()
        if not child:
            try:
                writer.append(np.zeros((9, 1)))
            except ClosedFileError as error:
                print(error, flush=True)
            writer.close()
            del writer
            sys.exit(0)
        os.waitpid(child, 0)
        writer.append(np.arange(6.0, 10)[:, None])
        writer.close()
        """,
        tmp_path / "a.reel",
    )
    assert "forked from the one that writes" in out
    with Reel.open(tmp_path / "a.reel") as reel:
        assert reel.is_complete
        assert reel.field("x")[:][:, 0].tolist() == list(range(10))


def test_a_file_that_is_being_written_is_read_up_to_its_last_whole_chunk(tmp_path, frames):
    block = np.zeros(COUNT, PLAIN.row_dtype)
    for name, values in frames.items():
        block[name] = values
    with ReelWriter(tmp_path / "b.reel", PLAIN, chunk_size=8) as writer:
        for start in range(0, COUNT, 5):
            writer.append(block[start : start + 5])
            writer.flush()
            with Reel.open(tmp_path / "b.reel") as reel:
                assert not reel.is_complete
                assert reel.rows(0, len(reel)).tobytes() == block[: min(start + 5, COUNT)].tobytes()


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (
            {"name": "magic"},
            "codec 'magic', written by simreel .*; this release of simreel reads the codecs phys1, diff1",
        ),
        (
            {"contract": 9},
            "codec phys1, version 9, written by simreel .*; this release of simreel reads version 1 of it",
        ),
    ],
)
def test_a_codec_that_this_release_has_not_is_named(tmp_path, change, found):
    import json

    from simreel.reel.head import Head
    from simreel.reel.record import Header, record_parts

    values = json.loads(Head(PLAIN, 1.0, 8, "phys1", 1).to_bytes())
    values["codec"] |= change
    body = json.dumps(values).encode()
    parts = [Start((1, 0), "x").pack(), *record_parts(Header(b"HEAD", 0, len(body), 0, 0), [body], 64)]
    (tmp_path / "b.reel").write_bytes(b"".join(parts))
    with pytest.raises(FileVersionError, match=found):
        Reel.open(tmp_path / "b.reel")


@pytest.fixture
def long(tmp_path, make_frames, write):
    """A file of 40 chunks, so many that a reader takes several at once."""
    frames = make_frames(PLAIN, 320)
    write(tmp_path / "long.reel", PLAIN, frames, chunk_size=8)
    return tmp_path / "long.reel", frames


def test_many_chunks_read_at_once_are_as_each_alone(long, same_bits, monkeypatch):
    path, frames = long
    batches = []
    together = ChunkStore._decode_together
    monkeypatch.setattr(ChunkStore, "_decode_together", lambda self, *a: batches.append(a) or together(self, *a))
    with Reel.open(path) as reel:
        assert same_bits(reel.field("x")[:], frames["x"])
        assert [chunks.start for chunks, _ in batches] == [0, 16]
        # A view would keep the chunks beside it as well.
        kept = {chunk: column.base for (chunk, _), column in reel._frames.store._cache._values.items()}
        assert [kept[chunk] for chunk in range(32)] == [None] * 32
    with Reel.open(path) as reel:
        rows = reel.rows(3, 317)
        assert all(same_bits(rows[name], frames[name][3:317]) for name in frames)
        assert same_bits(reel.field("x")[::-3], frames["x"][::-3])


def test_a_slice_of_few_frames_reads_no_more_than_their_chunks(long, same_bits):
    path, frames = long
    with Reel.open(path) as reel:
        assert same_bits(reel.field("x")[::30], frames["x"][::30])
        assert len(reel._frames.store._cache._values) == 11


def test_a_damaged_chunk_among_many_costs_itself_alone(long, same_bits):
    path, frames = long
    with Reel.open(path) as reel:
        at = reel._frames.table.offsets[20] + 40
    raw = bytearray(path.read_bytes())
    raw[at] ^= 1
    path.write_bytes(raw)
    with Reel.open(path) as reel:
        with pytest.warns(SimreelWarning, match="8 frames"):
            found = reel.field("x")[:]
        assert np.isnan(found[160:168]).all()
        assert same_bits(np.delete(found, range(160, 168), 0), np.delete(frames["x"], range(160, 168), 0))
        assert reel.gaps == [(160, 168)]
