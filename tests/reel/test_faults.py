"""A full disk, a size limit, a broken thread: what was written stays whole, and the caller is told once."""

import errno
import os

import numpy as np
import pytest

from simreel.errors import ClosedFileError, MaxSizeError, SimreelError, WriteError
from simreel.reel import Field, Layout, Reel, ReelWriter

LAYOUT = Layout((Field("x", "f8", 4),))


def noise(count):
    return np.random.default_rng(0).normal(size=(count, 4))


class FullFile:
    """A file on a disk that has room for so many bytes."""

    def __init__(self, file, room):
        self._file = file
        self._room = room

    def write(self, data):
        if not self._room:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = self._file.write(bytes(data[: self._room]))
        self._room -= written
        return written

    def __getattr__(self, name):
        return getattr(self._file, name)


def write_all(writer, block):
    """Writes row by row until the writer raises, and returns that error and how many rows it took."""
    for i, values in enumerate(block):
        try:
            writer.next_row()[:] = values
            writer.commit()
        except SimreelError as error:
            return error, i
    return None, len(block)


def check_kept(path, block, kept):
    with Reel.open(path) as reel:
        assert len(reel) == kept
        assert not reel.is_complete
        assert reel.gaps == []
        assert reel.damage == []
        assert reel.field("x")[:].tobytes() == block[:kept].tobytes()
        return reel.records.is_indexed


@pytest.mark.parametrize("room", [0, 1, 100, 600, 2000, 5000])
def test_a_full_disk_keeps_whole_chunks_and_says_how_many_frames(tmp_path, room):
    path, block = tmp_path / "a.reel", noise(10_000)
    writer = ReelWriter(path, LAYOUT, chunk_size=16)
    writer._worker._sink.file._file = FullFile(writer._worker._sink.file._file, room)
    error, _ = write_all(writer, block)
    assert isinstance(error, WriteError)
    assert isinstance(error, OSError)
    assert writer.error is error
    assert writer.written == error.kept
    kept = f"the first {error.kept} frames are" if error.kept else "no frame is"
    assert str(error) == f"{path}: No space left on device; {kept} kept"
    assert error.kept % 16 == 0
    with pytest.raises(ClosedFileError, match="No space left"):
        writer.append(block[:3])
    writer.close()
    check_kept(path, block, error.kept)


def test_an_error_that_nobody_met_is_raised_by_close_once(tmp_path):
    writer = ReelWriter(tmp_path / "a.reel", LAYOUT)
    writer._worker._sink.file._file = FullFile(writer._worker._sink.file._file, 50)
    writer.append(noise(5))
    with pytest.raises(WriteError, match="no frame is kept") as caught:
        writer.close()
    writer.close()
    assert writer.error is caught.value
    check_kept(tmp_path / "a.reel", noise(5), 0)


def test_a_file_size_limit_of_the_system_is_met_like_a_full_disk(tmp_path, run_script):
    out = run_script(
        """
        import resource
        from simreel.errors import WriteError
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        writer = ReelWriter(sys.argv[1], Layout((Field("x", "f8", 4),)), chunk_size=16)
        try:
            for values in np.random.default_rng(0).normal(size=(10_000, 4)):
                writer.next_row()[:] = values
                writer.commit()
        except WriteError as error:
            print(error, error.kept, sep="|")
        writer.close()
        """,
        tmp_path / "a.reel",
    )
    text, kept = out.strip().split("|")
    assert "File too large" in text
    check_kept(tmp_path / "a.reel", noise(10_000), int(kept))


@pytest.mark.parametrize("max_size", [3000, 4001, 10_000, 50_000])
def test_max_size_counts_everything_and_leaves_a_valid_file(tmp_path, max_size):
    path, block = tmp_path / "a.reel", noise(10_000)
    writer = ReelWriter(path, LAYOUT, chunk_size=16, max_size=max_size, blobs={"a": b"b" * 100})
    error, taken = write_all(writer, block)
    assert isinstance(error, MaxSizeError)
    assert "max_size" in str(error)
    assert (error.max_size, error.kept % 16) == (max_size, 0)
    assert error.kept <= taken
    writer.close()
    assert check_kept(path, block, error.kept)
    # The next chunk would not have fitted.
    assert max_size - 700 < path.stat().st_size <= max_size


