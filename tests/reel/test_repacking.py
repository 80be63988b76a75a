"""A reel that was encoded anew holds the same, to the bit."""

import errno
import os

import numpy as np
import pytest

from simreel.errors import (
    FieldError,
    MissingFileError,
    SimreelWarning,
    TargetError,
    TargetExistsError,
    UnknownNameError,
)
from simreel.reel import Field, Layout, Reel, ReelWriter, repack
from simreel.reel.codec.diff1 import Diff1
from simreel.reel.growing import GrowingFile
from simreel.reel.head import Head
from simreel.reel.rewriting import CopySink

LAYOUT = Layout((Field("x", "f8", 4),))


@pytest.fixture
def source(small, tmp_path):
    """A reel with records of every kind, 3 chunks of 8 frames and one of 4."""
    path = tmp_path / "a.reel"
    path.write_bytes(small[0])
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def order(reel):
    """Tag, first frame and frame count of each record."""
    return reel.records.entries[["tag", "first", "count"]].tolist()


def check_same(old, new, frames, same_bits, gaps=()):
    """Every frame that is not lost is as it was written, and so is all else."""
    with Reel.open(old) as a, Reel.open(new) as b:
        assert (len(b), b.gaps, b.damage) == (len(a), list(gaps), [])
        assert (b.layout, b.dt, b.meta, b.head.created) == (a.layout, a.dt, a.meta, a.head.created)
        lost = {frame for start, stop in gaps for frame in range(start, stop)}
        for i in set(range(len(b))) - lost:
            row = b.row(i)
            assert all(same_bits(row[name], values[i]) for name, values in frames.items())
        assert dict(b.blobs) == {"a": b"x" * 99, "b": b"x" * 99, "c": b"the end"}
        for one, other in (*zip(a.params, b.params, strict=True), *zip(a.notes, b.notes, strict=True)):
            assert (one.frame, one.value) == (other.frame, other.value)
            assert all(same_bits(other.arrays[name], values) for name, values in one.arrays.items())


@pytest.mark.parametrize("codec", ["archive", "phys1", "diff1"])
@pytest.mark.parametrize("size", [None, 1, 3, 8, 28, 1000])
def test_frames_and_all_else_are_the_same(source, small, same_bits, codec, size):
    target = source.with_name("b.reel")
    report = repack(source, target, codec, size)
    check_same(source, target, small[1], same_bits)
    assert (report.target, report.frames, report.gaps) == (target, 28, ())
    assert (report.before, report.after) == (source.stat().st_size, target.stat().st_size)
    step = size or 8
    with Reel.open(target) as reel:
        assert reel.is_complete
        assert (reel.head.codec, reel.head.chunk_size) == (codec, step)
        assert reel.chunks == [(i, min(28, i + step)) for i in range(0, 28, step)]
        # Parameters stand before the chunk that holds their first frame, also where that has more frames than before.
        place = next(i for i, (tag, _, _) in enumerate(order(reel)) if tag == b"PARM")
        before = [first for tag, first, count in order(reel)[:place] if tag == b"CHNK" and first + count > 12]
        assert not before
    assert names(source.parent) == ["a.reel", "b.reel"]


def test_the_archive_is_smaller_than_what_was_recorded(tmp_path):
    with ReelWriter(tmp_path / "a.reel", LAYOUT, chunk_size=50) as writer:
        writer.append(np.sin(np.arange(4000.0).reshape(1000, 4) / 100))
    report = repack(tmp_path / "a.reel", tmp_path / "b.reel", chunk_size=1000)
    assert report.after < 0.95 * report.before


def test_frames_keep_their_numbers_where_others_are_lost(source, small, same_bits):
    raw = bytearray(source.read_bytes())
    with Reel.open(source) as reel:
        second = next(at for tag, _, first, at, _ in reel.records.entries.tolist() if (tag, first) == (b"CHNK", 8))
    raw[second + 40] ^= 1
    source.write_bytes(raw)
    target = source.with_name("b.reel")
    for size in (None, 3, 1000):
        with pytest.warns(SimreelWarning, match=r"a\.reel is damaged: .* 8 frames among it, is not in b\.reel"):
            report = repack(source, target, chunk_size=size, overwrite=True)
        assert (report.frames, report.gaps) == (28, ((8, 16),))
        check_same(source, target, small[1], same_bits, [(8, 16)])
        with Reel.open(target) as reel:
            assert not reel.is_complete


def test_a_chunk_that_was_written_wrong_becomes_a_gap(tmp_path):
    path = tmp_path / "a.reel"
    file = GrowingFile(path, overwrite=False)
    sink = CopySink(file, Head(LAYOUT, 1.0, 4, "diff1", Diff1.contract))
    for first in (0, 4, 8):
        streams = Diff1(LAYOUT, 1.0).encode(np.full(4, first).astype(LAYOUT.row_dtype))
        stream = b"no stream of zstd" if first == 4 else streams[0]
        sink.append(b"CHNK", [(1).to_bytes(4, "little"), len(stream).to_bytes(4, "little"), stream], first, 4)
    sink.finish(12, is_complete=True)
    file.close()
    with pytest.warns(SimreelWarning, match="4 frames among it"):
        assert repack(path, tmp_path / "b.reel").gaps == ((4, 8),)
    with Reel.open(tmp_path / "b.reel") as reel:
        assert (reel.gaps, reel.records.trailer.frames) == ([(4, 8)], 12)
        assert reel.row(8)["x"].tolist() == [8.0] * 4


