"""Encodes a reel anew."""

from __future__ import annotations

import os
import warnings
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simreel.errors import DamagedFileError, SimreelWarning, TargetError
from simreel.reel.arguments import file_path
from simreel.reel.chunk_encoder import ChunkEncoder
from simreel.reel.chunk_table import merge_spans
from simreel.reel.codec import codec_for
from simreel.reel.file import ReelFile
from simreel.reel.head import WRITER
from simreel.reel.limits import MAX_CHUNK_BYTES
from simreel.reel.reader import Reel
from simreel.reel.record import VERSION
from simreel.reel.replacing import check_target
from simreel.reel.rewriting import CopySink, rewriting, seal
from simreel.reel.ring import Slot
from simreel.reel.survey import survey

if TYPE_CHECKING:
    import numpy as np

    from simreel.reel.layout import Layout

__all__ = ["RepackReport", "repack"]


@dataclass(frozen=True)
class RepackReport:
    """What `repack` did."""

    target: Path
    """The new file."""

    frames: int
    """In it, lost ones included."""

    gaps: tuple[tuple[int, int], ...]
    """The spans of frames that are lost in the old file, and so in the new one."""

    before: int
    """Size of the old file [bytes]."""

    after: int
    """Size of the new file [bytes]."""


def repack(
    src: str | os.PathLike[str],
    dst: str | os.PathLike[str],
    codec: str = "archive",
    chunk_size: int | None = None,
    *,
    overwrite: bool = False,
) -> RepackReport:
    """Writes the frames of a reel to another one with another codec or chunk size; each is the same to the bit.

    All else that the file holds goes with them. Frames keep their numbers, lost ones too. The new file has its name
    when it is on the disk and was read back.

    Args:
        src: the reel to read.
        dst: the reel to make.
        codec: "archive", "phys1" or "diff1".
        chunk_size: the most frames in a chunk; None: as before.
        overwrite: whether a file of that name may be there.

    Raises:
        MissingFileError: there is no such reel.
        DamagedFileError: it is no reel, or nothing of it can be read.
        FileVersionError: it needs another release of simreel.
        TargetExistsError: `dst` is there and `overwrite` is not set.
        TargetError: `dst` cannot be made, or is `src`.
        UnknownNameError: there is no such codec.
        FieldError: `chunk_size` is not allowed, or a path is none.
    """
    target = file_path("dst", dst)
    with closing(ReelFile(file_path("src", src))) as source:
        _check(target, source, overwrite=overwrite)
        found = survey(source)
        encoding = codec_for(codec, found.head.layout, found.head.dt)
        head = replace(
            found.head,
            chunk_size=found.head.chunk_size if chunk_size is None else chunk_size,
            codec=encoding.name,
            contract=encoding.contract,
            version=VERSION,
            writer=WRITER,
        )
        with rewriting(target) as file, Reel.open(source.path) as reel:
            sink = CopySink(file, head)
            chunks = _Chunks(head.layout, head.chunk_size, ChunkEncoder(head.layout, encoding), sink)
            undecodable = []
            for at in found.offsets:
                header = source.header(at)
                if header is None or header.tag != b"CHNK":
                    sink.copy(source, at)
                    continue
                span = header.first, header.first + header.frames
                try:
                    chunks.add(reel, *span)
                except DamagedFileError:
                    undecodable.append(span)
            chunks.flush()
            gaps = merge_spans([*found.gaps, *undecodable])
            seal(sink, found.frames, gaps, is_complete=found.is_complete and not gaps)
            after = file.path.stat().st_size
            os.replace(file.path, target)
        if found.damage or undecodable:
            lost = sum(stop - start for start, stop in gaps)
            text = f"{source.path.name} is damaged: what cannot be read, {lost} frames among it,"
            warnings.warn(f"{text} is not in {target.name}", SimreelWarning, stacklevel=2)
        return RepackReport(target, found.frames, tuple(gaps), source.size, after)


def _check(target: Path, source: ReelFile, *, overwrite: bool) -> None:
    if not target.parent.is_dir():
        raise TargetError(target, "its folder does not exist")
    if target.exists() and os.path.samefile(target, source.path):
        raise TargetError(target, "is the file to read; give another name")
    check_target(target, overwrite=overwrite)


class _Chunks:
    """Makes chunks of frames that come in chunks of another size."""

    def __init__(self, layout: Layout, chunk_size: int, encoder: ChunkEncoder, sink: CopySink) -> None:
        self._size = max(1, min(chunk_size, MAX_CHUNK_BYTES // max(1, layout.row_bytes)))
        self._slot = Slot(layout, self._size)
        self._encoder = encoder
        self._sink = sink

    def add(self, reel: Reel, start: int, stop: int) -> None:
        """Takes frames that stand in one chunk.

        Raises:
            DamagedFileError: they cannot be decoded; none of them was taken.
        """
        rows = reel.rows(start, stop)
        items = {name: reel.field(name)[start:stop] for name in self._slot.ragged}
        slot = self._slot
        if start != slot.first + slot.count:
            self.flush()
            slot.first = start
        # Frames with items one by one: they have as many bytes as they like.
        step = 1 if items else self._size
        done = 0
        while done < len(rows):
            room = min(step, self._size - slot.count, len(rows) - done)
            self._put(rows[done : done + room], {name: field[done] for name, field in items.items()})
            done += room

    def _put(self, rows: np.ndarray[Any, Any], items: dict[str, np.ndarray[Any, Any]]) -> None:
        slot = self._slot
        slot.rows[slot.count : slot.count + len(rows)] = rows
        for name, each in items.items():
            slot.put_items(name, each)
        slot.count += len(rows)
        if slot.count == self._size or slot.ragged_bytes > MAX_CHUNK_BYTES:
            self.flush()

    def flush(self) -> None:
        """Writes the frames that are left."""
        slot = self._slot
        if slot.count:
            for start, stop in self._encoder.pieces(slot, 0, slot.count):
                self._sink.append(b"CHNK", self._encoder.encode(slot, start, stop), slot.first + start, stop - start)
        slot.first += slot.count
        slot.count = slot.ragged_bytes = 0
        for each in slot.ragged.values():
            each.clear()
