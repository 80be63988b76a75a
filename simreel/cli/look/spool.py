"""What the spool of a recording that has not ended holds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from simreel.cli.console import printable, table
from simreel.cli.look.times import Times
from simreel.errors import DamagedFileError
from simreel.recorders.spool import SpoolReader
from simreel.recorders.target import is_being_written

__all__ = ["describe_spool"]


def describe_spool(file: str) -> list[str]:
    """Lines that tell what a spool holds.

    Raises:
        DamagedFileError: the file is no spool, or its head is lost.
    """
    from simreel.recorders.base import format_bytes

    is_running = is_being_written(Path(file))
    with SpoolReader(Path(file)) as spool:
        return [
            f"{file}: spool, {format_bytes(os.path.getsize(file))}",
            "a running process writes it" if is_running else f"its run was cut off: simreel recover {file}",
            _times(spool).text(),
            *_losses(spool),
            *table([(printable(c.name), str(np.dtype(c.dtype)), str(c.shape)) for c in spool.columns], indent="  "),
        ]


def _times(spool: SpoolReader) -> Times:
    times = Times()
    dt = spool.head.get("dt", 0.0)
    if not isinstance(dt, float):
        raise DamagedFileError(spool.path, 0, f"the head has no time of a step (dt is {dt!r})")
    for record in spool.records:
        steps = record.first + np.arange(record.rows, dtype=np.int64) * record.stride
        times.add_times(steps * dt)
        times.add_episodes(np.array([record.episode]))
    return times


def _losses(spool: SpoolReader) -> Iterator[str]:
    if spool.lost_rows or spool.lost_bytes:
        yield f"damaged: {spool.lost_rows} rows and {spool.lost_bytes} bytes cannot be read"
