"""Records physics simulations to files that survive a crash.

Each name is loaded on first use: `import simreel` alone loads neither numpy nor pydantic.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from simreel._version import __version__

if TYPE_CHECKING:
    from simreel import errors, gym, models, options, recorders, scene, testing
    from simreel.errors import SimreelWarning
    from simreel.options import SimOptions, morphs
    from simreel.recorders import Recorder, RecorderManager, register_recording
    from simreel.scene import Scene

__all__ = [
    "Recorder",
    "RecorderManager",
    "Scene",
    "SimOptions",
    "SimreelWarning",
    "__version__",
    "errors",
    "gym",
    "models",
    "morphs",
    "options",
    "recorders",
    "register_recording",
    "scene",
    "testing",
]

# Each public name and the module that holds it; a name that is None there is the module itself.
_HOMES: dict[str, tuple[str, str | None]] = {
    "Recorder": ("simreel.recorders", "Recorder"),
    "RecorderManager": ("simreel.recorders", "RecorderManager"),
    "Scene": ("simreel.scene", "Scene"),
    "SimOptions": ("simreel.options", "SimOptions"),
    "SimreelWarning": ("simreel.errors", "SimreelWarning"),
    "errors": ("simreel.errors", None),
    "gym": ("simreel.gym", None),
    "models": ("simreel.models", None),
    "morphs": ("simreel.options.morphs", None),
    "options": ("simreel.options", None),
    "recorders": ("simreel.recorders", None),
    "register_recording": ("simreel.recorders", "register_recording"),
    "scene": ("simreel.scene", None),
    "testing": ("simreel.testing", None),
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        text = f"module 'simreel' has no attribute {name!r}."
        # Tools probe for names such as __path__ and __wrapped__: nothing is loaded for those.
        if not name.startswith("_"):
            from simreel.errors import nearest

            text += nearest(name, _HOMES)
        raise AttributeError(text, name=name)
    home, attribute = _HOMES[name]
    value: object = importlib.import_module(home)
    if attribute is not None:
        value = getattr(value, attribute)
    globals()[name] = value  # found without this function from now on
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
