"""Records physics simulations to files that survive a crash.

Each name is loaded on first use: `import simreel` alone loads neither numpy nor pydantic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simreel._lazy import lazy_names

if TYPE_CHECKING:
    from simreel import errors, gym, models, options, recorders, reel, scene, testing
    from simreel._version import __version__
    from simreel.errors import SimreelWarning
    from simreel.options import SimOptions, morphs
    from simreel.recorders import Recorder, RecorderManager, register_recording
    from simreel.replay import Trajectory
    from simreel.scene import Scene

__all__ = [
    "Recorder",
    "RecorderManager",
    "Scene",
    "SimOptions",
    "SimreelWarning",
    "Trajectory",
    "__version__",
    "errors",
    "gym",
    "models",
    "morphs",
    "options",
    "recorders",
    "reel",
    "register_recording",
    "scene",
    "testing",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Recorder": "simreel.recorders",
        "RecorderManager": "simreel.recorders",
        "Scene": "simreel.scene",
        "SimOptions": "simreel.options",
        "SimreelWarning": "simreel.errors",
        "Trajectory": "simreel.replay",
        "__version__": "simreel._version",
        "errors": "simreel.errors",
        "gym": "simreel.gym",
        "models": "simreel.models",
        "morphs": "simreel.options.morphs",
        "options": "simreel.options",
        "recorders": "simreel.recorders",
        "reel": "simreel.reel",
        "register_recording": "simreel.recorders",
        "scene": "simreel.scene",
        "testing": "simreel.testing",
    },
)
