"""What an archive holds, byte for byte, and what is left when making one fails."""

import logging
import zipfile

import numpy as np
import pytest
from reading import comment, load, names, same_bits

from simreel.errors import (
    RecorderError,
    TargetExistsError,
)
from simreel.recorders import NPZFile, queue, recover

BLOCK = queue._BLOCK_ROWS


# What the archive holds.


def test_data_without_keys_is_data_beside_timestamp_step_and_episode(tmp_path, record):
    values = np.arange(12.0).reshape(4, 3)
    record(values, NPZFile(tmp_path / "a.npz"), dt=0.1)
    run = load(tmp_path / "a.npz")
    assert list(run) == ["timestamp", "step", "episode", "data"]
    assert same_bits(run["timestamp"], np.arange(4) * 0.1)
    assert same_bits(run["step"], np.arange(4))
    assert same_bits(run["episode"], np.zeros(4, np.int32))
    assert same_bits(run["data"], values)


def test_each_key_is_an_array_of_its_own_and_nested_keys_are_joined(tmp_path, record):
    row = {"q": np.zeros((2, 3)), "arm": {"left": {0: 1.5}}, "n": 7}
    record([row] * 3, NPZFile(tmp_path / "a.npz"))
    run = load(tmp_path / "a.npz")
    assert list(run) == ["timestamp", "step", "episode", "q", "arm/left/0", "n"]
    assert run["q"].shape == (3, 2, 3)
    assert same_bits(run["arm/left/0"], [1.5] * 3)
    assert same_bits(run["n"], np.full(3, 7))


DTYPES = ["bool", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]


@pytest.mark.parametrize("compression", ["none", "deflate"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 2), (2, 3)])
def test_dtypes_shapes_and_bits_are_kept(tmp_path, record, shape, compression):
    rng = np.random.default_rng(1)
    rows = []
    for _ in range(5):
        row = {}
        for dtype in DTYPES:
            size = int(np.prod(shape)) * np.dtype(dtype).itemsize
            raw = rng.integers(0, 2 if dtype == "bool" else 256, size, np.uint8).tobytes()
            row[dtype] = np.frombuffer(raw, dtype).reshape(shape)
        row["g"] = np.full(shape, 1 / np.longdouble(3))
        rows.append(row)
    record(rows, NPZFile(tmp_path / "a.npz", compression=compression))
    run = load(tmp_path / "a.npz")
    for key in rows[0]:
        assert same_bits(run[key], np.stack([row[key] for row in rows])), key


def test_special_values_keep_their_bits(tmp_path, record):
    nans = np.frombuffer(np.array([0x7FF8000000000123, 0xFFF0000000000001], np.uint64), np.float64)
    values = [np.nan, -np.nan, np.inf, -np.inf, -0.0, 5e-324, 1.7976931348623157e308, *nans]
    record([np.array(values)] * 2, NPZFile(tmp_path / "float.npz"))
    record([2**53 + 1, 2**63 - 1, -(2**63)], NPZFile(tmp_path / "int.npz"))
    assert same_bits(load(tmp_path / "float.npz")["data"], [values] * 2)
    assert load(tmp_path / "int.npz")["data"].tolist() == [2**53 + 1, 2**63 - 1, -(2**63)]


@pytest.mark.parametrize("n", [0, 1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK])
def test_n_samples_in_are_n_rows_out(tmp_path, record, n):
    (recorder,) = record([np.array([i, -i]) for i in range(n)], NPZFile(tmp_path / "a.npz"))
    assert (recorder.status.received, recorder.status.written, recorder.status.dropped) == (n, n, 0)
    if n == 0:
        assert names(tmp_path) == []
    else:
        run = load(tmp_path / "a.npz")
        assert same_bits(run["data"], np.stack([np.arange(n), -np.arange(n)], axis=1))
        assert same_bits(run["step"], np.arange(n))


def test_times_are_the_step_times_dt(tmp_path, still_scene):
    scene = still_scene(0.1)
    scene.start_recording(lambda: 0, NPZFile(tmp_path / "a.npz", hz=10 / 7))
    scene.build()
    scene.step(5000)
    scene.stop_recording()
    run = load(tmp_path / "a.npz")
    assert same_bits(run["step"], np.arange(0, 5001, 7))
    assert same_bits(run["timestamp"], run["step"] * 0.1)


def test_the_comment_tells_how_it_ended(tmp_path, record):
    record([1, 2, 3], NPZFile(tmp_path / "a.npz"), dt=0.25)
    found = comment(tmp_path / "a.npz")
    assert found.pop("simreel")
    assert found == {"dt": 0.25, "complete": True, "rows": 3, "dropped": 0, "error": None}


@pytest.mark.parametrize("message", ["sensor lost", "x" * 200_000, "é" * 70_000, "\U0001f600" * 70_000])
def test_a_failed_data_function_leaves_a_whole_archive_of_the_rows_before(tmp_path, still_scene, message):
    count = iter(range(3))

    def sense():
        for i in count:
            return i
        raise ValueError(message)

    scene = still_scene()
    scene.start_recording(sense, NPZFile(tmp_path / "a.npz"))
    scene.build()
    scene.step(3)
    with pytest.raises(RecorderError, match="taking the sample of step 3"):
        scene.step()
    scene.stop_recording()
    assert load(tmp_path / "a.npz")["data"].tolist() == [0, 1, 2]
    found = comment(tmp_path / "a.npz")
    assert not found["complete"]
    assert message[:10] in found["error"]


