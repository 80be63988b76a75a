"""Which chunk holds a frame."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simreel.reel import Field, Layout
from simreel.reel.chunk_table import ChunkTable, merge_spans
from simreel.reel.head import Head
from simreel.reel.index import ENTRY

HEAD = Head(Layout((Field("x", np.dtype("f8"), 1),)), 1.0, 8, "phys1", 1)


def table(spans, frames=None):
    entries = np.array([(b"CHNK", count, first, 64 + i * 64, 10) for i, (first, count) in enumerate(spans)], ENTRY)
    return ChunkTable(entries, HEAD, 10**6, frames)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 8)), max_size=8), st.integers(0, 60), st.integers(0, 60))
def test_frames_are_found_and_those_between_are_missing(steps, start, stop):
    spans, at = [], 0
    for gap, count in steps:
        spans.append((at + gap, count))
        at += gap + count
    chunks = table(spans, at + 3)
    where = {first + i: n for n, (first, count) in enumerate(spans) for i in range(count)}
    assert chunks.frames == at + 3
    assert [chunks.find(frame) for frame in range(at + 3)] == [where.get(frame) for frame in range(at + 3)]
    lost = [frame for first, end in chunks.missing() for frame in range(first, end)]
    assert lost == [frame for frame in range(at + 3) if frame not in where]
    stop = max(start, min(stop, at + 3))
    assert list(chunks.between(start, stop)) == sorted({where[frame] for frame in range(start, stop) if frame in where})


def test_a_chunk_that_overlaps_or_claims_too_much_is_refused():
    spans = [(0, 8), (4, 8), (8, 9), (8, 0), (10**12, 1), (2**63, 1), (8, 8)]
    chunks = table(spans)
    assert (chunks.firsts, chunks.frames) == ([0, 8], 16)
    assert chunks.refused == [64 + i * 64 for i in range(1, 6)]
    assert table([(0, 8)], 2**62).frames == 8
    assert table([(0, 8)], 3).frames == 8


def test_spans_that_touch_become_one():
    assert merge_spans([(8, 9), (0, 3), (3, 5), (4, 6), (20, 30)]) == [(0, 6), (8, 9), (20, 30)]
