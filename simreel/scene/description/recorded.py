"""The sources of a scene that came from a file, in memory: unpacked for as long as MuJoCo reads them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import mujoco

from simreel.errors import ModelError, SceneFileError, SimreelWarning
from simreel.options.morphs import ModelFile
from simreel.scene.compile import CompiledScene, compile_scene, load_morph
from simreel.scene.description.digest import digest
from simreel.scene.description.payloads import payloads
from simreel.scene.description.sandbox import unpacked
from simreel.scene.description.sources import MAX_FILES, MAX_TOTAL, Sources

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from simreel.options import SimOptions
    from simreel.options.morphs import Morph
    from simreel.scene.settings import Part

__all__ = ["RecordedSources"]


class RecordedSources:
    """The entities of a recorded scene, and the files that they are made of.

    Args:
        meta: what the head of the file says.
        blobs: the payloads of the file.
        named: name and morph of each entity.

    Raises:
        SceneFileError: there are too many files, or they are too large.
        DamagedFileError: one is damaged.
    """

    def __init__(self, meta: Mapping[str, Any], blobs: Mapping[str, bytes], named: Sequence[tuple[str, Morph]]) -> None:
        names = [name for name in blobs if name.startswith("sources/")]
        if len(names) > MAX_FILES:
            raise SceneFileError("sources", f"{len(names)} files; at most {MAX_FILES} are allowed")
        self._files = payloads(blobs, names, MAX_TOTAL)
        self._meta = meta
        self._named = list(named)

    def load(self) -> list[Part]:
        """The entities as parts of a scene.

        Raises:
            ModelError: one cannot be loaded.
            SceneFileError: a file is missing, or a name leads outside.
        """
        with self._unpacked() as root:
            return [(name, morph, self._load(root, morph)) for name, morph in self._named]

    def compile(self, sim: SimOptions, parts: Sequence[Part] | None = None, *, warn: bool = True) -> CompiledScene:
        """As `compile_scene`, with the assets of these files.

        Args:
            sim: the options of the scene.
            parts: its parts, some of which were loaded from these files; None: all that were recorded.
            warn: of a model of the recorded parts alone that is not the recorded one.

        Raises:
            ModelError: the entities do not compile, or not together.
            OptionsConflictError: two model files differ in an option.
            SceneFileError: a file is missing, or a name leads outside.
        """
        named = self._named if parts is None else [(name, morph) for name, morph, _ in parts]
        specs = {name: spec for name, _, spec in parts or ()}
        with self._unpacked() as root:
            # Loaded anew, since a spec knows its assets by the folder that they were in.
            fresh = [
                (name, morph, specs[name] if name in specs and not self.has(morph) else self._load(root, morph))
                for name, morph in named
            ]
            compiled = compile_scene(sim, fresh)
        if warn and named == self._named and digest(compiled.model) != self._meta.get("digest"):
            warnings.warn(
                "the model compiled from the sources in the file is not to the bit the one that was recorded (with "
                f"MuJoCo {self._meta.get('engine_version')}; this is {mujoco.__version__}): recorded frames play back "
                "exactly, a re-run may differ",
                SimreelWarning,
                stacklevel=5,
            )
        return compiled

    def has(self, morph: Morph) -> bool:
        """Whether the morph is of one of these files."""
        return isinstance(morph, ModelFile) and morph.file in self._files

    def again(self, morph: ModelFile, folder: str) -> Sources:
        """The files of such a morph, under the names of another folder."""
        old = "/".join(morph.file.split("/")[:2]) + "/"
        files = {
            f"{folder}/{name.removeprefix(old)}": content
            for name, content in self._files.items()
            if name.startswith(old)
        }
        return Sources(f"{folder}/{morph.file.removeprefix(old)}", files, frozenset())

    @contextmanager
    def _unpacked(self) -> Iterator[Path]:
        with unpacked(self._files) as root:
            try:
                yield root
            except ModelError as error:
                # The temporary folder says nothing to the user.
                raise ModelError(*(text.replace(f"{root}/", "") for text in (error.source, error.reason))) from None

    def _load(self, root: Path, morph: Morph) -> mujoco.MjSpec:
        if not isinstance(morph, ModelFile):
            return load_morph(morph)
        if morph.file not in self._files:
            raise SceneFileError(morph.file, "the file does not hold it")
        return load_morph(morph.model_copy(update={"file": str(root / morph.file)}))
