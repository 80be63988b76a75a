"""What a CSV file holds, to the letter, while it grows and when it ends."""

import csv
import os
import time
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reading import names

from simreel.errors import (
    OptionsError,
    RecorderError,
    SampleError,
    SimreelWarning,
    TargetError,
    TargetExistsError,
)
from simreel.recorders import CSVFile, NPZFile, recover


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file, strict=True))


# The text.


def test_the_text_is_exactly_this(tmp_path, record):
    rows = [
        {"q": np.array([0.1, -0.0]), "n": 2**53 + 1, "on": True, "name": 'a "b", c', "f": np.float32(0.1)},
        {"q": np.array([np.nan, -np.inf]), "n": -1, "on": False, "name": "", "f": np.float32(np.inf)},
        {"q": np.array([1e15, 5e-324]), "n": 0, "on": True, "name": "zwei\nZeilen ü", "f": np.float32(1e-3)},
    ]
    record(rows, CSVFile(tmp_path / "a.csv"), dt=0.1)
    assert (tmp_path / "a.csv").read_bytes().decode() == (
        "timestamp,q_0,q_1,n,on,name,f,episode\n"
        '0.0,0.1,-0.0,9007199254740993,true,"a ""b"", c",0.1,0\n'
        "0.1,nan,-inf,-1,false,,inf,0\n"
        '0.2,1000000000000000.0,5e-324,0,true,"zwei\nZeilen ü",0.001,0\n'
    )


@pytest.mark.parametrize(
    ("value", "header"),
    [
        (1.5, "data"),
        ([1.5, 2.5], "data_0,data_1"),
        (np.zeros((2, 2)), "data_0_0,data_0_1,data_1_0,data_1_1"),
        (np.zeros((1, 1, 2)), "data_0_0_0,data_0_0_1"),
        ({"a": 1, "b": [1, 2]}, "a,b_0,b_1"),
        ({"a": {"b": {0: 1, 1: [2.0]}}, "c": "text"}, "a/b/0,a/b/1_0,c"),
        ({"a,b": 1, 'c"d': 2, "e\nf": 3, "": 4}, '"a,b","c""d","e\nf",'),
        ({"é": [], "b": 1}, "b"),
        (np.zeros(0), None),
        ("text", "data"),
    ],
)
def test_the_header_names_each_value(tmp_path, record, value, header):
    record([value] * 2, CSVFile(tmp_path / "a.csv"))
    columns = ["timestamp", *([] if header is None else [header]), "episode"]
    assert (tmp_path / "a.csv").read_text(encoding="utf-8").startswith(",".join(columns) + "\n")
    assert len(read(tmp_path / "a.csv")[1]) == len(read(tmp_path / "a.csv")[0])


def test_a_given_header_is_taken(tmp_path, record):
    record([[1, 2]] * 2, CSVFile(tmp_path / "a.csv", header=["hip, left", "knee"]))
    assert read(tmp_path / "a.csv") == [
        ["timestamp", "hip, left", "knee", "episode"],
        ["0.0", "1", "2", "0"],
        ["0.01", "1", "2", "0"],
    ]


@pytest.mark.parametrize("header", [[], ["a"], ["timestamp", "a", "b"]])
def test_a_header_of_the_wrong_length_is_an_error_at_the_first_sample_and_the_others_go_on(
    tmp_path, still_scene, header
):
    scene = still_scene()
    bad = scene.start_recording(lambda: [1, 2], CSVFile(tmp_path / "bad.csv", header=header))
    good = scene.start_recording(lambda: [1, 2], CSVFile(tmp_path / "good.csv"))
    scene.build()
    with pytest.raises(OptionsError, match=rf"header has {len(header)} names, the data 2 values: data_0, data_1"):
        scene.step()
    assert scene.step_count == 1
    assert (bad.is_alive, good.is_alive) == (False, True)
    scene.step(2)
    scene.stop_recording()
    assert names(tmp_path) == ["good.csv"]
    assert len(read(tmp_path / "good.csv")) == 5


