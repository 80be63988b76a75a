"""What each recorder is asked to do."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Rational
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from simreel.errors import nearest
from simreel.options.file import FileOptions
from simreel.options.plots import (
    MPLImagePlot,
    MPLLinePlot,
    MPLPlot,
    MPLVectorFieldPlot,
    PlotOptions,
    PyQtLinePlot,
    PyQtPlot,
)
from simreel.options.recorder import RecorderOptions
from simreel.options.trajectory import TrajectoryFile

__all__ = [
    "CSVFile",
    "FileOptions",
    "MPLImagePlot",
    "MPLLinePlot",
    "MPLPlot",
    "MPLVectorFieldPlot",
    "NPZFile",
    "PlotOptions",
    "PyQtLinePlot",
    "PyQtPlot",
    "RecorderOptions",
    "TrajectoryFile",
    "VideoFile",
]

# Beyond it, players slow a gif down to a tenth of a second a frame.
_MAX_GIF_FPS = 50


class NPZFile(FileOptions):
    """Records to a NumPy archive: `timestamp`, `step`, `episode`, and `data` or one array per key."""

    suffixes = (".npz",)

    positional: ClassVar[tuple[str, ...]] = ("filename", "compression", "overwrite", "save_on_reset")

    compression: Literal["none", "deflate"] = "none"
    """Whether the members of the archive are compressed when it is closed: 25 times slower for a few per cent."""


class CSVFile(FileOptions):
    """Records to a CSV file that can be followed while it grows."""

    suffixes = (".csv",)

    positional: ClassVar[tuple[str, ...]] = ("filename", "header", "save_every_write", "overwrite", "save_on_reset")

    header: tuple[str, ...] | None = None
    """Names of the value columns. None: the keys, with indices for arrays."""

    save_every_write: bool = False
    """Hand each row to the system at once; otherwise rows reach it within 50 ms."""


def _as_text(values: Any) -> Any:
    if not isinstance(values, Mapping):
        return values
    return {k: str(v) if isinstance(v, int | float) and not isinstance(v, bool) else v for k, v in values.items()}


def _as_float(value: Any) -> Any:
    return float(value) if isinstance(value, Rational) else value


class VideoFile(FileOptions):
    """Records frames to a video that plays after a kill: .mp4, .mkv, .webm or .gif."""

    suffixes = (".mp4", ".mkv", ".webm", ".gif")

    positional: ClassVar[tuple[str, ...]] = (
        "filename",
        "fps",
        "name",
        "codec",
        "bitrate",
        "crf",
        "codec_options",
        "scale",
        "worlds",
        "overwrite",
        "save_on_reset",
    )

    buffer_size: int = Field(8, ge=0)
    """Frames that may wait to be encoded; 0 sets no bound but `buffer_bytes`."""

    fps: Annotated[float, BeforeValidator(_as_float), Field(gt=0)] | None = None
    """Frames a second of the video; 29.97 is 30000/1001. None: the exact rate of the samples, so that it plays in real
    time."""

    name: str = ""
    """The title in the file. Empty: the stem of its name."""

    codec: str = ""
    """The encoder, by FFmpeg's name for it. Empty: libx264 for .mp4 and .mkv, libvpx-vp9 for .webm, gif for .gif."""

    bitrate: Annotated[float, Field(gt=0)] | None = None
    """At most so much on average [Mbit/s]; easy pictures take less. None: 1.0, unless `crf` is given."""

    crf: Annotated[float, Field(ge=0, le=63)] | None = None
    """Quality in place of a rate, for codecs that have it; smaller is better, 18 looks like the source with libx264."""

    codec_options: Annotated[dict[str, str], BeforeValidator(_as_text)] = Field(default_factory=dict)
    """Options of the encoder by FFmpeg's names, such as `{"preset": "slow"}`; `pix_fmt` is one of them."""

    scale: bool = False
    """Take floats from 0 to 1; a value outside is an error."""

    worlds: tuple[Annotated[int, Field(ge=0)], ...] | None = None
    """Worlds to record, each to a file of its own, such as `name_w3.mp4`. None: the data is one picture."""

    @field_validator("codec")
    @classmethod
    def _check_codec(cls, codec: str) -> str:
        if codec:
            import av

            try:
                av.codec.Codec(codec, "w")
            except ValueError:
                encoders = [name for name in sorted(av.codecs_available) if _is_video_encoder(name)]
                raise ValueError(f"an encoder that is there is needed.{nearest(codec, encoders)}") from None
            if not _is_video_encoder(codec):
                raise ValueError("an encoder of video is needed")
        return codec

    @field_validator("worlds")
    @classmethod
    def _check_worlds(cls, worlds: tuple[int, ...] | None) -> tuple[int, ...] | None:
        if worlds is not None and len(set(worlds)) < max(1, len(worlds)):
            raise ValueError("at least one world, and each once, is needed")
        return worlds

    @model_validator(mode="after")
    def _check_rates(self) -> VideoFile:
        if self.crf is not None and self.bitrate is not None:
            raise ValueError(f"crf = {self.crf:g} and bitrate = {self.bitrate:g}: give one of them")
        if self.filename.suffix.lower() == ".gif":
            for name in ("bitrate", "crf", "codec_options"):
                if getattr(self, name):
                    raise ValueError(f"{name}: a .gif has none; record .mp4, or leave it out")
            if self.codec not in {"", "gif"}:
                raise ValueError(f"codec = {self.codec!r}: a .gif has the codec gif; record .mp4, or leave it out")
            if self.fps is not None and self.fps > _MAX_GIF_FPS:
                raise ValueError(f"fps = {self.fps:g}: a .gif shows at most {_MAX_GIF_FPS} frames a second")
        return self


def _is_video_encoder(name: str) -> bool:
    import av

    try:
        return av.codec.Codec(name, "w").type == "video"
    except ValueError:
        return False
