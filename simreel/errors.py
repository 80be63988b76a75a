"""One root error and its family; each also is the builtin that a caller would catch.

An error builds its text from typed arguments and keeps them as attributes. The text names the field or file, what
was found, what is allowed, and what to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "ClosedFileError",
    "DamagedFileError",
    "DuplicateTargetError",
    "FieldError",
    "FileVersionError",
    "FrameIndexError",
    "GapError",
    "MaxSizeError",
    "MissingExtraError",
    "MissingFileError",
    "ModelError",
    "NotATrajectoryError",
    "NotExactError",
    "OptionsConflictError",
    "OptionsError",
    "PlotError",
    "ReadError",
    "RecorderError",
    "RecorderErrorGroup",
    "RecorderOverflowError",
    "RegistrationError",
    "SampleError",
    "SceneDiffersError",
    "SceneFileError",
    "SceneStateError",
    "SimreelError",
    "SimreelWarning",
    "SyncTimeoutError",
    "TargetError",
    "TargetExistsError",
    "UnknownNameError",
    "UnknownRecorderError",
    "UnstableError",
    "WriteError",
    "nearest",
]


class SimreelWarning(UserWarning):
    """Something the user can change; the run goes on."""


class SimreelError(Exception):
    """Root of all errors that simreel raises for a user's mistake or a failed recording."""


def nearest(name: str, known: Iterable[str]) -> str:
    """A question that names the closest of `known`, or an empty string where none is close."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" Did you mean {close[0]!r}?" if close else ""


class OptionsError(SimreelError, ValueError):
    """An options object was given a wrong value or an unknown name."""

    def __init__(self, options: str, problems: Sequence[str]) -> None:
        self.options = options
        self.problems = tuple(problems)
        super().__init__("\n".join(f"{options}: {problem}" for problem in self.problems))


class OptionsConflictError(SimreelError, ValueError):
    """Two model files of a scene differ in a field of which the scene can have only one."""

    def __init__(self, field: str, first: tuple[str, object], second: tuple[str, object], remedy: str) -> None:
        self.field = field
        self.first = first
        self.second = second
        super().__init__(
            f"the models differ in <option> {field}: {first[0]} has {first[1]}, {second[0]} has {second[1]}. {remedy}"
        )


class UnknownNameError(SimreelError, KeyError):
    """No thing of that kind has that name."""

    def __init__(self, kind: str, name: object, known: Iterable[str]) -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(known)
        there = ", ".join(map(repr, self.known)) or "none"
        self.text = f"no {kind} named {name!r}; there are: {there}.{nearest(str(name), self.known)}"
        super().__init__(self.text)

    def __str__(self) -> str:
        # KeyError shows the repr of its argument, with quotes around the sentence.
        return self.text


class UnknownRecorderError(UnknownNameError):
    """No recorder is registered for an options class."""

    def __init__(self, name: str, known: Iterable[str], broken: Mapping[str, str]) -> None:
        self.broken = dict(broken)
        """Why each plugin that cannot be loaded cannot, by the name of its entry point."""
        super().__init__("recorder for options", name, known)
        self.text += "".join(f" Plugin {plugin} cannot be loaded: {why}." for plugin, why in self.broken.items())


class FieldError(SimreelError, ValueError):
    """What was given to a setter does not fit the field."""

    def __init__(self, field: str, found: str, allowed: str) -> None:
        self.field = field
        self.found = found
        self.allowed = allowed
        super().__init__(f"{field}: {found} given, {allowed}")


class ModelError(SimreelError, ValueError):
    """A model file or a scene does not compile."""

    def __init__(self, source: str, reason: str) -> None:
        self.source = source
        self.reason = reason
        super().__init__(f"{source}: {reason}")


class SceneFileError(SimreelError, ValueError):
    """The scene that a file holds cannot be used."""

    def __init__(self, part: str, reason: str) -> None:
        self.part = part
        """What of the scene it is about, such as the name of a payload."""
        self.reason = reason
        super().__init__(f"the scene in the file: {part}: {reason}")


class SceneDiffersError(SimreelError, ValueError):
    """A scene is not the one that was recorded."""

    def __init__(self, path: Path | str, differences: Sequence[str]) -> None:
        self.path = path
        self.differences = tuple(differences)
        listed = "".join(f"\n  {difference}" for difference in self.differences)
        super().__init__(f"{path}: the recorded scene and this one differ:{listed}")


class MissingFileError(SimreelError, FileNotFoundError):
    """A file that was named is not there."""

    def __init__(self, path: Path | str, purpose: str) -> None:
        self.path = path
        self.purpose = purpose
        super().__init__(f"{path}: no such file ({purpose})")


class MissingExtraError(SimreelError, ImportError):
    """A package of an optional extra is needed and not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        self.package = package
        self.extra = extra
        super().__init__(f"{purpose} needs {package}, which is not installed: pip install 'simreel[{extra}]'")