def test_the_error_of_a_header_does_not_list_a_million_names(tmp_path, record):
    with pytest.raises(OptionsError) as caught:
        record([np.zeros(100_000)], CSVFile(tmp_path / "a.csv", header=["a"]))
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("row", "header", "found"),
    [
        ({"timestamp": 1, "b": 2}, None, ["timestamp", "data/timestamp", "b", "episode"]),
        ({"episode": 1, "b": 2}, None, ["timestamp", "data/episode", "b", "episode"]),
        ({"a": [1, 2], "a_1": 3}, None, ["timestamp", "a_0", "a_1", "data/a_1", "episode"]),
        ({"a": 1, "b": 2}, ["x", "x"], ["timestamp", "x", "data/x", "episode"]),
    ],
)
def test_no_two_columns_have_one_name_and_a_warning_tells(tmp_path, record, row, header, found):
    with pytest.warns(SimreelWarning, match="there is another column") as caught:
        record([row, row], CSVFile(tmp_path / "a.csv", header=header))
    assert len(caught) == 1
    assert read(tmp_path / "a.csv")[0] == found


def test_a_key_episode_keeps_its_name_where_we_write_none(tmp_path, record):
    record([{"episode": 4}] * 2, CSVFile(tmp_path / "a.csv", save_on_reset=True))
    assert read(tmp_path / "a_0000.csv")[0] == ["timestamp", "episode"]


def test_complex_numbers_are_refused_with_the_key(tmp_path, record):
    with pytest.raises(SampleError, match=r"'z'.*complex128"):
        record([{"z": 1j}], CSVFile(tmp_path / "a.csv"))
    assert names(tmp_path) == []


keys = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
leaf = st.one_of(st.floats(), st.integers(-(2**63), 2**63 - 1), st.booleans(), st.text(max_size=6), st.just([1.0, 2.0]))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(keys, leaf, min_size=1, max_size=5))
def test_hostile_keys_and_values_are_read_back_by_the_csv_module(tmp_path_factory, record, row):
    row = {key: v.encode(errors="replace").decode() if isinstance(v, str) else v for key, v in row.items()}
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimreelWarning)
        record([row] * 3, CSVFile(path))
    header, *lines = read(path)
    assert len(set(header)) == len(header)
    expected = []
    for key, value in row.items():
        for name_end, v in [(f"_{i}", v) for i, v in enumerate(value)] if isinstance(value, list) else [("", value)]:
            assert any(name in {f"{key}{name_end}", f"data/{key}{name_end}"} for name in header)
            expected.append(v)
    assert len(lines) == 3
    for line in lines:
        for text, value in zip(line[1:-1], expected, strict=True):
            if isinstance(value, str):
                assert text == value
            elif isinstance(value, bool):
                assert text == str(value).lower()
            elif isinstance(value, int):
                assert int(text) == value
            else:
                assert np.float64(text).tobytes() == np.float64(value).tobytes() or (value != value and text == "nan")


@pytest.mark.parametrize("n", [0, 1, 2, 31, 32, 33, 8191, 8192, 8193])
def test_n_samples_in_are_n_rows_out(tmp_path, record, n):
    (recorder,) = record(range(n), CSVFile(tmp_path / "a.csv"))
    assert recorder.status.written == n
    if n == 0:
        assert names(tmp_path) == []
    else:
        assert [row[1] for row in read(tmp_path / "a.csv")[1:]] == [str(i) for i in range(n)]
        assert recorder.status.bytes == (tmp_path / "a.csv").stat().st_size


# While it grows.


def test_rows_can_be_followed_within_the_flush(tmp_path, still_scene):
    scene = still_scene()
    scene.start_recording(lambda: 1.5, CSVFile(tmp_path / "a.csv"))
    scene.build()
    with open(tmp_path / "a.csv", "rb") as follower:
        for _ in range(3):
            scene.step(5)
            seen, deadline = b"", time.monotonic() + 5
            while seen.count(b"1.5") < 5 and time.monotonic() < deadline:
                time.sleep(0.01)
                seen += follower.read()
            assert seen.count(b"1.5") == 5
            assert seen.endswith(b"\n")
    scene.stop_recording()


def test_with_save_every_write_each_row_is_there_when_the_step_returns(tmp_path, still_scene):
    scene = still_scene()
    scene.start_recording(lambda: scene.step_count, CSVFile(tmp_path / "a.csv", save_every_write=True))
    scene.build()
    for i in range(1, 100):
        scene.step()
        rows = read(tmp_path / "a.csv")
        assert len(rows) == i + 1
        assert rows[-1][1] == str(i - 1)
    scene.stop_recording()
    assert len(read(tmp_path / "a.csv")) == 101


def test_a_file_that_is_renamed_while_it_grows_gets_all_rows(tmp_path, still_scene):
    scene = still_scene()
    recorder = scene.start_recording(lambda: 1, CSVFile(tmp_path / "a.csv"))
    scene.build()
    scene.step(3)
    recorder.sync()
    (tmp_path / "a.csv").rename(tmp_path / "b.csv")
    scene.step(3)
    scene.stop_recording()
    assert names(tmp_path) == ["b.csv"]
    assert len(read(tmp_path / "b.csv")) == 8


