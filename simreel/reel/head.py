"""HEAD: what a reel holds, as JSON."""

from __future__ import annotations

import math
import platform
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np

from simreel._version import __version__
from simreel.errors import FieldError
from simreel.reel.layout import Layout
from simreel.reel.limits import MAX_CHUNK_SIZE, MAX_FIELDS, MAX_FRAME_BYTES
from simreel.reel.record import VERSION
from simreel.reel.text import dump_json

__all__ = ["WRITER", "Head"]

WRITER = f"simreel {__version__}"


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _environment() -> dict[str, str]:
    system = f"{platform.system()} {platform.machine()}"
    return {"python": platform.python_version(), "numpy": np.__version__, "system": system}


@dataclass(frozen=True)
class Head:
    """What a reader needs to know of the frames, and who made them."""

    layout: Layout
    dt: float
    """Between two steps [s]."""
    chunk_size: int
    """The most frames in a chunk."""
    codec: str
    contract: int
    """The version of what the codec's bytes stand for."""
    meta: dict[str, Any] = field(default_factory=dict)
    """JSON of the user's."""
    version: tuple[int, int] = VERSION
    """Of the format."""
    writer: str = WRITER
    created: str = field(default_factory=_now)
    """The time in UTC."""
    environment: dict[str, str] = field(default_factory=_environment)

    def __post_init__(self) -> None:
        """Checks the values.

        Raises:
            FieldError: a value is not allowed.
        """
        if type(self.dt) is not float or not 0 < self.dt < math.inf:
            raise FieldError("dt", f"{self.dt!r}", "a finite number above 0 is needed [s]")
        if type(self.chunk_size) is not int or not 1 <= self.chunk_size <= MAX_CHUNK_SIZE:
            raise FieldError("chunk_size", f"{self.chunk_size!r}", f"1 to {MAX_CHUNK_SIZE} frames are allowed")
        if len(self.layout.fields) > MAX_FIELDS:
            raise FieldError("layout", f"{len(self.layout.fields)} fields", f"at most {MAX_FIELDS} are allowed")
        if self.layout.row_bytes > MAX_FRAME_BYTES:
            found, allowed = f"rows of {self.layout.row_bytes} bytes", f"at most {MAX_FRAME_BYTES} are allowed"
            raise FieldError("layout", found, allowed)

    @property
    def streams(self) -> int:
        """Streams of a chunk: one for each field, two for a ragged one."""
        return sum(1 + field.ragged for field in self.layout.fields)

    def to_bytes(self) -> bytes:
        """The body of the record.

        Raises:
            FieldError: `meta` is not JSON, or all of it is too large.
        """
        values = {
            "format": list(self.version),
            "writer": self.writer,
            "created": self.created,
            "dt": self.dt,
            "chunk_size": self.chunk_size,
            "codec": {"name": self.codec, "contract": self.contract},
            "layout": self.layout.to_json(),
            "environment": self.environment,
            "meta": self.meta,
        }
        return dump_json(values, "meta and layout")

    @classmethod
    def from_json(cls, values: Any) -> Head:
        """The head that a body holds, whose version was found to be readable.

        Raises:
            ValueError: a value is missing, of a wrong type or not allowed.
        """
        codec = _entry(values, "codec", dict)
        dt = _entry(values, "dt", float, int)
        return cls(
            layout=Layout.from_json(_entry(values, "layout", dict)),
            # An integer may be larger than any float.
            dt=float(dt) if abs(dt) < 1e300 else math.inf,
            chunk_size=_entry(values, "chunk_size", int),
            codec=_entry(codec, "name", str),
            contract=_entry(codec, "contract", int),
            meta=_entry(values, "meta", dict),
            version=cls.version_of(values),
            writer=_entry(values, "writer", str),
            created=_entry(values, "created", str),
            environment=_entry(values, "environment", dict),
        )

    @staticmethod
    def version_of(values: Any) -> tuple[int, int]:
        """The version of the format, which stands in the same place in all versions.

        Raises:
            ValueError: it does not.
        """
        version = _entry(values, "format", list)
        if len(version) != 2 or any(type(number) is not int for number in version):
            raise ValueError(f"HEAD with the format version {version!r}")
        return version[0], version[1]


def _entry(values: Any, key: str, *kinds: type) -> Any:
    value = values.get(key) if isinstance(values, dict) else None
    if type(value) not in kinds:
        raise ValueError(f"HEAD with {key!r} of type {type(value).__name__}, {kinds[0].__name__} is needed")
    return value
