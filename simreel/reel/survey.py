"""Which records of a reel are good, and which frames are lost, without decoding anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simreel.errors import DamagedFileError
from simreel.reel.chunk_table import ChunkTable, merge_spans
from simreel.reel.opening import check_start, read_head
from simreel.reel.record import START_SIZE, Header, Start, record_end
from simreel.reel.scan import Damage, find_records

if TYPE_CHECKING:
    from simreel.reel.file import ReelFile
    from simreel.reel.head import Head

__all__ = ["Survey", "survey"]

_ENDS = (b"HEAD", b"INDX", b"TRLR")


@dataclass(frozen=True)
class Survey:
    """What is left of a reel."""

    head: Head
    offsets: list[int]
    """Of the good records, in order; without HEAD, INDX and TRLR."""
    frames: int
    """Lost ones included."""
    gaps: list[tuple[int, int]]
    """The spans of lost frames: the first, and the first after them that is not."""
    damage: list[Damage]
    """The stretches of the file that cannot be read, in order."""
    cut: Header | None
    """The record that the file ends inside of, if its header is whole."""
    is_closed: bool
    """Whether the index and the trailer are good."""
    is_complete: bool
    """Whether the trailer says that every frame that was recorded is there."""


def survey(file: ReelFile) -> Survey:
    """Reads all of a file, a part of a record at a time.

    Raises:
        DamagedFileError: it is no reel, or has no good HEAD.
        FileVersionError: it is of another version.
    """
    check_start(file)
    records = find_records(file)
    head = read_head(file, records)
    trailer = records.trailer
    table = ChunkTable(records.entries, head, file.size, None if trailer is None else trailer.frames)
    chunks = {at: table.span(number) for number, at in enumerate(table.offsets)}
    damage = list(records.damage)
    if Start.unpack(file.read(START_SIZE, 0)) is None:
        damage.append(Damage(0, START_SIZE, "the first bytes of the file"))
    gaps = list(table.missing())
    offsets = []
    for tag, count, first, at, length in records.entries.tolist():
        try:
            _check(file, Header(tag, 0, length, first, count), at)
            if tag == b"CHNK" and at not in chunks:
                raise DamagedFileError(file.path, at, "a CHNK record of impossible frames")
        except DamagedFileError as error:
            damage.append(Damage(at, record_end(at, length), error.found))
            gaps += [chunks[at]] if at in chunks else []
        else:
            offsets += [at] if tag not in _ENDS else []
    return Survey(
        head=head,
        offsets=offsets,
        frames=table.frames,
        gaps=merge_spans(gaps),
        damage=sorted(damage),
        cut=file.header(records.end) if records.end < file.size else None,
        is_closed=records.is_indexed,
        is_complete=records.is_complete,
    )


def _check(file: ReelFile, expected: Header, at: int) -> None:
    header = file.header(at)
    if header is None or header._replace(flags=0) != expected:
        raise DamagedFileError(file.path, at, f"a {expected.tag.decode(errors='replace')} record without its header")
    file.check_body(header, at)
