"""What happens to each sample: the recorders, their options, and what drives them.

The options classes are here under the same names as in `simreel.options.recorders`; each writer is imported when its
options are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from simreel.errors import nearest

if TYPE_CHECKING:
    from simreel.options.recorders import CSVFile, FileOptions, NPZFile, RecorderOptions, VideoFile
    from simreel.recorders.base import Recorder
    from simreel.recorders.csvfile import CSVFileWriter
    from simreel.recorders.file import FileRecorder
    from simreel.recorders.manager import RecorderManager
    from simreel.recorders.npz import NPZFileWriter
    from simreel.recorders.recovery import recover
    from simreel.recorders.registry import RecorderInfo, available, register_recording
    from simreel.recorders.schema import Column, Schema
    from simreel.recorders.status import RecorderStatus
    from simreel.recorders.timing import Timing
    from simreel.recorders.video import VideoFileWriter

__all__ = [
    "CSVFile",
    "CSVFileWriter",
    "Column",
    "FileOptions",
    "FileRecorder",
    "NPZFile",
    "NPZFileWriter",
    "Recorder",
    "RecorderInfo",
    "RecorderManager",
    "RecorderOptions",
    "RecorderStatus",
    "Schema",
    "Timing",
    "VideoFile",
    "VideoFileWriter",
    "available",
    "recover",
    "register_recording",
]

_HOME = {
    "CSVFile": "simreel.options.recorders",
    "CSVFileWriter": "simreel.recorders.csvfile",
    "Column": "simreel.recorders.schema",
    "FileOptions": "simreel.options.recorders",
    "FileRecorder": "simreel.recorders.file",
    "NPZFile": "simreel.options.recorders",
    "NPZFileWriter": "simreel.recorders.npz",
    "Recorder": "simreel.recorders.base",
    "RecorderInfo": "simreel.recorders.registry",
    "RecorderManager": "simreel.recorders.manager",
    "RecorderOptions": "simreel.options.recorders",
    "RecorderStatus": "simreel.recorders.status",
    "Schema": "simreel.recorders.schema",
    "Timing": "simreel.recorders.timing",
    "VideoFile": "simreel.options.recorders",
    "VideoFileWriter": "simreel.recorders.video",
    "available": "simreel.recorders.registry",
    "recover": "simreel.recorders.recovery",
    "register_recording": "simreel.recorders.registry",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}.{nearest(name, __all__)}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
