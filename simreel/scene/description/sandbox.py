"""Sources back on disk, in a folder that nothing in them can lead out of."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from simreel.errors import SceneFileError
from simreel.scene.description.references import HERE, LONGEST, escaped, is_outside, references

__all__ = ["is_safe", "unpacked"]

# A system's limit for one name in a folder.
_LONGEST_NAME = 255
# Folders that `..` can climb before it leaves the sandbox; more would make paths too long.
_DEEPEST = 500


@contextmanager
def unpacked(files: Mapping[str, bytes]) -> Iterator[Path]:
    """The folder that holds the files, for the length of a `with` block.

    Before anything is written, each name of a file, and each name in a file, is checked. Names may climb by `..`, as
    far as all of them together cannot leave the temporary folder: that many folders lie around the files.

    Args:
        files: content by name.

    Raises:
        SceneFileError: a name is absolute or leads outside.
    """
    for name in files:
        if not is_safe(name):
            raise SceneFileError(name, "this is no name of a file inside the scene")
    entities: dict[str, dict[str, bytes]] = {}
    for name, content in files.items():
        entities.setdefault(name.split("/")[1], {})[name] = content
    depth = max(map(_depth_needed, entities.values()), default=0)
    with tempfile.TemporaryDirectory(prefix="simreel-", ignore_cleanup_errors=True) as top:
        root = Path(top, *["d"] * depth)
        for name, content in files.items():
            path = root / name
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(_settled(content, root.joinpath(*name.split("/")[:2])))
            except OSError as error:
                raise SceneFileError(name, f"it cannot be unpacked ({error.strerror})") from None
        yield root


def is_safe(name: str) -> bool:
    """Whether it is the relative name of a file below `sources/x/`, on every system."""
    parts = name.split("/")
    try:
        longest = max(len(part.encode()) for part in parts)
    except UnicodeEncodeError:
        return False
    return (
        len(parts) >= 3
        and parts[0] == "sources"
        and len(name) <= LONGEST // 2
        and longest <= _LONGEST_NAME
        and not any(part in ("", ".", "..") for part in parts)
        and not any(mark in name for mark in "\\:\0")
    )


def _depth_needed(files: Mapping[str, bytes]) -> int:
    """How far the names in the files of an entity can climb together.

    A path is the folder of the model, a chain of included and attached models with their asset folders, and a file.
    """
    links, climbs = 1, 0
    for name, content in files.items():
        if content.startswith(b"PK"):
            raise SceneFileError(name, "archives are not read")
        links += content.count(b"include") + content.count(b"model")
        try:
            found = references(content)
        except ValueError as error:
            raise SceneFileError(name, str(error)) from None
        for reference in found:
            value = reference.value.removeprefix(HERE)
            if is_outside(value) or "\0" in value:
                raise SceneFileError(name, f"it names {reference.value!r}, which lies outside of the scene's files")
            climbs = max(climbs, value.split("/").count(".."))
    # Each link of the chain has a name and the name of a folder.
    depth = 2 * climbs * (links + 1)
    if depth > _DEEPEST:
        raise SceneFileError("sources", f"its files climb by '..' up to {depth} folders; {_DEEPEST} are allowed")
    return depth


def _settled(content: bytes, home: Path) -> bytes:
    """The file with its names that are counted from the folder of the sources made absolute."""
    for reference in reversed(references(content)):
        if reference.value.startswith(HERE):
            path = f"{home}/{reference.value.removeprefix(HERE)}"
            content = content[: reference.start] + escaped(path) + content[reference.stop :]
    return content
