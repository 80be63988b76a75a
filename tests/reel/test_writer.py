"""Frames come back as they were given, however they were given, and a writer's end is always a whole file."""

import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simreel.errors import (
    ClosedFileError,
    FieldError,
    MaxSizeError,
    TargetError,
    TargetExistsError,
    UnknownNameError,
)
from simreel.reel import Field, Layout, Reel, ReelWriter

PLAIN = Layout((Field("qpos", "f8", 2), Field("qvel", "f8", 3)))


def read(path):
    with Reel.open(path) as reel:
        assert reel.is_complete
        assert reel.gaps == []
        return {field.name: reel.field(field.name)[:] for field in reel.layout.fields}, reel.chunks


def same(values, frames, same_bits):
    return all(
        all(map(same_bits, values[name], given)) if isinstance(given, list) else same_bits(values[name], given)
        for name, given in frames.items()
    )


names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
names |= st.sampled_from(["file", "../x", "ü", " ", "\0", "a" * 300])
fields = st.builds(
    Field,
    names,
    st.sampled_from(["f8", "f4", "i8", "i4", "u1", "bool"]),
    st.integers(0, 4),
    kind=st.sampled_from(["", "state"]),
    ragged=st.booleans(),
)
layouts = st.lists(fields, max_size=5, unique_by=lambda field: field.name).map(lambda f: Layout(tuple(f)))


