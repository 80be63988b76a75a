"""For authors of recorders and engines: an engine to test with, samples of every kind, and the contract of a recorder.

`strategies` needs hypothesis and `RecorderContract` pytest (extra `testing`); each is loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simreel._lazy import lazy_names

if TYPE_CHECKING:
    from simreel.testing import strategies
    from simreel.testing.contract import RecorderContract
    from simreel.testing.fake_engine import FakeEngine

__all__ = ["FakeEngine", "RecorderContract", "strategies"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "FakeEngine": "simreel.testing.fake_engine",
        "RecorderContract": "simreel.testing.contract",
        "strategies": "simreel.testing.strategies",
    },
)
