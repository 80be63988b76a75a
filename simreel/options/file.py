"""What every recorder that writes files is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import AfterValidator, model_validator

from simreel.options.recorder import RecorderOptions

__all__ = ["FileOptions"]


def _no_nul(path: Path) -> Path:
    if "\0" in str(path):
        raise ValueError("a file name without NUL characters is needed")
    return path


class FileOptions(RecorderOptions):
    """What every recorder that writes files has."""

    suffixes: ClassVar[tuple[str, ...]] = ()
    positional: ClassVar[tuple[str, ...]] = ("filename",)

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