@settings(max_examples=80, deadline=None)
@given(
    layouts,
    st.integers(1, 5).flatmap(lambda chunk: st.tuples(st.just(chunk), st.integers(0, 3 * chunk + 1))),
    st.sampled_from(["phys1", "diff1"]),
    st.integers(0, 9),
)
def test_any_layout_and_any_bits_come_back(tmp_path_factory, make_frames, write, same_bits, layout, sizes, codec, seed):
    path = tmp_path_factory.mktemp("a") / "a.reel"
    chunk, count = sizes
    frames = make_frames(layout, count, seed)
    if not layout.fields:
        count = 0
    write(path, layout, frames, chunk_size=chunk, codec=codec, dt=0.5)
    with Reel.open(path) as reel:
        assert len(reel) == count
        assert reel.layout == layout
        assert reel.gaps == []
        assert same({f.name: reel.field(f.name)[:] for f in layout.fields}, frames, same_bits)
        for i in range(count):
            row = reel.row(i)
            assert all(same_bits(row[name], given[i]) for name, given in frames.items())


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 15, 16, 17, 24])
def test_as_many_frames_come_out_as_went_in(tmp_path, mixed, make_frames, write, same_bits, count):
    frames = make_frames(mixed, count)
    write(tmp_path / "a.reel", mixed, frames, chunk_size=8)
    values, chunks = read(tmp_path / "a.reel")
    assert same(values, frames, same_bits)
    assert [stop - start for start, stop in chunks] == [8] * (count // 8) + [count % 8] * (count % 8 > 0)


@pytest.mark.parametrize("sizes", [[1] * 20, [20], [7, 8, 9], [8, 0, 16], [100]])
def test_blocks_of_any_size_may_be_appended_between_rows(tmp_path, sizes):
    given = np.random.default_rng(0).normal(size=(sum(sizes) + len(sizes), 5))
    rest = given
    with ReelWriter(tmp_path / "a.reel", PLAIN, chunk_size=8) as writer:
        for size in sizes:
            writer.append(rest[:size])
            writer.next_row()[:] = rest[size]
            writer.commit()
            rest = rest[size + 1 :]
        assert writer.frames == len(given)
    values, _ = read(tmp_path / "a.reel")
    assert np.hstack([values["qpos"], values["qvel"]]).tobytes() == given.tobytes()


def test_a_block_may_be_structured(tmp_path):
    layout = Layout((Field("a", "i4", 1), Field("b", "f8", 2)))
    block = np.zeros(20, layout.row_dtype)
    block["a"][:, 0], block["b"] = range(20), 0.5
    with ReelWriter(tmp_path / "a.reel", layout, chunk_size=8) as writer:
        writer.append(block)
    with Reel.open(tmp_path / "a.reel") as reel:
        assert (reel.rows(0, 20) == block).all()


@pytest.mark.parametrize(
    ("block", "found"),
    [
        (np.zeros((3, 5), "f4"), "float32 array of shape"),
        (np.zeros((3, 4)), r"shape \(3, 4\)"),
        (np.zeros(5), r"shape \(5,\)"),
        (np.zeros((1, 1, 5)), "shape"),
        (3.0, "shape"),
    ],
)
def test_a_block_that_does_not_fit_is_refused_and_nothing_of_it_is_written(tmp_path, block, found):
    with ReelWriter(tmp_path / "a.reel", PLAIN) as writer:
        with pytest.raises(FieldError, match=found):
            writer.append(block)
        assert writer.frames == 0


def test_mujoco_writes_into_the_rows(tmp_path):
    import mujoco

    body = "<body><freejoint/><geom size='.1'/></body>"
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    data = mujoco.MjData(model)
    bits = int(mujoco.mjtState.mjSTATE_QPOS | mujoco.mjtState.mjSTATE_QVEL)
    parts = (Field("qpos", "f8", model.nq), Field("qvel", "f8", model.nv))
    wide = Layout((Field("step", "i8", 1), *parts, Field("on", "bool", 3)))
    given = []
    with (
        ReelWriter(tmp_path / "a.reel", Layout(parts), chunk_size=8) as plain,
        ReelWriter(tmp_path / "b.reel", wide, chunk_size=8) as mixed,
    ):
        for i in range(20):
            mujoco.mj_step(model, data)
            mujoco.mj_getState(model, data, plain.next_row(), bits)
            mujoco.mj_getState(model, data, mixed.next_part("qpos", "qvel"), bits)
            mixed.next_row()["step"] = i
            plain.commit()
            mixed.commit()
            given.append(np.concatenate([data.qpos, data.qvel]))
    for name in ("a.reel", "b.reel"):
        values, _ = read(tmp_path / name)
        assert np.hstack([values["qpos"], values["qvel"]]).tobytes() == np.array(given).tobytes()
    assert values["step"][:, 0].tolist() == list(range(20))


def test_a_part_must_be_of_one_dtype_and_aligned(tmp_path):
    layout = Layout((Field("on", "u1", 3), Field("x", "f8", 2), Field("n", "i8", 1), Field("c", "f8", 1, ragged=True)))
    with ReelWriter(tmp_path / "a.reel", layout) as writer:
        with pytest.raises(FieldError, match="multiple of 8"):
            writer.next_part("x", "x")
        with pytest.raises(FieldError, match="2 dtypes"):
            writer.next_part("x", "n")
        with pytest.raises(FieldError, match="no fixed field"):
            writer.next_part("n", "x")
        with pytest.raises(UnknownNameError, match="Did you mean 'x'"):
            writer.next_part("x", "xx")
        assert writer.next_part("on", "on").shape == (3,)


def test_a_ragged_field_takes_the_last_items_it_was_given_and_none_where_it_was_given_none(tmp_path):
    layout = Layout((Field("c", "i4", 2, ragged=True), Field("x", "f8", 1)))
    with ReelWriter(tmp_path / "a.reel", layout, chunk_size=4) as writer:
        for i in range(10):
            writer.next_row()[:] = i
            if i % 2:
                writer.ragged("c", np.zeros((5, 2), "i4"))
                writer.ragged("c", np.full((i, 2), i, "i4"))
            writer.commit()
        writer.ragged("c", np.zeros((5, 2), "i4"))
        with pytest.raises(FieldError, match="not ragged"):
            writer.ragged("x", np.zeros((1, 1)))
        with pytest.raises(FieldError, match=r"\(items, 2\) of int32"):
            writer.ragged("c", np.zeros((1, 1), "i4"))
    values, _ = read(tmp_path / "a.reel")
    assert [items.tolist() for items in values["c"]] == [[[i, i]] * i if i % 2 else [] for i in range(10)]


def test_no_chunk_has_more_than_4_mib_of_values(tmp_path):
    layout = Layout((Field("x", "u1", 2**19), Field("c", "u1", 2**10, ragged=True)))
    with ReelWriter(tmp_path / "a.reel", layout, codec="diff1") as writer:
        for i in range(12):
            writer.next_row()[:] = i
            writer.ragged("c", np.full((2**10 * (8 if i == 6 else i % 3), 2**10), i, "u1"))
            writer.commit()
    with Reel.open(tmp_path / "a.reel") as reel:
        assert reel.gaps == []
        assert len(reel) == 12
        sizes = [sum(2**19 + reel.row(i)["c"].nbytes for i in range(*chunk)) for chunk in reel.chunks]
        assert max(size for size, (start, stop) in zip(sizes, reel.chunks, strict=True) if stop - start > 1) <= 2**22
        assert (reel.row(6)["c"] == 6).all()
        assert reel.row(6)["c"].shape == (2**13, 2**10)


def test_a_frame_larger_than_a_chunk_may_be_is_a_chunk_of_its_own(tmp_path):
    layout = Layout((Field("x", "f8", 2**20),))
    with ReelWriter(tmp_path / "a.reel", layout, codec="diff1") as writer:
        for i in range(3):
            writer.next_row()[:] = i
            writer.commit()
    values, chunks = read(tmp_path / "a.reel")
    assert len(chunks) == 3
    assert values["x"][:, -1].tolist() == [0, 1, 2]


def test_rows_of_no_bytes_are_counted(tmp_path):
    fields = [(), (Field("x", "f8", 0),), (Field("c", "f8", 1, ragged=True),)]
    for i, layout in enumerate(map(Layout, fields)):
        with ReelWriter(tmp_path / f"{i}.reel", layout, chunk_size=8) as writer:
            for _ in range(20):
                writer.next_row()
                writer.commit()
        with Reel.open(tmp_path / f"{i}.reel") as reel:
            assert len(reel) == 20
            assert list(reel.row(19)) == [field.name for field in layout.fields]


def test_an_open_chunk_is_written_after_half_a_second_also_when_the_caller_goes_quiet(tmp_path):
    with ReelWriter(tmp_path / "a.reel", PLAIN) as writer:
        for i in range(3):
            writer.next_row()[:] = i
            writer.commit()
        half_filled = writer.next_row()
        half_filled[:] = 99
        deadline = time.monotonic() + 20
        while len(Reel.open(tmp_path / "a.reel")) < 3:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        half_filled[:] = 3
        writer.commit()
        for i in range(4, 10):
            writer.next_row()[:] = i
            writer.commit()
    values, chunks = read(tmp_path / "a.reel")
    assert values["qpos"][:, 0].tolist() == list(range(10))
    assert len(chunks) > 1


def test_flush_returns_when_all_committed_frames_can_be_read(tmp_path):
    with ReelWriter(tmp_path / "a.reel", PLAIN, chunk_size=8) as writer:
        for i in range(30):
            writer.next_row()[:] = i
            writer.commit()
            if i % 7 == 0:
                writer.flush()
                with Reel.open(tmp_path / "a.reel") as reel:
                    assert len(reel) == i + 1 == writer.frames == writer.written
                    assert not reel.is_complete
                    assert reel.row(i)["qpos"].tolist() == [i, i]
                assert writer.size == (tmp_path / "a.reel").stat().st_size


@pytest.mark.parametrize("fsync", [2.0, "chunk"])
def test_its_threads_are_told(tmp_path, fsync):
    before = {thread.ident for thread in threading.enumerate()}
    with ReelWriter(tmp_path / "a.reel", PLAIN, fsync=fsync) as writer:
        assert writer.error is None
        # The one that syncs is started by the other.
        writer.flush()
        assert writer.threads == {thread.ident for thread in threading.enumerate()} - before
        assert len(writer.threads) == (1 if fsync == "chunk" else 2)


def test_records_stand_before_the_frames_that_they_hold_for(tmp_path):
    with ReelWriter(tmp_path / "a.reel", PLAIN, chunk_size=8) as writer:
        writer.append(np.zeros((12, 5)))
        writer.param({"mass": np.ones(2)})
        writer.append(np.zeros((9, 5)))
        writer.param({"mass": np.ones(2)}, frame=3)
        writer.note("late", frame=100)
        with pytest.raises(FieldError, match="0 or more"):
            writer.note("", frame=-1)
    with Reel.open(tmp_path / "a.reel") as reel:
        assert [each.frame for each in reel.params] == [12, 3]
        assert [each.frame for each in reel.notes] == [100]
        tags = [tag for tag, *_ in reel.records.entries.tolist()]
        assert tags == [b"HEAD", b"CHNK", b"PARM", b"CHNK", b"PARM", b"NOTE", b"CHNK", b"HEAD"]


def test_many_records_do_not_pile_up_in_memory(tmp_path):
    with ReelWriter(tmp_path / "a.reel", PLAIN) as writer:
        for i in range(3000):
            writer.note(i)
            assert writer._ring.queue.qsize() < 300
        writer.blob("large", np.random.default_rng(0).bytes(3 * 2**20))
        assert writer._ring.queue.empty()
    with Reel.open(tmp_path / "a.reel") as reel:
        assert [note.value for note in reel.notes] == list(range(3000))
        assert len(reel.blobs["large"]) == 3 * 2**20


def test_one_content_is_stored_once(tmp_path):
    content = np.random.default_rng(0).bytes(50_000)
    with ReelWriter(tmp_path / "a.reel", PLAIN, blobs={"a": content, "b": content}) as writer:
        writer.blob("c", content)
        writer.blob("a", b"newer")
    assert (tmp_path / "a.reel").stat().st_size < 60_000
    with Reel.open(tmp_path / "a.reel") as reel:
        assert dict(reel.blobs) == {"a": b"newer", "b": content, "c": content}


def test_close_twice_is_fine_and_nothing_can_be_written_after_it(tmp_path):
    writer = ReelWriter(tmp_path / "a.reel", PLAIN)
    writer.append(np.zeros((3, 5)))
    writer.close()
    writer.close()
    assert writer.closed
    assert writer.frames == 3
    for call in (
        writer.next_row,
        lambda: writer.next_part("qpos", "qvel"),
        writer.commit,
        writer.flush,
        lambda: writer.append(np.zeros((1, 5))),
        lambda: writer.note(1),
        lambda: writer.param({}),
        lambda: writer.blob("a", b""),
    ):
        with pytest.raises(ClosedFileError, match=r"a.reel: .*the file is closed"):
            call()
    assert len(read(tmp_path / "a.reel")[0]["qpos"]) == 3


def test_an_exception_inside_still_closes_the_file_properly(tmp_path):
    def run():
        with ReelWriter(tmp_path / "a.reel", PLAIN) as writer:
            writer.append(np.zeros((3, 5)))
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        run()
    assert len(read(tmp_path / "a.reel")[0]["qpos"]) == 3


def test_an_existing_file_needs_overwrite_and_waits_beside_the_new_one(tmp_path):
    path, old = tmp_path / "a.reel", tmp_path / "a.reel.old"
    path.write_bytes(b"old")
    with pytest.raises(TargetExistsError, match="overwrite"):
        ReelWriter(path, PLAIN)
    assert path.read_bytes() == b"old"
    with ReelWriter(path, PLAIN, overwrite=True) as writer:
        assert old.read_bytes() == b"old"
        with pytest.raises(TargetError, match="being written"):
            ReelWriter(path, PLAIN, overwrite=True)
        writer.append(np.zeros((3, 5)))
    assert not old.exists()
    assert len(read(path)[0]["qpos"]) == 3


@pytest.mark.parametrize(
    ("options", "error", "found"),
    [
        ({"dt": 0}, FieldError, "dt"),
        ({"dt": float("nan")}, FieldError, "dt"),
        ({"dt": None}, FieldError, "dt"),
        ({"dt": "fast"}, FieldError, "dt"),
        ({"dt": 10**400}, FieldError, "dt"),
        ({"chunk_size": 0}, FieldError, "chunk_size"),
        ({"chunk_size": 2**20}, FieldError, "chunk_size"),
        ({"chunk_size": 8.0}, FieldError, "chunk_size"),
        ({"codec": "phys"}, UnknownNameError, "Did you mean 'phys1'"),
        ({"fsync": 0}, FieldError, "fsync"),
        ({"fsync": "never"}, FieldError, "fsync"),
        ({"meta": {"a": float("nan")}}, FieldError, "meta"),
        ({"meta": {"a": object()}}, FieldError, "meta"),
        ({"meta": [1]}, FieldError, "meta: list"),
        ({"blobs": {1: b""}}, FieldError, "blobs"),
        ({"blobs": [b""]}, FieldError, "blobs: list"),
        ({"max_size": 0}, FieldError, "max_size"),
        ({"max_size": 1e6}, FieldError, "max_size"),
        ({"blobs": {"a": "text"}}, FieldError, "blob 'a'"),
        ({"max_size": 500}, MaxSizeError, "max_size=500 .* no frame is kept"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_is_on_disk(tmp_path, options, error, found):
    with pytest.raises(error, match=found):
        ReelWriter(tmp_path / "a.reel", PLAIN, **options)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_layout_is_refused(tmp_path):
    with pytest.raises(FieldError, match="layout: NoneType"):
        ReelWriter(tmp_path / "a.reel", None)


def test_numbers_of_numpy_are_taken_for_numbers(tmp_path):
    with ReelWriter(tmp_path / "a.reel", PLAIN, chunk_size=np.int64(4), max_size=np.int32(10**6)) as writer:
        writer.append(np.zeros((8, 5)))
        writer.note("x", frame=np.int64(3))
    with Reel.open(tmp_path / "a.reel") as reel:
        assert (reel.chunks, reel.notes[0].frame) == ([(0, 4), (4, 8)], 3)


@pytest.mark.parametrize("frame", [-1, 1.5, "1", 2**63])
def test_a_record_of_no_frame_is_refused_and_the_recording_goes_on(tmp_path, frame):
    with ReelWriter(tmp_path / "a.reel", PLAIN) as writer:
        with pytest.raises(FieldError, match="frame"):
            writer.note("x", frame=frame)
        writer.append(np.zeros((2, 5)))
    assert len(read(tmp_path / "a.reel")[0]["qpos"]) == 2


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(TargetError, match="No such file or directory"):
        ReelWriter(tmp_path / "x" / "a.reel", PLAIN)
    with pytest.raises(TargetError, match="is a folder"):
        ReelWriter(tmp_path, PLAIN, overwrite=True)


@pytest.mark.parametrize("fsync", [0.01, "chunk"])
def test_the_file_is_brought_to_the_disk_as_asked(tmp_path, monkeypatch, fsync):
    synced = []
    monkeypatch.setattr("simreel.reel.growing._datasync", lambda fd: synced.append(threading.current_thread().name))
    with ReelWriter(tmp_path / "a.reel", PLAIN, chunk_size=8, fsync=fsync) as writer:
        for _ in range(4):
            writer.append(np.zeros((8, 5)))
            writer.flush()
            time.sleep(0.05)
        assert len(synced) >= (4 if fsync == "chunk" else 1)
    assert set(synced) == {"simreel-reel" if fsync == "chunk" else "simreel-reel-sync"}