@pytest.mark.parametrize("compression", ["none", "deflate"])
def test_equal_runs_make_equal_bytes(tmp_path, record, compression):
    rows = np.random.default_rng(1).normal(size=(3000, 7)).round(2)
    for name in "ab":
        record(rows, NPZFile(tmp_path / f"{name}.npz", compression=compression))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_deflate_makes_it_smaller_and_changes_no_value(tmp_path, record):
    rows = np.tile(np.arange(50.0), (500, 1))
    record(rows, NPZFile(tmp_path / "a.npz"), NPZFile(tmp_path / "b.npz", compression="deflate"))
    assert (tmp_path / "b.npz").stat().st_size < (tmp_path / "a.npz").stat().st_size / 10
    with zipfile.ZipFile(tmp_path / "b.npz") as archive:
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_DEFLATED}
    assert same_bits(load(tmp_path / "a.npz")["data"], load(tmp_path / "b.npz")["data"])


def test_numpy_reads_the_arrays_of_a_stored_archive_as_other_readers_do(tmp_path, record):
    record([np.arange(3)] * 2, NPZFile(tmp_path / "a.npz"))
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert archive.namelist() == ["timestamp.npy", "step.npy", "episode.npy", "data.npy"]
        with archive.open("data.npy") as member:
            assert np.lib.format.read_array(member, allow_pickle=False).tolist() == [[0, 1, 2]] * 2


# Episodes.


def test_episodes_are_counted_in_one_file(tmp_path, record):
    record.episodes([[1, 2, 3], [4, 5], [6, 7]], NPZFile(tmp_path / "a.npz"))
    run = load(tmp_path / "a.npz")
    assert run["data"].tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert run["episode"].tolist() == [0, 0, 0, 1, 1, 2, 2]
    assert run["step"].tolist() == [0, 1, 2, 0, 1, 0, 1]


def test_each_episode_has_a_file_without_the_column(tmp_path, record):
    record.episodes([[1, 2, 3], [4, 5], []], NPZFile(tmp_path / "a.npz", save_on_reset=True))
    assert names(tmp_path) == ["a_0000.npz", "a_0001.npz"]
    runs = [load(tmp_path / name) for name in names(tmp_path)]
    assert [list(run) for run in runs] == [["timestamp", "step", "data"]] * 2
    assert [run["data"].tolist() for run in runs] == [[1, 2, 3], [4, 5]]
    assert [comment(tmp_path / name)["rows"] for name in names(tmp_path)] == [3, 2]


def test_two_resets_in_a_row_make_no_empty_file(tmp_path, still_scene):
    scene = still_scene()
    scene.start_recording(lambda: 1, NPZFile(tmp_path / "a.npz", save_on_reset=True))
    scene.build()
    scene.reset()
    scene.reset()
    scene.step(2)
    scene.reset()
    scene.reset()
    scene.reset()
    assert names(tmp_path) == ["a_0000.npz"]
    scene.step(2)
    scene.stop_recording()
    assert names(tmp_path) == ["a_0000.npz", "a_0001.npz"]


def test_any_existing_episode_file_asks_for_overwrite(tmp_path, record):
    (tmp_path / "a_0007.npz").write_bytes(b"old")
    with pytest.raises(TargetExistsError, match="a_0007"):
        record([1], NPZFile(tmp_path / "a.npz", save_on_reset=True))
    record([1, 2], NPZFile(tmp_path / "a.npz", save_on_reset=True, overwrite=True))
    assert names(tmp_path) == ["a_0000.npz", "a_0007.npz"]
    assert (tmp_path / "a_0007.npz").read_bytes() == b"old"


def test_an_episode_file_that_appears_during_the_run_is_not_harmed(tmp_path, still_scene):
    scene = still_scene()
    scene.start_recording(lambda: 1, NPZFile(tmp_path / "a.npz", save_on_reset=True))
    scene.build()
    scene.step(2)
    scene.reset()
    (tmp_path / "a_0001.npz").write_bytes(b"somebody else's")
    scene.step(2)
    with pytest.raises(TargetExistsError, match="a_0001"):
        scene.reset()
    assert (tmp_path / "a_0001.npz").read_bytes() == b"somebody else's"
    scene.stop_recording()
    assert recover(tmp_path / "a.npz").target == tmp_path / "a_0001.npz"
    assert load(tmp_path / "a_0001.npz")["data"].tolist() == [1, 1, 1]


def test_the_summary_tells_counts_and_size(tmp_path, record, caplog):
    with caplog.at_level(logging.INFO, "simreel"):
        record([1.0] * 3, NPZFile(tmp_path / "a.npz"))
    assert [r.getMessage() for r in caplog.records] == [f"NPZFile a.npz: 3 samples, 0 dropped, {_size(caplog)}"]


def _size(caplog):
    return caplog.records[-1].args[-1]
