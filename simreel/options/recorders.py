"""What each recorder is asked to do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from simreel.options.base import Options

__all__ = ["CSVFile", "FileOptions", "NPZFile", "RecorderOptions"]


def _no_nul(path: Path) -> Path:
    if "\0" in str(path):
        raise ValueError("a file name without NUL characters is needed")
    return path


class RecorderOptions(Options):
    """What every recorder has: its rate and its queue."""

    hz: Annotated[float, Field(gt=0)] | None = None
    """Samples per simulated second [Hz]; the nearest rate that divides the steps evenly is taken. None: every step."""

    buffer_size: int = Field(0, ge=0)
    """Samples that may wait to be written; 0 sets no bound but `buffer_bytes`."""

    buffer_bytes: int = Field(32 * 2**20, gt=0)
    """Bytes of samples that may wait to be written."""

    buffer_full_wait_time: float = Field(0.1, ge=0)
    """How long a step waits for room in a full queue before `when_full` applies [s]."""

    when_full: Literal["block", "drop_oldest", "raise"] = "block"
    """What a queue does that stays full: make the step wait, drop the oldest samples and count them, or raise."""


class FileOptions(RecorderOptions):
    """What every recorder that writes files has."""

    suffixes: ClassVar[tuple[str, ...]] = ()
    positional = ("filename",)

    filename: Annotated[Path, AfterValidator(_no_nul)]
    """The file to write; missing folders are made."""

    overwrite: bool = False
    """Replace a file of that name. Without it, one that exists is an error."""

    save_on_reset: bool = False
    """Write a file for each episode: `name_0000.ext`, `name_0001.ext`, ..."""

    @model_validator(mode="after")
    def _check_suffix(self) -> FileOptions:
        if self.suffixes and self.filename.suffix.lower() not in self.suffixes:
            allowed = " or ".join(self.suffixes)
            raise ValueError(f"filename = {str(self.filename)!r}: a name that ends in {allowed} is needed")
        return self


class NPZFile(FileOptions):
    """Records to a NumPy archive: `timestamp`, `step`, `episode`, and `data` or one array per key."""

    suffixes = (".npz",)

    compression: Literal["none", "deflate"] = "none"
    """Whether the members of the archive are compressed when it is closed: 25 times slower for a few per cent."""


class CSVFile(FileOptions):
    """Records to a CSV file that can be followed while it grows."""

    suffixes = (".csv",)

    header: tuple[str, ...] | None = None
    """Names of the value columns. None: the keys, with indices for arrays."""

    save_every_write: bool = False
    """Hand each row to the system at once; otherwise rows reach it within 50 ms."""
