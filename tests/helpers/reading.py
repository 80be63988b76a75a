"""What a recording left, for tests of any part: `from reading import load`."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["comment", "load", "names", "same_bits"]


def names(folder: Path) -> list[str]:
    """The names in a folder, sorted."""
    return sorted(path.name for path in folder.iterdir())


def load(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of an archive."""
    with np.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def comment(path: Path) -> dict[str, Any]:
    """What an archive, whose checksums are right, tells of itself."""
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return json.loads(archive.comment)


def same_bits(a: Any, b: Any) -> bool:
    """Whether two arrays have the same dtype, shape and bytes: nan is nan, and 0 is not -0."""
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