def test_max_size_may_be_met_by_close_and_by_a_record(tmp_path):
    writer = ReelWriter(tmp_path / "a.reel", LAYOUT, max_size=4000)
    writer.append(noise(200))
    with pytest.raises(MaxSizeError, match="no frame is kept"):
        writer.close()
    writer = ReelWriter(tmp_path / "b.reel", LAYOUT, max_size=4000)
    writer.note("x" * 5000)
    with pytest.raises(MaxSizeError):
        writer.flush()
    writer.close()
    with pytest.raises(MaxSizeError):
        ReelWriter(tmp_path / "c.reel", LAYOUT, max_size=4000, blobs={"a": os.urandom(5000)})
    assert not (tmp_path / "c.reel").exists()


def test_a_file_that_just_fits_is_complete(tmp_path):
    with ReelWriter(tmp_path / "a.reel", LAYOUT, chunk_size=16) as writer:
        writer.append(noise(100))
    size = (tmp_path / "a.reel").stat().st_size
    with ReelWriter(tmp_path / "b.reel", LAYOUT, chunk_size=16, max_size=size) as writer:
        writer.append(noise(100))
    assert Reel.open(tmp_path / "b.reel").is_complete
    writer = ReelWriter(tmp_path / "c.reel", LAYOUT, chunk_size=16, max_size=size - 1)
    writer.append(noise(100))
    with pytest.raises(MaxSizeError):
        writer.close()
    check_kept(tmp_path / "c.reel", noise(100), 96)


def test_a_failed_overwrite_leaves_the_old_file_beside_the_new_one(tmp_path):
    path = tmp_path / "a.reel"
    path.write_bytes(b"old")
    with pytest.raises(MaxSizeError), ReelWriter(path, LAYOUT, overwrite=True, max_size=4000) as writer:
        writer.append(noise(200))
    assert (tmp_path / "a.reel.old").read_bytes() == b"old"
    with pytest.raises(MaxSizeError):
        ReelWriter(tmp_path / "a.reel.old", LAYOUT, overwrite=True, max_size=10)
    assert (tmp_path / "a.reel.old").read_bytes() == b"old"
    with ReelWriter(path, LAYOUT, overwrite=True) as writer:
        assert (tmp_path / "a.reel.old.1").exists()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.reel", "a.reel.old"]


def test_what_the_encoder_raises_reaches_the_caller_with_its_cause(tmp_path, monkeypatch):
    writer = ReelWriter(tmp_path / "a.reel", LAYOUT, chunk_size=16)
    writer.append(noise(32))
    writer.flush()

    def fail(*_):
        raise MemoryError("no room")

    monkeypatch.setattr(writer._worker._encoder, "encode", fail)
    writer.append(noise(20))
    with pytest.raises(WriteError, match="MemoryError: no room; the first 32 frames are kept") as caught:
        writer.flush()
    assert isinstance(caught.value.__cause__, MemoryError)
    writer.close()
    assert check_kept(tmp_path / "a.reel", noise(32), 32)


def test_a_disk_that_does_not_take_what_was_written_is_an_error(tmp_path, monkeypatch):
    def fail(_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("simreel.reel.growing._datasync", fail)
    for i, fsync in enumerate([100.0, "chunk"]):
        writer = ReelWriter(tmp_path / f"{i}.reel", LAYOUT, fsync=fsync)
        writer.append(noise(5))
        with pytest.raises(WriteError, match="Input/output error; the first 5 frames are kept"):
            writer.close()


def test_a_file_that_somebody_deleted_is_an_error(tmp_path):
    writer = ReelWriter(tmp_path / "a.reel", LAYOUT)
    writer.append(noise(5))
    (tmp_path / "a.reel").unlink()
    with pytest.raises(WriteError, match="deleted"):
        writer.close()


def test_a_slow_disk_makes_the_caller_wait_and_costs_no_frame(tmp_path):
    import time

    class SlowFile(FullFile):
        def write(self, data):
            time.sleep(0.01)
            return self._file.write(data)

    writer = ReelWriter(tmp_path / "a.reel", LAYOUT, chunk_size=4)
    writer._worker._sink.file._file = SlowFile(writer._worker._sink.file._file, 0)
    assert write_all(writer, noise(200)) == (None, 200)
    # Nothing but the ring waits.
    assert writer.frames - writer._worker.frames <= 3 * 4
    writer.close()
    assert Reel.open(tmp_path / "a.reel").field("x")[:].tobytes() == noise(200).tobytes()
