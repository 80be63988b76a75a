"""What the recorder of trajectories is asked."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from simreel.options.file import FileOptions
from simreel.options.recorder import RecorderOptions

__all__ = ["TrajectoryFile"]


class TrajectoryFile(FileOptions):
    """Records the scene itself, to seek and to go on from any frame: `start_recording(TrajectoryFile("run.reel"))`."""

    suffixes = (".reel",)
    positional: ClassVar[tuple[str, ...]] = (
        "filename",
        "exact",
        "chunk_size",
        "max_size",
        "embed",
        "contacts",
        "watch_model",
        "fsync",
        "overwrite",
        "save_on_reset",
    )
    reads_scene: ClassVar[bool] = True

    exact: bool | None = None
    """Record all that the next step depends on, so that it goes on bit for bit from any frame; without it warm starts
    and delays are left out. None: exact for one world, compact for many."""

    chunk_size: int = Field(256, ge=1, le=65536)
    """Frames that are compressed together, at most."""

    max_size: int = Field(2**31, gt=0)
    """The most bytes that the file may have. The step that would pass it raises; what was written before is whole."""

    embed: Literal["both", "mjb", "xml", "none"] = "both"
    """What of the model goes into the file: its sources ("xml"), the compiled model ("mjb"), or both."""

    contacts: bool = False
    """Record contacts too: geoms, position, frame and force. One world only."""

    watch_model: Literal["chunk", "step"] = "chunk"
    """When to look for changes of the model that were made without `scene.edit_model()`: every `chunk_size` frames, or
    at each one."""

    fsync: float | Literal["chunk"] = 2.0
    """How often the file is brought to the disk [s], or "chunk": after each. Against loss of power; not needed for a
    kill."""

    @field_validator("fsync", mode="before")
    @classmethod
    def _check_fsync(cls, fsync: Any) -> Any:
        is_number = isinstance(fsync, float | int) and not isinstance(fsync, bool)
        if fsync != "chunk" and not (is_number and fsync > 0):
            raise ValueError('a number of seconds above 0, or "chunk", is needed')
        return fsync

    @model_validator(mode="after")
    def _check_queue(self) -> TrajectoryFile:
        for name, field in RecorderOptions.model_fields.items():
            if name != "hz" and getattr(self, name) != field.default:
                raise ValueError(f"{name}: a trajectory has no queue to set; its step waits where the disk is too slow")
        return self
