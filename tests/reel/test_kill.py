"""A kill at any moment keeps every whole chunk."""

import os
import random
import signal
import time

import numpy as np
import pytest

from simreel.reel import Reel

CODE = """
layout = Layout((Field("step", "i8", 1), Field("x", "f8", 50), Field("c", "f8", 2, ragged=True)))
with ReelWriter(sys.argv[1], layout, chunk_size=16, blobs={"a": bytes(1000)}) as writer:
    for i in range(10**9):
        row = writer.next_row()
        row["step"] = i
        row["x"][:] = np.sin(i * np.arange(50))
        writer.ragged("c", np.full((i % 3, 2), i, float))
        writer.commit()
        if i % 100 == 0:
            writer.note(i)
        if i % 50 == 0:
            writer.flush()
            print(i, flush=True)
"""


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 50))])
def test_every_frame_of_a_whole_chunk_is_there_after_a_kill(tmp_path, script, seed):
    process = script(CODE, tmp_path / "a.reel")
    first = process.stdout.readline()
    time.sleep(random.Random(seed).random() * 0.3)
    os.kill(process.pid, signal.SIGKILL)
    flushed = int([first, *process.communicate()[0].split()][-1])
    with Reel.open(tmp_path / "a.reel") as reel:
        # What flush had returned for is there, and of the rest only the end is missing.
        assert len(reel) > flushed
        assert not reel.is_complete
        assert (reel.gaps, reel.damage) == ([], [])
        assert reel.field("step")[:][:, 0].tolist() == list(range(len(reel)))
        expected = np.array([np.sin(i * np.arange(50)) for i in range(len(reel))])
        assert reel.field("x")[:].tobytes() == expected.tobytes()
        assert all((items == i).all() and len(items) == i % 3 for i, items in enumerate(reel.field("c")[:]))
        assert [note.value for note in reel.notes][: flushed // 100] == list(range(0, flushed, 100))[: flushed // 100]
        assert reel.blobs["a"] == bytes(1000)
