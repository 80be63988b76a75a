"""Reels of older releases are read as they were, for ever."""

from pathlib import Path

import numpy as np
import pytest

from simreel.reel import Reel

GOLDEN = Path(__file__).parent / "golden"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.reel"))


def test_all_golden_files_are_there():
    assert NAMES == ["archive", "cut", "diff1", "empty", "mixed", "phys1", "tiny"]


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_file_reads_as_it_was_written(name, same_bits):
    with Reel.open(GOLDEN / f"{name}.reel") as reel, np.load(GOLDEN / f"{name}.npz", allow_pickle=False) as expected:
        assert reel.is_complete == (name != "cut")
        assert (reel.gaps, reel.damage) == ([], [])
        assert (reel.head.writer, reel.head.created) == ("simreel 0.1.0", "2025-01-31T12:00:00Z")
        assert len(reel) == {"cut": 16, "empty": 0, "tiny": 3, "mixed": 40}.get(name, 60)
        for field in reel.layout.fields:
            values, given = reel.field(field.name)[:], expected[field.name]
            if field.ragged:
                counts = expected[f"{field.name}.counts"][: len(reel)]
                assert [len(items) for items in values] == counts.tolist()
                values, given = np.concatenate(values), given[: counts.sum()]
            assert same_bits(values, given[: len(values)])


@pytest.mark.parametrize("name", ["mixed", "cut"])
def test_what_stands_beside_the_frames_reads_as_it_was_written(name, same_bits):
    with Reel.open(GOLDEN / f"{name}.reel") as reel:
        assert (reel.dt, reel.meta) == (0.01, {"who": "golden"})
        assert {key: len(value) for key, value in reel.blobs.items()} == {"a": 100, "b": 100, "raw": 20}
        (param,), (note,) = reel.params, reel.notes
        assert (param.frame, param.value, note.frame, note.value) == (11, {"why": "heavier"}, 11, "ü")
        assert same_bits(param.arrays["mass"], np.array([1.5, np.nan]))
        assert same_bits(note.arrays["on"], np.array([[True, False]]))


def test_the_page_of_the_format_shows_the_bytes_of_a_golden_file():
    import importlib.util

    spec = importlib.util.spec_from_file_location("walk", GOLDEN / "walk.py")
    walk = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(walk)
    shown = "\n".join(f"    {line}".rstrip() for line in walk.walk((GOLDEN / "tiny.reel").read_bytes()))
    page = (Path(__file__).parents[2] / "docs" / "reel-format.md").read_text(encoding="utf-8")
    assert shown in page
