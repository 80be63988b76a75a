"""The payloads of a file that hold its scene."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from simreel.errors import SceneFileError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Described", "payload", "payloads"]


class Described(Protocol):
    """What holds a scene: a `simreel.reel.Reel`, or what `describe_scene` gives."""

    @property
    def meta(self) -> Mapping[str, Any]:
        """What the head of the file says."""

    @property
    def blobs(self) -> Mapping[str, bytes]:
        """Payloads by name."""


def payload(blobs: Mapping[str, bytes], name: str, most: int) -> bytes:
    """A payload, which is read only where it has at most so many bytes.

    Raises:
        SceneFileError: there is none of that name, or it is larger.
        DamagedFileError: its content is damaged.
    """
    if name not in blobs:
        raise SceneFileError(name, "the file does not hold it")
    size = _size(blobs, name)
    if size > most:
        raise SceneFileError(name, f"{size} bytes; at most {most} are allowed")
    return blobs[name]


def payloads(blobs: Mapping[str, bytes], names: Iterable[str], most: int) -> dict[str, bytes]:
    """Several payloads, which are read only where they have at most so many bytes together; equal ones are one.

    Raises:
        SceneFileError: they are larger.
        DamagedFileError: a content is damaged.
    """
    names = list(names)
    total = sum(_size(blobs, name) for name in names)
    if total > most:
        raise SceneFileError("sources", f"{total} bytes; at most {most} are allowed")
    info = getattr(blobs, "info", None)
    contents: dict[str, bytes] = {}
    found = {}
    for name in names:
        key = name if info is None else info(name).sha256
        if key not in contents:
            contents[key] = blobs[name]
        found[name] = contents[key]
    return found


def _size(blobs: Mapping[str, bytes], name: str) -> int:
    info = getattr(blobs, "info", None)
    return info(name).size if info is not None else len(blobs[name])