def test_a_file_without_a_frame_and_one_that_was_cut_can_be_encoded(tmp_path):
    with ReelWriter(tmp_path / "a.reel", LAYOUT, chunk_size=4):
        pass
    assert repack(tmp_path / "a.reel", tmp_path / "b.reel").frames == 0
    with ReelWriter(tmp_path / "c.reel", LAYOUT, chunk_size=4) as writer:
        writer.append(np.ones((12, 4)))
    os.truncate(tmp_path / "c.reel", (tmp_path / "c.reel").stat().st_size - 64)
    assert repack(tmp_path / "c.reel", tmp_path / "d.reel").frames == 12
    with Reel.open(tmp_path / "d.reel") as reel:
        assert reel.records.is_indexed
        assert not reel.is_complete


def test_large_items_are_not_gathered_in_one_chunk(tmp_path):
    layout = Layout((Field("c", "f8", 1000, ragged=True),))
    with ReelWriter(tmp_path / "a.reel", layout, chunk_size=2) as writer:
        for i in range(6):
            writer.next_row()
            writer.ragged("c", np.full((400, 1000), float(i)))
            writer.commit()
    repack(tmp_path / "a.reel", tmp_path / "b.reel", "diff1", 1000)
    with Reel.open(tmp_path / "b.reel") as reel:
        assert (len(reel), reel.gaps) == (6, [])
        assert all(stop - start == 1 for start, stop in reel.chunks)
        assert [items[0, 0] for items in reel.field("c")[:]] == list(range(6))


def test_unknown_records_of_a_newer_release_go_with_the_others(tmp_path):
    file = GrowingFile(tmp_path / "a.reel", overwrite=False)
    sink = CopySink(file, Head(LAYOUT, 1.0, 4, "diff1", 1))
    sink.append(b"XTRA", [b"of a newer release"])
    sink.finish(0, is_complete=True)
    file.close()
    repack(tmp_path / "a.reel", tmp_path / "b.reel")
    assert b"of a newer release" in (tmp_path / "b.reel").read_bytes()


@pytest.mark.parametrize("kind", ["same name", "link", "second name"])
def test_the_file_to_read_is_no_file_to_make(source, kind):
    raw, target = source.read_bytes(), source.with_name("b.reel")
    if kind == "link":
        target.symlink_to(source)
    elif kind == "second name":
        os.link(source, target)
    else:
        target = source.parent / "." / "a.reel"
    with pytest.raises(TargetError, match="is the file to read; give another name"):
        repack(source, target, overwrite=True)
    assert source.read_bytes() == raw


def test_an_existing_file_needs_overwrite(source):
    target = source.with_name("b.reel")
    target.write_text("precious")
    with pytest.raises(TargetExistsError, match="overwrite"):
        repack(source, target)
    assert target.read_text() == "precious"
    repack(source, target, overwrite=True)
    assert Reel.open(target).is_complete
    assert names(source.parent) == ["a.reel", "b.reel"]


def test_mistakes_leave_nothing(source, tmp_path):
    target = tmp_path / "b.reel"
    with pytest.raises(UnknownNameError, match=r"no codec named 'archiv'.*Did you mean 'archive'"):
        repack(source, target, "archiv")
    with pytest.raises(FieldError, match="chunk_size: 0 given"):
        repack(source, target, chunk_size=0)
    with pytest.raises(MissingFileError, match=r"c\.reel: no such file"):
        repack(tmp_path / "c.reel", target)
    with pytest.raises(TargetError, match="its folder does not exist"):
        repack(source, tmp_path / "x" / "b.reel")
    with pytest.raises(TargetError, match="is a folder"):
        repack(source, tmp_path, overwrite=True)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TargetError, match="is a device or a pipe"):
        repack(source, tmp_path / "pipe", overwrite=True)
    (tmp_path / "pipe").unlink()
    with ReelWriter(target, LAYOUT), pytest.raises(TargetError, match="it is being written"):
        repack(source, target, overwrite=True)
    target.unlink()
    assert names(tmp_path) == ["a.reel"]


def test_a_full_disk_leaves_the_file_that_was_there(source, monkeypatch):
    target = source.with_name("b.reel")
    target.write_text("precious")

    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(GrowingFile, "sync", fail)
    with pytest.raises(TargetError, match=r"b\.reel: No space left on device; nothing was changed"):
        repack(source, target, overwrite=True)
    assert target.read_text() == "precious"
    assert names(source.parent) == ["a.reel", "b.reel"]
