"""A spool is appended to in whole records, or not at all."""

import numpy as np
import pytest

from simreel.errors import SimreelError
from simreel.recorders.spool import MAGIC, SpoolReader
from simreel.recorders.spool_writer import SpoolWriter
from simreel.recorders.target import is_being_written

HEAD = {
    "writer": "simreel test",
    "dt": 0.01,
    "has_episode": True,
    "compression": "none",
    "columns": [{"name": "qpos", "dtype": "<f8", "shape": [3]}, {"name": "on", "dtype": "|b1", "shape": []}],
}


def block(first, rows):
    steps = np.arange(first, first + rows)
    return [np.stack([steps] * 3, axis=1).astype(float), steps % 2 == 0]


def test_rows_come_back_in_order_whatever_the_layout_of_the_arrays(tmp_path):
    writer = SpoolWriter(tmp_path / "a")
    writer.write_head(HEAD)
    qpos, on = block(0, 4)
    writer.write_rows(0, 2, 0, [np.asfortranarray(qpos), np.repeat(on, 2)[::2]])
    writer.write_rows(8, 2, 3, block(4, 2))
    assert writer.rows == 6
    assert is_being_written(tmp_path / "a")
    writer.close()
    assert not is_being_written(tmp_path / "a")
    with SpoolReader(tmp_path / "a") as spool:
        assert (spool.rows, spool.lost_rows, spool.lost_bytes) == (6, 0, 0)
        assert [r[:4] for r in spool.records] == [(4, 0, 2, 0), (2, 8, 2, 3)]
        values = np.frombuffer(b"".join(spool.column(0))).reshape(-1, 3)
        assert values[:, 2].tolist() == [0, 1, 2, 3, 4, 5]
        assert spool.head == HEAD


def test_a_spool_that_exists_is_never_overwritten(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(SimreelError, match="cannot be made"):
        SpoolWriter(tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == b"old"


class FullFile:
    """A file on a disk that has room for so many bytes."""

    def __init__(self, file, room):
        self._file = file
        self._room = room

    def write(self, data):
        if not self._room:
            raise OSError(28, "No space left on device")
        written = self._file.write(bytes(data[: self._room]))
        self._room -= written
        return written

    def __getattr__(self, name):
        return getattr(self._file, name)


@pytest.mark.parametrize("room", [0, 1, 30, 52, 60, 100, 200])
def test_a_full_disk_leaves_no_half_record(tmp_path, room):
    path = tmp_path / "a"
    writer = SpoolWriter(path)
    writer.write_head(HEAD)
    writer.write_rows(0, 1, 0, block(0, 3))
    size = writer.size
    writer._file = FullFile(writer._file, room)
    with pytest.raises(OSError, match="No space"):
        writer.write_rows(3, 1, 0, block(3, 20))
    writer.close()
    assert path.stat().st_size == size == writer.size
    with SpoolReader(path) as spool:
        assert (spool.rows, spool.lost_rows, spool.lost_bytes) == (3, 0, 0)


def test_a_disk_that_is_full_at_once_leaves_no_file(tmp_path, run_script):
    out = run_script(
        """
        import resource
        from simreel.recorders.spool_writer import SpoolWriter
        resource.setrlimit(resource.RLIMIT_FSIZE, (4, 4))
        try:
            SpoolWriter(Path(sys.argv[1]))
        except sr.errors.TargetError as error:
            print(error)
        """,
        tmp_path / "a",
    )
    assert "cannot be written (File too large)" in out
    assert list(tmp_path.iterdir()) == []


def test_names_that_no_reader_would_take_are_refused_by_the_writer(tmp_path):
    writer = SpoolWriter(tmp_path / "a")
    with pytest.raises(ValueError, match="names of the columns"):
        writer.write_head(HEAD | {"writer": "x" * (17 * 2**20)})
    writer.close()
    assert (tmp_path / "a").stat().st_size == len(MAGIC)