class SceneStateError(SimreelError, RuntimeError):
    """A call came before `build`, after `destroy`, or twice."""

    def __init__(self, call: str, reason: str) -> None:
        self.call = call
        self.reason = reason
        super().__init__(f"{call}: {reason}")


class UnstableError(SimreelError, ArithmeticError):
    """The simulation became NaN, infinite or huge; nothing of that state was recorded."""

    def __init__(self, reason: str, step: int | None = None, worlds: tuple[int, ...] = ()) -> None:
        self.reason = reason
        self.step = step
        self.worlds = worlds
        """The worlds that it happened in; empty without worlds."""
        at = "" if step is None else f" at step {step}"
        where = f" in world{'s' * (len(worlds) > 1)} {', '.join(map(str, worlds))}" if worlds else ""
        onward = f"scene.reset(envs_idx={list(worlds)})" if worlds else "scene.reset()"
        super().__init__(
            f"the simulation is unstable{at}{where}: {reason} The samples before are kept. "
            f"{onward} goes on; a smaller dt, softer contacts or bounded controls may avoid it."
        )


class TargetError(SimreelError, OSError):
    """A file cannot be written where it was asked for."""

    def __init__(self, path: Path | str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path}: {reason}")


class TargetExistsError(SimreelError, FileExistsError):
    """The target is there already and `overwrite` was not given."""

    def __init__(self, path: Path | str, option: str = "overwrite=True") -> None:
        self.path = path
        super().__init__(f"{path} exists already: give another filename or {option}")


class DuplicateTargetError(SimreelError, ValueError):
    """Two recorders of one scene name the same file."""

    def __init__(self, path: Path | str) -> None:
        self.path = path
        super().__init__(f"filename: {path} is being recorded by another recorder of this scene; give another filename")


class DamagedFileError(SimreelError, ValueError):
    """A file is cut, altered, or not what its name says."""

    def __init__(self, path: Path | str, offset: int, found: str) -> None:
        self.path = path
        self.offset = offset
        self.found = found
        super().__init__(f"{path}: byte {offset}: {found}")


class FileVersionError(SimreelError, ValueError):
    """A file has a format that this release does not read."""

    def __init__(self, path: Path | str, found: str, readable: str, writer: str) -> None:
        self.path = path
        self.found = found
        self.readable = readable
        self.writer = writer
        super().__init__(
            f"{path}: {found}, written by {writer or 'an unknown program'}; this release of simreel reads {readable}. "
            "Read it with a release that is as new as its writer"
        )


class FrameIndexError(SimreelError, IndexError):
    """No frame of a file has that number."""

    def __init__(self, path: Path | str, index: int, frames: int, version: str) -> None:
        self.path = path
        self.index = index
        self.frames = frames
        self.version = version
        allowed = f"its {frames} frames are 0 to {frames - 1}" if frames else "it has no frame"
        super().__init__(f"{path} (format version {version}): no frame {index}; {allowed}")


class GapError(SimreelError, IndexError):
    """A frame was lost: its part of the file is damaged."""

    def __init__(self, path: Path | str, index: int, gap: tuple[int, int]) -> None:
        self.path = path
        self.index = index
        self.gap = gap
        """First frame that is lost, and the first after it that is not."""
        super().__init__(f"{path}: frame {index} is lost; the file is damaged at frames {gap[0]} to {gap[1] - 1}")


