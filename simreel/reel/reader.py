"""Reads a reel."""

from __future__ import annotations

import warnings
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from simreel.errors import SimreelWarning
from simreel.reel.arguments import file_path
from simreel.reel.chunk_table import ChunkTable
from simreel.reel.columns import Column
from simreel.reel.extras import Extras, Sides
from simreel.reel.file import ReelFile
from simreel.reel.frames import Frames
from simreel.reel.info import describe, find_damage, steps_of
from simreel.reel.opening import check_codec, check_start, read_head
from simreel.reel.scan import Damage, Records, find_records
from simreel.reel.store import ChunkStore

if TYPE_CHECKING:
    import os

    from simreel.reel.blob import Blobs
    from simreel.reel.head import Head
    from simreel.reel.layout import Layout

__all__ = ["Reel"]


class Reel:
    """A file of frames, also one that was cut, is damaged in places, or is being written.

    Threads may share a reel, and a forked child may go on with it. It holds at most 64 MiB of decoded chunks.

        with Reel.open("run.reel") as reel:
            qpos = reel.field("qpos")[1000:2000]
            row = reel.row(-1)

    Args:
        path: of the file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = file_path("path", path)
        self._file = ReelFile(self.path)
        try:
            check_start(self._file)
            self.records: Records = find_records(self._file)
            """Where everything is in the file."""
            self.head: Head = read_head(self._file, self.records)
            """What the file says of itself."""
            check_codec(self._file, self.head)
            trailer = self.records.trailer
            frames = trailer.frames if trailer is not None else None
            table = ChunkTable(self.records.entries, self.head, self._file.size, frames)
            store = ChunkStore(self._file, self.head, table)
            self._extras = Extras(self._file, self.records)
            self._frames = Frames(self.path, self.head.version, self.head.layout, table, store)
        except BaseException:
            self._file.close()
            raise

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Opens a file; of one that is being written, what is there now.

        Raises:
            MissingFileError: there is none.
            ReadError: the system does not give it.
            DamagedFileError: it is no reel, or nothing of it can be read.
            FileVersionError: it needs another release of simreel.
            FieldError: `path` is none.
        """
        return cls(path)

    def close(self) -> None:
        """Closes the file; twice is fine."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Reel {self.path.name}: {len(self)} frames of {len(self.layout.fields)} fields>"

    def __len__(self) -> int:
        """Frames, lost ones included."""
        return len(self._frames)

    @property
    def layout(self) -> Layout:
        """The fields of a frame."""
        return self.head.layout

    @property
    def dt(self) -> float:
        """Between two steps [s]."""
        return self.head.dt

    @property
    def meta(self) -> dict[str, Any]:
        """What the writer was given."""
        return self.head.meta

    @property
    def size(self) -> int:
        """Of the file when it was opened [bytes]."""
        return self._file.size

    @property
    def is_complete(self) -> bool:
        """Whether the writer closed the file with every frame that it was given. Damage since then shows in `gaps`."""
        return self.records.is_complete

    @property
    def chunks(self) -> list[tuple[int, int]]:
        """First frame of each chunk, and the first after it; chunks that are damaged inside are among them."""
        table = self._frames.table
        return [table.span(chunk) for chunk in range(len(table))]

    @property
    def gaps(self) -> list[tuple[int, int]]:
        """The spans of frames that are lost: the first, and the first after them that is not.

        The first time this reads the whole file and checks it, about 2 GB a second.
        """
        return list(self._frames.gaps)

    def field(self, name: str) -> Column:
        """A field of all frames; nothing is read until it is indexed.

        Raises:
            UnknownNameError: there is no such field.
        """
        return Column(self._frames, self.layout.index(name))

    def row(self, i: int) -> dict[str, np.ndarray[Any, Any]]:
        """A frame: by field, (width,) array, (items, width) of a ragged field.

        Args:
            i: its number; from the end where it is negative.

        Raises:
            FrameIndexError: there is no such frame.
            GapError: the frame is lost.
            DamagedFileError: its chunk cannot be decoded.
        """
        fields = self.layout.fields
        values = self._frames.values(self._frames.frame(i), range(len(fields)))
        return {field.name: values[number] for number, field in enumerate(fields)}

    def rows(self, start: int, stop: int) -> np.ndarray[Any, Any]:
        """Frames `start` to `stop - 1`, without their ragged fields: (n,) of the layout's `row_dtype`.

        The numbers are those of a slice.

        Raises:
            GapError: a frame is lost.
            DamagedFileError: a chunk cannot be decoded.
        """
        frames, fields = self._frames.numbers(slice(start, stop)), self.layout.fields
        fixed = [number for number, field in enumerate(fields) if not field.ragged]
        out = np.empty(len(frames), self.layout.row_dtype)
        at = 0
        for chunk, first, last, rows, ahead in self._frames.stretches(frames):
            columns = self._frames.columns(chunk, fixed, ahead) if first == at else None
            if columns is None:
                break
            for number in fixed:
                out[fields[number].name][first:last] = columns[number][rows]
            at = last
        if at < len(frames):
            # Says which frames are lost.
            self._frames.values(frames[at], fixed)
        return out

    @property
    def times(self) -> np.ndarray[Any, Any]:
        """Time of each frame [s], (n,) float64: `dt` times its field "step", or times its number if there is none.

        Where "step" has several values, one for each world: (n, worlds). NaN where the step is lost.
        """
        steps = steps_of(self.layout)
        if steps is None:
            return np.arange(len(self)) * self.dt
        values, lost = self.field("step").read(range(len(self)))
        times: np.ndarray[Any, Any] = values * self.dt
        for start, stop in self.gaps if lost else ():
            times[start:stop] = np.nan
        return times[:, 0] if self.layout.fields[steps].width == 1 else times

    @property
    def params(self) -> Sides:
        """Parameters of the model: each record has the frame from which it holds, JSON and arrays."""
        found = self._extras.params
        self._warn_of(b"PARM")
        return found

    @property
    def notes(self) -> Sides:
        """Notes: each has the frame that it is about, JSON and arrays."""
        found = self._extras.notes
        self._warn_of(b"NOTE")
        return found

    @property
    def blobs(self) -> Blobs:
        """Payloads by name; each is read, and compared with its sha256, when it is asked for."""
        found = self._extras.blobs
        self._warn_of(b"BLOB")
        return found

    @property
    def damage(self) -> list[Damage]:
        """The stretches of the file that cannot be read, in order. Reads the whole file the first time."""
        return find_damage(self._file, self.records, self._frames, self._extras)

    def info(self) -> dict[str, Any]:
        """What there is to tell about the file, as JSON values. Reads the whole file the first time.

        Each field has its bytes before and after encoding, and their ratio.
        """
        return describe(self, self._frames)

    def _warn_of(self, tag: bytes) -> None:
        for error in self._extras.damage[tag]:
            warnings.warn(f"{error}; it is left out", SimreelWarning, stacklevel=3)
