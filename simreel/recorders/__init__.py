"""What happens to each sample: the recorders, their options, and what drives them.

The options classes are here under the same names as in `simreel.options.recorders`; each writer is imported when its
options are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simreel._lazy import lazy_names

if TYPE_CHECKING:
    from simreel.options.recorders import (
        CSVFile,
        FileOptions,
        MPLImagePlot,
        MPLLinePlot,
        MPLPlot,
        MPLVectorFieldPlot,
        NPZFile,
        PlotOptions,
        PyQtLinePlot,
        PyQtPlot,
        RecorderOptions,
        TrajectoryFile,
        VideoFile,
    )
    from simreel.recorders.base import Recorder
    from simreel.recorders.csvfile import CSVFileWriter
    from simreel.recorders.file import FileRecorder
    from simreel.recorders.manager import RecorderManager
    from simreel.recorders.npz import NPZFileWriter
    from simreel.recorders.plots.plotter import Plotter, Samples
    from simreel.recorders.plots.recorder import PlotRecorder
    from simreel.recorders.recovery import recover
    from simreel.recorders.registry import RecorderInfo, available, register_recording
    from simreel.recorders.schema import Column, Schema
    from simreel.recorders.status import RecorderStatus
    from simreel.recorders.timing import Timing
    from simreel.recorders.trajectory import TrajectoryFileWriter
    from simreel.recorders.video import VideoFileWriter

__all__ = [
    "CSVFile",
    "CSVFileWriter",
    "Column",
    "FileOptions",
    "FileRecorder",
    "MPLImagePlot",
    "MPLLinePlot",
    "MPLPlot",
    "MPLVectorFieldPlot",
    "NPZFile",
    "NPZFileWriter",
    "PlotOptions",
    "PlotRecorder",
    "Plotter",
    "PyQtLinePlot",
    "PyQtPlot",
    "Recorder",
    "RecorderInfo",
    "RecorderManager",
    "RecorderOptions",
    "RecorderStatus",
    "Samples",
    "Schema",
    "Timing",
    "TrajectoryFile",
    "TrajectoryFileWriter",
    "VideoFile",
    "VideoFileWriter",
    "available",
    "recover",
    "register_recording",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "CSVFile": "simreel.options.recorders",
        "CSVFileWriter": "simreel.recorders.csvfile",
        "Column": "simreel.recorders.schema",
        "FileOptions": "simreel.options.recorders",
        "FileRecorder": "simreel.recorders.file",
        "MPLImagePlot": "simreel.options.recorders",
        "MPLLinePlot": "simreel.options.recorders",
        "MPLPlot": "simreel.options.recorders",
        "MPLVectorFieldPlot": "simreel.options.recorders",
        "NPZFile": "simreel.options.recorders",
        "NPZFileWriter": "simreel.recorders.npz",
        "PlotOptions": "simreel.options.recorders",
        "PlotRecorder": "simreel.recorders.plots.recorder",
        "Plotter": "simreel.recorders.plots.plotter",
        "PyQtLinePlot": "simreel.options.recorders",
        "PyQtPlot": "simreel.options.recorders",
        "Recorder": "simreel.recorders.base",
        "RecorderInfo": "simreel.recorders.registry",
        "RecorderManager": "simreel.recorders.manager",
        "RecorderOptions": "simreel.options.recorders",
        "RecorderStatus": "simreel.recorders.status",
        "Samples": "simreel.recorders.plots.plotter",
        "Schema": "simreel.recorders.schema",
        "Timing": "simreel.recorders.timing",
        "TrajectoryFile": "simreel.options.recorders",
        "TrajectoryFileWriter": "simreel.recorders.trajectory",
        "VideoFile": "simreel.options.recorders",
        "VideoFileWriter": "simreel.recorders.video",
        "available": "simreel.recorders.registry",
        "recover": "simreel.recorders.recovery",
        "register_recording": "simreel.recorders.registry",
    },
)