def test_a_file_that_is_deleted_while_it_grows_is_told(tmp_path, still_scene):
    scene = still_scene()
    recorder = scene.start_recording(lambda: 1, CSVFile(tmp_path / "a.csv"))
    scene.build()
    scene.step(3)
    recorder.sync()
    (tmp_path / "a.csv").unlink()
    with pytest.raises(TargetError, match="was deleted while it was recorded"):
        scene.stop_recording()


# Files that are there already.


def test_an_old_file_waits_until_a_clean_close(tmp_path, still_scene):
    (tmp_path / "a.csv").write_text("old")
    with pytest.raises(TargetExistsError, match="overwrite"):
        still_scene().start_recording(lambda: 1, CSVFile(tmp_path / "a.csv"))
    scene = still_scene()
    scene.start_recording(lambda: 1, CSVFile(tmp_path / "a.csv", overwrite=True))
    assert names(tmp_path) == ["a.csv"]
    scene.build()
    scene.step(3)
    assert (tmp_path / "a.csv.old").read_text() == "old"
    scene.stop_recording()
    assert names(tmp_path) == ["a.csv"]
    assert len(read(tmp_path / "a.csv")) == 5


def test_an_old_file_comes_back_where_no_row_came(tmp_path, record):
    (tmp_path / "a.csv").write_text("old")
    record([], CSVFile(tmp_path / "a.csv", overwrite=True))
    assert names(tmp_path) == ["a.csv"]
    assert (tmp_path / "a.csv").read_text() == "old"


def test_an_old_file_comes_back_where_another_recorder_cannot_be_opened(tmp_path, still_scene):
    (tmp_path / "a.csv").write_text("old")
    scene = still_scene()
    scene.start_recording(lambda: 1, CSVFile(tmp_path / "a.csv", overwrite=True))
    scene.start_recording(lambda: 1, NPZFile(tmp_path / f"{'x' * 245}.npz"))
    with pytest.raises(TargetError):
        scene.build()
    assert names(tmp_path) == ["a.csv"]
    assert (tmp_path / "a.csv").read_text() == "old"


def test_an_old_file_stays_beside_the_new_one_where_the_recorder_failed(tmp_path, still_scene):
    (tmp_path / "a.csv").write_text("old")
    values = iter([1, 2])
    scene = still_scene()
    scene.start_recording(lambda: next(values), CSVFile(tmp_path / "a.csv", overwrite=True))
    scene.build()
    with pytest.raises(RecorderError, match="StopIteration"):
        scene.step(3)
    scene.stop_recording()
    assert (tmp_path / "a.csv.old").read_text() == "old"
    assert [row[1] for row in read(tmp_path / "a.csv")] == ["data", "1", "2"]


def test_a_file_that_waits_already_is_not_lost(tmp_path, record):
    (tmp_path / "a.csv").write_text("old")
    (tmp_path / "a.csv.old").write_text("older")
    record([1, 2], CSVFile(tmp_path / "a.csv", overwrite=True))
    assert names(tmp_path) == ["a.csv", "a.csv.old"]
    assert (tmp_path / "a.csv.old").read_text() == "older"


def test_what_another_recording_writes_is_not_overwritten(tmp_path, still_scene):
    first, second = still_scene(), still_scene()
    first.start_recording(lambda: 1, CSVFile(tmp_path / "a.csv"))
    first.build()
    first.step(3)
    second.start_recording(lambda: 2, CSVFile(tmp_path / "a.csv", overwrite=True))
    with pytest.raises(TargetError, match="running recording"):
        second.build()
    first.step(3)
    first.stop_recording()
    second.stop_recording()
    assert names(tmp_path) == ["a.csv"]
    assert len(read(tmp_path / "a.csv")) == 8


# Episodes.


def test_episodes_are_counted_in_one_file(tmp_path, record):
    record.episodes([[1, 2, 3], [4, 5]], CSVFile(tmp_path / "a.csv"), dt=0.5)
    assert (tmp_path / "a.csv").read_text() == ("timestamp,data,episode\n0.0,1,0\n0.5,2,0\n1.0,3,0\n0.0,4,1\n0.5,5,1\n")


