"""The files that a model was made of: XML, what that includes, and assets, under names without the user's paths.

`mujoco.mju_getXMLDependencies` is not used: it knows no URDF, and looks for assets of included files elsewhere than the
compiler does. Instead every place is tried in which a name could lie; a file too many is harmless.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from simreel.scene.description.references import HERE, escaped, is_outside, references
from simreel.scene.description.sandbox import is_safe

if TYPE_CHECKING:
    import mujoco

    from simreel.options.morphs import ModelFile
    from simreel.scene.description.references import Reference

__all__ = ["MAX_FILES", "MAX_TOTAL", "Sources", "collect", "file_name"]

MAX_TOTAL = 2**29
"""The most bytes of the sources of a scene."""

MAX_FILES = 20_000

# What a compiled model does not name: sides of cubes, and shapes of flexes. Other files, which a comment could name,
# are not taken.
_LOOSE = {".png", ".ktx", ".obj", ".stl", ".msh", ".gmsh"}

# A folder above the model has a name that the user may not want to show, and that nothing depends on.
_ABOVE = "_"


@dataclass(frozen=True)
class Sources:
    """The files of one entity."""

    main: str
    """Name of the model file among them."""
    files: dict[str, bytes]
    """Content by name; the names are relative and have slashes."""
    paths: frozenset[str]
    """Absolute paths of these files."""
    problem: str = ""
    """Why they are not there; empty where they are."""


def collect(
    morph: ModelFile, spec: mujoco.MjSpec, assets: Collection[str], folder: str, loaded_ns: int | None = None
) -> Sources:
    """Reads the files that an entity was loaded from.

    Args:
        morph: the entity.
        spec: what was loaded of it, which knows the folder of its file.
        assets: absolute paths that the compiler has read; of several places for a name, these are right.
        folder: what the names start with, such as "sources/0".
        loaded_ns: when it was loaded [ns of the system's clock]; a file that was changed later is not what it was.
    """
    name = file_name(morph)
    search = _Search(os.path.abspath(spec.modelfiledir), frozenset(assets), loaded_ns)
    if "<" in morph.file:
        search.add((0, name), morph.file.encode())
    else:
        search.look((0, name))
        if (0, name) not in search.files:
            search.problem = f"{name} is not there any more"
    search.run()
    return search.sources((0, name), folder)


def file_name(morph: ModelFile) -> str:
    """The name of its file, without folders; one of our own for text."""
    if "<" in morph.file:
        return "model.urdf" if morph.root_tag == "robot" else "model.xml"
    return os.path.basename(morph.file)


Place = tuple[int, str]
"""The number of an anchor, and a path from there, normal and with slashes."""


@dataclass
class _Search:
    folder: str
    assets: frozenset[str]
    loaded_ns: int | None = None
    problem: str = ""
    files: dict[Place, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # The folder of the model, and those that the XML names by absolute paths.
        self._anchors = [self.folder]
        self._texts: dict[Place, list[Reference]] = {}
        self._dirs: dict[Place, None] = {}
        self._tried: set[Place] = set()
        self._followed: dict[tuple[Place, int], int] = {}
        self._total = 0

    def run(self) -> None:
        """Follows all names until nothing new is found."""
        known = (-1, -1)
        while known != (known := (len(self.files), len(self._dirs))) and not self.problem:
            for place, found in list(self._texts.items()):
                for reference in found:
                    # Where else it could lie has not changed since.
                    key, folders = (place, reference.start), len(self._texts) + len(self._dirs)
                    if self._followed.get(key) != folders:
                        self._followed[key] = folders
                        self._follow(place, reference)

    def _follow(self, place: Place, reference: Reference) -> None:
        value = reference.value
        home = (place[0], os.path.dirname(place[1]))
        if (is_outside(value) and not os.path.isabs(value)) or value.startswith(HERE):
            self.problem = f"{place[1]} names {value!r}"
            return
        if is_outside(value):
            name = "" if reference.is_folder else os.path.basename(value)
            anchor = self._anchor(value if reference.is_folder else os.path.dirname(value))
            if reference.is_folder:
                self._dirs[anchor, ""] = None
            else:
                self.look((anchor, name))
            return
        homes = dict.fromkeys([home, *((anchor, os.path.dirname(path)) for anchor, path in self._texts)])
        if reference.is_folder:
            self._dirs |= {_join(each, value): None for each in homes}
            return
        # The name alone, since models may strip the rest.
        places = [_join(base, name) for base in (*homes, *self._dirs) for name in (value, os.path.basename(value))]
        right = [place for place in places if self._path(place) in self.assets]
        for each in right or places:
            self.look(each)

    def _anchor(self, folder: str) -> int:
        folder = os.path.normpath(folder)
        if folder not in self._anchors:
            self._anchors.append(folder)
        return self._anchors.index(folder)

    def look(self, place: Place) -> None:
        """Takes the file that is there, if one is."""
        if place in self._tried or self.problem:
            return
        self._tried.add(place)
        path = self._path(place)
        if os.path.isfile(path):
            try:
                if self._total + os.path.getsize(path) > MAX_TOTAL or len(self.files) >= MAX_FILES:
                    self.problem = f"more than {MAX_TOTAL} bytes or {MAX_FILES} files"
                    return
                changed_ns = os.stat(path).st_mtime_ns
                content = Path(path).read_bytes()
            except OSError as error:
                self.problem = f"{place[1]} cannot be read ({error.strerror})"
                return
            known = path in self.assets or os.path.splitext(path)[1].lower() in _LOOSE
            if known or _is_xml(content) or content.startswith(b"PK"):
                self.add(place, content)
                if self.loaded_ns is not None and changed_ns > self.loaded_ns:
                    self.problem = f"{place[1]} was changed after it was loaded"

    def add(self, place: Place, content: bytes) -> None:
        """Takes a file, and the names in it where it is XML."""
        self.files[place] = content
        self._total += len(content)
        if content.startswith(b"PK"):
            self.problem = f"{place[1]} is an archive"
        elif _is_xml(content):
            try:
                self._texts[place] = references(content)
            except ValueError as error:
                self.problem = f"{place[1]}: {error}"

    def _path(self, place: Place) -> str:
        return os.path.normpath(os.path.join(self._anchors[place[0]], place[1]))

    def sources(self, main: Place, folder: str) -> Sources:
        """What was found, under its new names."""
        if self.problem:
            return Sources(f"{folder}/0/{main[1]}", {}, frozenset(), self.problem)
        places = [*self.files, *self._dirs]
        self._ups = [
            max((_ups(path) for each, path in places if each == number), default=0)
            for number in range(len(self._anchors))
        ]
        files = {f"{folder}/{self._name(place)}": self._rewritten(place) for place in self.files}
        paths = frozenset(self._path(place) for place in self.files)
        strange = [name for name in files if not is_safe(name)]
        if strange:
            return Sources(f"{folder}/0/{main[1]}", {}, frozenset(), f"{strange[0]!r} is no name for every system")
        return Sources(f"{folder}/{self._name(main)}", files, paths)

    def _name(self, place: Place) -> str:
        number, path = place
        ups = _ups(path)
        parts = path.split("/")[ups:] if path else []
        return "/".join([str(number), *[_ABOVE] * (self._ups[number] - ups), *parts])

    def _rewritten(self, place: Place) -> bytes:
        """The file with its absolute names replaced."""
        content = self.files[place]
        for reference in reversed(self._texts.get(place, [])):
            if os.path.isabs(value := reference.value):
                inside = value if reference.is_folder else os.path.dirname(value)
                name = self._name((self._anchor(inside), "" if reference.is_folder else os.path.basename(value)))
                content = content[: reference.start] + escaped(HERE + name) + content[reference.stop :]
        return content


def _is_xml(content: bytes) -> bool:
    return content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")


def _join(base: Place, value: str) -> Place:
    path = os.path.normpath(os.path.join(base[1], value)).replace("\\", "/")
    return base[0], "" if path == "." else path


def _ups(path: str) -> int:
    return sum(part == ".." for part in path.split("/"))
