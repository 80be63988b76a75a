"""An open reel that holds a trajectory, and what its head says of it; checked, since files come from anywhere."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simreel.errors import FileVersionError, NotATrajectoryError
from simreel.reel import Reel
from simreel.reel.record import version_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simreel.reel import Field

__all__ = ["Channel", "Recording", "open_recording", "refusal"]

_KINDS = ("trajectory", "checkpoint")
_VERSION = 1
_PREFIX = "channel/"


@dataclass(frozen=True)
class Channel:
    """A quantity that was recorded with each frame."""

    name: str
    shape: tuple[int, ...]
    unit: str
    columns: tuple[str, ...]
    """Names of its values; empty where they have none."""


@dataclass(frozen=True)
class Recording:
    """A trajectory as it lies in its file."""

    reel: Reel
    kind: str
    """ "trajectory" or "checkpoint"."""
    is_exact: bool
    n_envs: int
    stride: int
    """Steps from one frame to the next."""
    sleeps: bool
    """Whether the model may put bodies to sleep, which its state does not tell."""
    channels: dict[str, Channel]

    def shape(self, field: Field) -> tuple[int, ...]:
        """The shape of the values of a frame."""
        if field.ragged:
            return ()
        if field.kind == "channel":
            return self.channels[field.name.removeprefix(_PREFIX)].shape
        return (self.n_envs, field.width // self.n_envs) if self.n_envs else (field.width,)


def open_recording(path: str | os.PathLike[str]) -> Recording:
    """Opens a trajectory or a checkpoint; reads its head and index only.

    Raises:
        MissingFileError: there is no such file.
        ReadError: the system does not give it.
        DamagedFileError: it is no reel, or nothing of it can be read.
        FileVersionError: it needs another release of simreel.
        NotATrajectoryError: it is a reel of something else.
    """
    reel = Reel.open(path)
    try:
        return _read(reel)
    except BaseException:
        reel.close()
        raise


def _read(reel: Reel) -> Recording:
    meta = reel.meta
    kind, version = meta.get("kind"), meta.get("version")
    if kind not in _KINDS:
        raise refusal(reel, _what(kind))
    if type(version) is not int or version != _VERSION:
        found, readable = f"trajectory version {version}", f"version {_VERSION}"
        raise FileVersionError(reel.path, found, readable, reel.head.writer)
    exact, n_envs, stride, sleeps = (meta.get(key) for key in ("exact", "n_envs", "stride", "sleep"))
    if not isinstance(exact, bool) or not isinstance(sleeps, bool):
        raise refusal(reel, "its head does not describe one")
    if type(n_envs) is not int or type(stride) is not int or n_envs < 0 or stride < 1:
        raise refusal(reel, f"its head tells of {n_envs!r} worlds and of a frame each {stride!r} steps")
    counters = {field.name: field for field in reel.layout.fields if field.dtype == "i8" and not field.ragged}
    for name in ("step", "episode"):
        if name not in counters or counters[name].width != max(1, n_envs):
            raise refusal(reel, f"it has no field {name!r} of {max(1, n_envs)} int64")
    for field in reel.layout.fields:
        if n_envs and field.kind != "channel" and not field.ragged and field.width % n_envs:
            raise refusal(reel, f"field {field.name!r} of width {field.width} does not divide by {n_envs} worlds")
    return Recording(reel, str(kind), exact, n_envs, stride, sleeps, _channels(reel))


def _what(kind: object) -> str:
    return "it holds a scene, which Scene.load reads" if kind == "scene" else "it is a reel of something else"


def refusal(reel: Reel, found: str) -> NotATrajectoryError:
    """The error that says why a reel is no trajectory."""
    return NotATrajectoryError(reel.path, version_text(reel.head.version), len(reel), found)


def _channels(reel: Reel) -> dict[str, Channel]:
    described: dict[str, Mapping[str, Any]] = {}
    listed = reel.meta.get("channels")
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            described[entry["name"]] = entry
    channels = {}
    for field in reel.layout.fields:
        if field.kind == "channel" and field.name.startswith(_PREFIX):
            name = field.name.removeprefix(_PREFIX)
            entry = described.get(name, {})
            shape, columns = entry.get("shape"), entry.get("columns")
            fits = isinstance(shape, list) and all(type(size) is int and size >= 0 for size in shape)
            if not fits or math.prod(shape or ()) != field.width:
                shape = [field.width]
            if not isinstance(columns, list) or not all(isinstance(column, str) for column in columns):
                columns = []
            channels[name] = Channel(name, tuple(shape or ()), field.unit, tuple(columns))
    return channels
