"""The codec for files that are kept: slow to write, as fast to read."""

from __future__ import annotations

from simreel.reel.codec.phys1 import Phys1

__all__ = ["Archive"]


class Archive(Phys1):
    """As `phys1`, with the strongest compression that is worth its time."""

    name = "archive"
    level = 19
