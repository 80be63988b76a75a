"""The single checks of the contract, with messages for the author of a recorder."""

from __future__ import annotations

import gc
import threading
import time
import tracemalloc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from simreel.recorders.status import RecorderStatus
    from simreel.testing.taping import Tape

__all__ = [
    "check_counts",
    "check_empty",
    "check_rows",
    "leaves",
    "memory_after",
    "new_folder",
    "noted",
    "threads_since",
    "tracing",
]

# A thread that was told to end needs a moment to be gone [s].
_THREAD_PATIENCE = 5.0


def check_rows(
    folder: Path, rows: Sequence[Any] | None, samples: Sequence[Any], what: str, *, by_world: bool = False
) -> None:
    """Asserts that what was read back is what was recorded.

    Args:
        folder: where it was read; named by the messages.
        rows: what was read, in order; None where there is nothing to read.
        samples: what was recorded, in order.
        what: what was recorded, for the messages.
        by_world: whether there may be one row for each world instead of one for each sample.
    """
    if rows is None:
        return
    found, wanted = [list(leaves(row)) for row in rows], [list(leaves(sample)) for sample in samples]
    unit = "values" if by_world else "samples"
    if by_world:
        found, wanted = [[value] for row in found for value in row], [[value] for row in wanted for value in row]
    hint = ": what is held back until more comes must be written in cleanup()" if len(found) < len(wanted) else ""
    assert len(found) == len(wanted), f"{what}: {len(wanted)} {unit} went in, {len(found)} came out of {folder}{hint}"
    for i, (row, sample) in enumerate(zip(found, wanted, strict=True)):
        assert row == sample, f"{what}: {unit[:-1]} {i} was {_short(sample)}, {_short(row)} came out of {folder}"


def leaves(value: Any) -> Iterator[Any]:
    """The numbers and texts of a sample: its keys sorted, its arrays in C order."""
    if isinstance(value, Mapping):
        for key in sorted(value, key=str):
            yield from leaves(value[key])
    elif isinstance(value, str):
        yield value
    else:
        yield from np.asarray(value).ravel().tolist()


def _short(values: Iterable[Any]) -> str:
    shown = ", ".join(map(repr, values))
    return shown if len(shown) <= 200 else f"{shown[:197]}..."


def new_folder(folder: Path) -> Path:
    """Makes the folder and returns it."""
    folder.mkdir()
    return folder


def check_counts(status: RecorderStatus, n: int, when: str) -> None:
    """Asserts that n samples were received and written, and nothing failed."""
    assert (status.received, status.written, status.dropped, status.queued) == (n, n, 0, 0), (
        f"{when}: {n} samples were to be received and written, the counts are {status}"
    )
    assert status.error is None, f"{when}: it failed: {status.error}"


def check_empty(folder: Path, when: str) -> None:
    """Asserts that the folder holds nothing."""
    files = sorted(path.name for path in folder.iterdir())
    assert not files, f"files are written {when}: {', '.join(files)}"


@contextmanager
def noted(rule: str) -> Iterator[None]:
    """Adds the rule that was broken to whatever is raised."""
    try:
        yield
    except Exception as error:
        error.add_note(rule)
        raise


@contextmanager
def tracing() -> Iterator[None]:
    """Traces what Python and numpy allocate, for the length of a `with` block."""
    was_tracing = tracemalloc.is_tracing()
    if not was_tracing:
        tracemalloc.start()
    try:
        yield
    finally:
        if not was_tracing:
            tracemalloc.stop()


def memory_after(tape: Tape, n: int) -> int:
    """Bytes in use after n more samples, all of them written or dropped."""
    for _ in range(n):
        tape.scene.step()
        tape.source.index += 1
    tape.recorder.sync()
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def threads_since(before: set[threading.Thread]) -> set[threading.Thread]:
    """The threads that were started since then and do not end."""
    deadline = time.monotonic() + _THREAD_PATIENCE
    while (left := set(threading.enumerate()) - before) and time.monotonic() < deadline:
        time.sleep(0.001)
    return left