def test_each_episode_has_a_file_with_the_header_and_without_the_column(tmp_path, record):
    record.episodes([[1, 2], [3, 4], []], CSVFile(tmp_path / "a.csv", save_on_reset=True), dt=0.5)
    assert names(tmp_path) == ["a_0000.csv", "a_0001.csv"]
    assert (tmp_path / "a_0001.csv").read_text() == "timestamp,data\n0.0,3\n0.5,4\n"


def test_an_episode_file_that_appears_during_the_run_is_not_harmed(tmp_path, still_scene, step_and_sync):
    scene = still_scene()
    recorder = scene.start_recording(lambda: 1, CSVFile(tmp_path / "a.csv", save_on_reset=True))
    scene.build()
    scene.step(2)
    scene.reset()
    (tmp_path / "a_0001.csv").write_text("somebody else's")
    with pytest.raises(TargetExistsError, match="a_0001"):
        step_and_sync(scene, recorder, 2)
    scene.stop_recording()
    assert (tmp_path / "a_0001.csv").read_text() == "somebody else's"
    assert len(read(tmp_path / "a_0000.csv")) == 4


def test_old_episodes_wait_until_their_own_file_is_closed(tmp_path, record):
    for i in range(3):
        (tmp_path / f"a_000{i}.csv").write_text("old")
    record.episodes([[1, 2], [3, 4]], CSVFile(tmp_path / "a.csv", save_on_reset=True, overwrite=True))
    assert names(tmp_path) == ["a_0000.csv", "a_0001.csv", "a_0002.csv"]
    assert (tmp_path / "a_0002.csv").read_text() == "old"
    assert len(read(tmp_path / "a_0001.csv")) == 3


# What the machine does to it.


class FullFile:
    """A file on a disk that has room for so many bytes."""

    def __init__(self, file, room):
        self._file = file
        self._room = room

    def write(self, data):
        if not self._room:
            raise OSError(28, "No space left on device")
        written = self._file.write(data[: self._room])
        self._room -= written
        return written

    def __getattr__(self, name):
        return getattr(self._file, name)


@pytest.mark.parametrize("room", [0, 10, 30, 500, 2000])
def test_a_full_disk_keeps_whole_rows_only(tmp_path, still_scene, step_and_sync, room):
    scene = still_scene()
    count = iter(range(10**6))
    recorder = scene.start_recording(lambda: next(count), CSVFile(tmp_path / "a.csv"))
    scene.build()
    recorder._file._file = FullFile(recorder._file._file, room)
    with pytest.raises(RecorderError, match=r"CSVFile a\.csv ended while writing.*No space left"):
        step_and_sync(scene, recorder, 300)
    scene.stop_recording()
    status = recorder.status
    assert status.received == status.written + status.dropped
    if not status.written:
        assert names(tmp_path) == []
        return
    rows = read(tmp_path / "a.csv")
    assert [row[1] for row in rows[1:]] == [str(i) for i in range(status.written)]
    assert (tmp_path / "a.csv").read_bytes().endswith(b"\n")
    assert status.bytes == (tmp_path / "a.csv").stat().st_size <= room


def test_a_full_disk_brings_the_old_file_back_where_no_row_fitted(tmp_path, still_scene):
    (tmp_path / "a.csv").write_text("old")
    scene = still_scene()
    recorder = scene.start_recording(lambda: 1, CSVFile(tmp_path / "a.csv", overwrite=True))
    scene.build()
    recorder._file._file = FullFile(recorder._file._file, 10)
    scene.step()
    with pytest.raises(RecorderError):
        recorder.sync()
    scene.stop_recording()
    assert names(tmp_path) == ["a.csv"]
    assert (tmp_path / "a.csv").read_text() == "old"


def test_memory_does_not_grow_with_the_run(folder, memory_growth):
    growth = memory_growth(folder / "a.csv", "CSVFile(sys.argv[1])", 64)
    assert (folder / "a.csv").stat().st_size > 50e6
    assert max(growth) < 4000


def test_a_read_only_folder_is_told_at_the_start(folder, still_scene):
    folder.chmod(0o500)
    if os.access(folder, os.W_OK):
        pytest.skip("root may write everywhere")
    with pytest.raises(TargetError, match="not writable"):
        still_scene().start_recording(lambda: 1, CSVFile(folder / "a.csv"))


def test_a_whole_file_needs_no_recovery(tmp_path, record):
    record([1, 2], CSVFile(tmp_path / "a.csv"))
    before = (tmp_path / "a.csv").read_bytes()
    report = recover(tmp_path / "a.csv")
    assert (report.kept, report.lost, report.damaged, report.old) == (2, 0, None, None)
    assert (tmp_path / "a.csv").read_bytes() == before
