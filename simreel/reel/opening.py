"""Opens a reel: is it one, can this release read it, what does it hold."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from simreel.errors import DamagedFileError, FileVersionError, UnknownNameError
from simreel.reel.codec import codec_for
from simreel.reel.head import Head
from simreel.reel.index import TRAILER_SIZE
from simreel.reel.layout import Layout
from simreel.reel.limits import MAX_JSON
from simreel.reel.record import HEADER_SIZE, MAGIC, START_SIZE, VERSION, Start, version_text
from simreel.reel.text import load_json

if TYPE_CHECKING:
    from simreel.reel.file import ReelFile
    from simreel.reel.scan import Records

__all__ = ["check_codec", "check_start", "read_head"]


def check_start(file: ReelFile) -> None:
    """Checks that the file is a reel of a version that this release reads.

    Raises:
        DamagedFileError: it is no reel, or has no whole record.
        FileVersionError: it is of another version.
    """
    raw = file.read(START_SIZE, 0)
    start = Start.unpack(raw)
    if start is not None:
        _check_version(file, start.version, start.writer)
        return
    if not raw:
        raise DamagedFileError(file.path, 0, "the file is empty; a reel starts with 64 bytes that say what it is")
    # A damaged start costs nothing where the first record or the last is good.
    at = file.size - TRAILER_SIZE
    if file.header(START_SIZE) is not None or (at > START_SIZE and file.header(at) is not None):
        return
    if file.size < START_SIZE and MAGIC.startswith(raw[: len(MAGIC)]):
        found = f"the file ends inside the first {START_SIZE} bytes of a reel; it holds no frame"
    elif raw.startswith(MAGIC):
        found = "a reel whose first bytes are damaged and whose records cannot be found"
    else:
        found = f"not a reel (version {version_text(VERSION)} and all others start with {MAGIC[:8]!r})"
    raise DamagedFileError(file.path, 0, found)


def read_head(file: ReelFile, records: Records) -> Head:
    """What the file holds, from the first HEAD that is good.

    Raises:
        DamagedFileError: none is.
        FileVersionError: it is of another version.
    """
    heads = records.entries["offset"][records.entries["tag"] == b"HEAD"].tolist()
    why = "its HEAD is damaged and it has no second one; the frames cannot be read"
    if file.size < START_SIZE + HEADER_SIZE or (not heads and not records.damage):
        why = "the file ends inside its HEAD; it holds no frame"
    for at in heads:
        header = file.header(at)
        if header is None or header.length > MAX_JSON:
            continue
        with suppress(DamagedFileError):
            body = file.body(header, at)
            try:
                values = load_json(body)
                _check_version(file, Head.version_of(values), str(values.get("writer")))
                return Head.from_json(values)
            except FileVersionError:
                raise
            except ValueError as error:
                why = str(error)
    raise DamagedFileError(file.path, START_SIZE, why)


def check_codec(file: ReelFile, head: Head) -> None:
    """Checks that this release has the codec of the frames.

    Raises:
        FileVersionError: it has not.
    """
    try:
        # Not for the layout: that takes memory, and nothing that the file says of it was seen to be true yet.
        codec = codec_for(head.codec, Layout(()), head.dt)
    except UnknownNameError as error:
        readable = "the codecs " + ", ".join(error.known)
        raise FileVersionError(file.path, f"codec {head.codec!r}", readable, head.writer) from None
    if codec.contract != head.contract:
        found, readable = f"codec {head.codec}, version {head.contract}", f"version {codec.contract} of it"
        raise FileVersionError(file.path, found, readable, head.writer)


def _check_version(file: ReelFile, version: tuple[int, int], writer: str) -> None:
    if version[0] != VERSION[0]:
        found, readable = f"format version {version_text(version)}", f"version {version_text(VERSION)}"
        raise FileVersionError(file.path, found, readable, writer)
