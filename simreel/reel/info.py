"""What there is to tell about a reel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simreel.errors import DamagedFileError
from simreel.reel.record import START_SIZE, Start, record_end, version_text
from simreel.reel.scan import Damage, Records

if TYPE_CHECKING:
    from simreel.reel.extras import Extras
    from simreel.reel.file import ReelFile
    from simreel.reel.frames import Frames
    from simreel.reel.layout import Layout
    from simreel.reel.reader import Reel

__all__ = ["describe", "find_damage", "steps_of"]


def find_damage(file: ReelFile, records: Records, frames: Frames, extras: Extras) -> list[Damage]:
    """The stretches of a file that cannot be read, in order. Reads all of it."""
    _ = frames.gaps, extras.params, extras.notes, extras.blobs
    found = [(frames.table.offsets[chunk], text) for chunk, text in frames.store.damage.items()]
    found += [(at, "a CHNK record that says something impossible") for at in frames.table.refused]
    found += [(error.offset, error.found) for errors in extras.damage.values() for error in errors]
    ends = {0: START_SIZE}
    if Start.unpack(file.read(START_SIZE, 0)) is None:
        found.append((0, "the first bytes of the file"))
    for tag, _, _, at, length in records.entries.tolist():
        ends[at] = record_end(at, length)
        header = file.header(at)
        # The others were read as what they are.
        if tag not in (b"CHNK", b"PARM", b"NOTE", b"BLOB"):
            try:
                if header is None:
                    raise DamagedFileError(file.path, at, "a record whose header does not fit")
                file.check_body(header, at)
            except DamagedFileError as error:
                found.append((error.offset, error.found))
    return sorted([*records.damage, *(Damage(at, ends.get(at, file.size), text) for at, text in found)])


def describe(reel: Reel, frames: Frames) -> dict[str, Any]:
    """All of it, as JSON values."""
    head, fields = reel.head, reel.layout.fields
    raw, stored = [0] * len(fields), [0] * len(fields)
    for chunk in range(len(frames.table)):
        if not frames.store.check(chunk):
            continue
        for number, (values, stream) in enumerate(frames.store.sizes(chunk)):
            raw[number] += values
            stored[number] += stream
    return {
        "path": str(reel.path),
        "size": reel.size,
        "format": version_text(head.version),
        "writer": head.writer,
        "created": head.created,
        "environment": head.environment,
        "codec": head.codec,
        "dt": head.dt,
        "chunk_size": head.chunk_size,
        "chunks": len(frames.table),
        "frames": len(frames),
        "time": _time_span(reel, frames),
        "is_complete": reel.is_complete,
        "gaps": [list(gap) for gap in reel.gaps],
        "damage": [list(each) for each in reel.damage],
        "raw_bytes": sum(raw),
        "stored_bytes": sum(stored),
        "ratio": _ratio(sum(raw), sum(stored)),
        "fields": [
            {
                "name": field.name,
                "dtype": str(field.dtype),
                "width": field.width,
                "unit": field.unit,
                "kind": field.kind,
                "ragged": field.ragged,
                "raw_bytes": raw[number],
                "stored_bytes": stored[number],
                "ratio": _ratio(raw[number], stored[number]),
            }
            for number, field in enumerate(fields)
        ],
        "params": len(reel.params),
        "notes": len(reel.notes),
        "blobs": {name: reel.blobs.info(name).size for name in reel.blobs},
        "meta": head.meta,
    }


def steps_of(layout: Layout) -> int | None:
    """The place of the field that has the steps; None where the number of a frame is its step."""
    for place, field in enumerate(layout.fields):
        if field.name == "step" and not field.ragged and field.dtype.kind in "iu" and field.width:
            return place
    return None


def _time_span(reel: Reel, frames: Frames) -> list[float] | None:
    """The least time and the largest; lost steps have none."""
    place = steps_of(reel.layout)
    if place is None:
        return [0.0, (len(reel) - 1) * reel.dt] if len(reel) else None
    ends: list[int] = []
    # A chunk at a time: a file may say that it has any number of frames.
    for stretch in frames.stretches(range(len(reel))):
        columns = frames.columns(stretch.chunk, [place], stretch.ahead)
        if columns is not None:
            ends = [min([*ends, int(columns[place].min())]), max([*ends, int(columns[place].max())])]
    return [end * reel.dt for end in ends] or None


def _ratio(raw: int, stored: int) -> float | None:
    return raw / stored if stored else None