class NotATrajectoryError(SimreelError, ValueError):
    """A reel holds something else than a trajectory, or what does not fit together."""

    def __init__(self, path: Path | str, version: str, frames: int, found: str) -> None:
        self.path = path
        self.version = version
        self.frames = frames
        self.found = found
        super().__init__(f"{path} (format version {version}, {frames} frames): no trajectory: {found}")


class NotExactError(SimreelError, ValueError):
    """A trajectory cannot be run again to the bit."""

    def __init__(self, path: Path | str, reason: str, remedy: str) -> None:
        self.path = path
        self.reason = reason
        self.remedy = remedy
        super().__init__(f"{path}: cannot be verified: {reason}. {remedy}")


class ClosedFileError(SimreelError, ValueError):
    """A call on a file that is closed."""

    def __init__(self, path: Path | str, call: str, reason: str = "the file is closed") -> None:
        self.path = path
        self.call = call
        self.reason = reason
        super().__init__(f"{path}: {call}: {reason}")


class ReadError(SimreelError, OSError):
    """The system does not give what a file holds."""

    def __init__(self, path: Path | str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path}: cannot be read ({reason})")


class WriteError(SimreelError, OSError):
    """A recording cannot go on; what was written before is whole."""

    def __init__(self, path: Path | str, reason: str, kept: int) -> None:
        self.path = path
        self.reason = reason
        self.kept = kept
        """Frames that are in the file."""
        super().__init__(f"{path}: {reason}; {f'the first {kept} frames are' if kept else 'no frame is'} kept")


class MaxSizeError(WriteError):
    """The file would become larger than it may."""

    def __init__(self, path: Path | str, max_size: int, kept: int) -> None:
        self.max_size = max_size
        super().__init__(path, f"max_size={max_size} bytes is reached", kept)


class SampleError(SimreelError, ValueError):
    """What a data function returned cannot be recorded."""

    def __init__(self, key: str | None, found: str, allowed: str) -> None:
        self.key = key
        self.found = found
        self.allowed = allowed
        of = "the data" if key is None else f"key {key!r}"
        super().__init__(f"{of}: {found} returned, {allowed}")


class RecorderError(SimreelError, RuntimeError):
    """A recorder ended before its time; `__cause__` is what ended it. Its rows before that are kept."""

    def __init__(self, recorder: str, doing: str, cause: BaseException) -> None:
        self.recorder = recorder
        self.doing = doing
        super().__init__(f"{recorder} ended while {doing}: {type(cause).__name__}: {cause}")
        self.__cause__ = cause


class RecorderErrorGroup(SimreelError, ExceptionGroup[SimreelError]):
    """Several recorders failed."""


class RecorderOverflowError(SimreelError, RuntimeError):
    """The queue of a recorder with `when_full="raise"` stayed full."""

    def __init__(self, recorder: str, queued: int, waited: float) -> None:
        self.recorder = recorder
        self.queued = queued
        self.waited = waited
        super().__init__(
            f"{recorder}: the queue stayed full ({queued} samples) for {waited:g} s; "
            "lower hz, raise buffer_size, or set when_full='block'"
        )


class SyncTimeoutError(SimreelError, TimeoutError):
    """`sync` ran out of time."""

    def __init__(self, recorder: str, queued: int, timeout: float) -> None:
        self.recorder = recorder
        self.queued = queued
        self.timeout = timeout
        super().__init__(f"{recorder}: {queued} samples are still queued after timeout={timeout:g} s")


class PlotError(SimreelError, RuntimeError):
    """A plot cannot be drawn, or its window process is gone."""

    def __init__(self, plot: str, reason: str) -> None:
        self.plot = plot
        self.reason = reason
        super().__init__(f"{plot}: {reason}")


class RegistrationError(SimreelError, TypeError):
    """A recorder class cannot be registered."""
