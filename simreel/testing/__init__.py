"""For authors of recorders and engines: an engine to test with, samples of every kind, and the contract of a recorder.

`strategies` needs hypothesis and `RecorderContract` pytest (extra `testing`); each is loaded on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from simreel.errors import nearest

if TYPE_CHECKING:
    from simreel.testing import strategies
    from simreel.testing.contract import RecorderContract
    from simreel.testing.fake_engine import FakeEngine

__all__ = ["FakeEngine", "RecorderContract", "strategies"]

# Each name and the module that holds it; one that is None there is the module itself.
_HOMES: dict[str, tuple[str, str | None]] = {
    "FakeEngine": ("simreel.testing.fake_engine", "FakeEngine"),
    "RecorderContract": ("simreel.testing.contract", "RecorderContract"),
    "strategies": ("simreel.testing.strategies", None),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}.{nearest(name, __all__)}")
    home, attribute = _HOMES[name]
    module = importlib.import_module(home)
    value = module if attribute is None else getattr(module, attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
