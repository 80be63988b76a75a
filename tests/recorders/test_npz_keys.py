"""Any key is legal in an archive, and what none can hold is refused by name."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from reading import load, names, same_bits

from simreel.errors import SampleError, SimreelWarning
from simreel.recorders import NPZFile

HOSTILE = [
    "file",
    "a/b",
    "../x",
    "/abs",
    "",
    ".",
    "..",
    "ключ",
    "\U0001f600",
    " ",
    "a\nb",
    "a.npy",
    ".npy",
    "f",
    "self",
]


@pytest.mark.parametrize("key", [*HOSTILE, "x" * 60_000, 0, -1, np.int64(3)])
def test_any_key_is_legal(tmp_path, record, key):
    record([{key: 1.0}, {key: 2.0}], NPZFile(tmp_path / "a.npz"))
    assert load(tmp_path / "a.npz")[str(key)].tolist() == [1.0, 2.0]
    assert names(tmp_path) == ["a.npz"]


@pytest.mark.parametrize("key", ["a\0b", "\0", "x" * 60_001, "é" * 30_001])
def test_a_key_that_no_archive_can_hold_is_refused_by_name(tmp_path, record, key):
    with pytest.raises(SampleError, match="the key returned") as caught:
        record([{"good": 1, key: 1.0}], NPZFile(tmp_path / "a.npz"))
    assert caught.value.key == key
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("keys", "kept"),
    [
        (["timestamp"], ["data/timestamp"]),
        (["step", "episode"], ["data/step", "data/episode"]),
        (["timestamp.npy"], ["data/timestamp.npy"]),
        (["a", "a.npy"], ["a", "data/a.npy"]),
        (["a.npy", "a"], ["a.npy", "data/a"]),
        (["timestamp", "data/timestamp"], ["data/timestamp", "data/data/timestamp"]),
        (["data/timestamp", "timestamp"], ["data/timestamp", "data/data/timestamp"]),
    ],
)
def test_a_key_that_meets_another_name_gets_a_prefix_and_a_warning_names_it(tmp_path, record, keys, kept):
    with pytest.warns(SimreelWarning, match="is kept as") as caught:
        record([dict(zip(keys, [1.5, 2.5], strict=False))] * 2, NPZFile(tmp_path / "a.npz"))
    run = load(tmp_path / "a.npz")
    for name, value in zip(kept, [1.5, 2.5], strict=False):
        assert run[name].tolist() == [value] * 2
    changed = [(a, b) for a, b in zip(keys, kept, strict=True) if a != b]
    assert [f"{a!r} meets another name of the archive and is kept as {b!r}" for a, b in changed] == [
        str(w.message).split("the key ")[1] for w in caught
    ]


def test_episode_is_no_name_of_ours_where_each_episode_has_a_file(tmp_path, record):
    record([{"episode": 4.5}] * 2, NPZFile(tmp_path / "a.npz", save_on_reset=True))
    assert load(tmp_path / "a_0000.npz")["episode"].tolist() == [4.5] * 2


keys = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
clashing = st.sampled_from(["timestamp", "step", "episode", "a", "a.npy", "a.npy.npy", "data/a", "data/a.npy", "data"])
leaves = st.one_of(
    st.floats(width=64), st.integers(-(2**63), 2**63 - 1), st.booleans(), st.lists(st.floats(), max_size=3)
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(keys | clashing, leaves, min_size=1, max_size=6))
@example({"a": 1, "a.npy": 2, "a.npy.npy": 3, "data/a.npy": 4, "timestamp": 5, "data/timestamp": 6, "data": 7})
def test_hostile_keys_and_values_come_back_to_the_bit(tmp_path_factory, record, row):
    path = tmp_path_factory.mktemp("keys") / "a.npz"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimreelWarning)
        record([row, row], NPZFile(path))
    with np.load(path, allow_pickle=False) as archive:
        assert len(set(archive.files)) == len(row) + 3
        found = [archive[name] for name in archive.files[3:]]
    for array, (key, value) in zip(found, row.items(), strict=True):
        assert same_bits(array, [np.asarray(value)] * 2), key


def test_text_and_objects_are_refused_with_the_key_and_leave_no_file(tmp_path, record):
    for value in ["text", None, object(), [[1], [1, 2]], b"raw"]:
        with pytest.raises(SampleError, match="'k'"):
            record([{"k": value}], NPZFile(tmp_path / "a.npz"))
    assert names(tmp_path) == []
