"""What a reel holds beside its frames: parameters, notes and payloads, each read when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeVar, overload

from simreel.errors import DamagedFileError
from simreel.reel.blob import BlobRoom, Blobs, content_of, unpack_blob
from simreel.reel.limits import MAX_BLOB, MAX_JSON, MAX_SIDE
from simreel.reel.side import Side, split_json, unpack_side

if TYPE_CHECKING:
    from simreel.reel.file import ReelFile
    from simreel.reel.record import Header
    from simreel.reel.scan import Records

__all__ = ["Extras", "Sides"]

_LIMITS = {b"PARM": MAX_SIDE, b"NOTE": MAX_SIDE, b"BLOB": MAX_BLOB + 4 + MAX_JSON}

_T = TypeVar("_T")


class Sides(Sequence[Side]):
    """Records in the order of the file.

    Args:
        places: where each is.
        read: the record that is there.
    """

    def __init__(self, places: Sequence[int], read: Callable[[int], Side]) -> None:
        self._places = places
        self._read = read

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, key: int) -> Side: ...
    @overload
    def __getitem__(self, key: slice) -> Sides: ...
    def __getitem__(self, key: int | slice) -> Side | Sides:
        """A record, read from the file; or some of them, not read yet.

        Raises:
            IndexError: there is no such record.
            DamagedFileError: it cannot be read.
        """
        places = self._places[key]
        return Sides(places, self._read) if isinstance(places, Sequence) else self._read(places)


class Extras:
    """The records of a file that hold no frames. Damaged ones are left out."""

    def __init__(self, file: ReelFile, records: Records) -> None:
        self.damage: dict[bytes, list[DamagedFileError]] = {}
        """By tag, what is wrong with those that were left out, once they were looked for."""
        self._file = file
        self._records = records
        self._bombs: dict[int, str] = {}
        """By offset, why a blob is not unpacked."""

    @cached_property
    def params(self) -> Sides:
        """The `PARM` records."""
        return Sides(self._places(b"PARM"), partial(self._side, b"PARM"))

    @cached_property
    def notes(self) -> Sides:
        """The `NOTE` records."""
        return Sides(self._places(b"NOTE"), partial(self._side, b"NOTE"))

    @cached_property
    def blobs(self) -> Blobs:
        """The `BLOB` records."""
        stored = self._good(b"BLOB", lambda start, header: (unpack_blob(start)[0], header.length))
        room = BlobRoom()
        for at, (blob, length) in stored:
            if blob.encoding == "zstd" and not room.take(blob.size, length):
                self._bombs[at] = f"blob {blob.name!r}: {length} bytes that claim to unpack to {blob.size} are refused"
        return Blobs([(blob, at) for at, (blob, _) in stored], self._content)

    def _places(self, tag: bytes) -> list[int]:
        return [at for at, _ in self._good(tag, lambda start, _: split_json(start))]

    def _side(self, tag: bytes, at: int) -> Side:
        return self._read(at, tag, self._file.body, lambda body, header: unpack_side(body, header.first))

    def _good(self, tag: bytes, parse: Callable[[bytes, Header], _T]) -> list[tuple[int, _T]]:
        """Where the good records with a tag are, and what is made of the first bytes of their bodies."""
        entries = self._records.entries
        found: list[tuple[int, _T]] = []
        damage: list[DamagedFileError] = []
        for at in entries["offset"][entries["tag"] == tag].tolist():
            try:
                found.append((at, self._read(at, tag, self._file.check_body, parse)))
            except DamagedFileError as error:
                damage.append(error.with_traceback(None))
        self.damage[tag] = damage
        return found

    def _content(self, at: int) -> bytes:
        if at in self._bombs:
            raise DamagedFileError(self._file.path, at, self._bombs[at])
        return self._read(at, b"BLOB", self._file.body, lambda body, _: content_of(*unpack_blob(body)))

    def _read(
        self, at: int, tag: bytes, read: Callable[[Header, int], bytes], parse: Callable[[bytes, Header], _T]
    ) -> _T:
        """What is made of a body, or of its start, and its header.

        Raises:
            DamagedFileError: the record is damaged or malformed.
        """
        header = self._file.header(at)
        if header is None or header.tag != tag or header.length > _LIMITS[tag]:
            raise DamagedFileError(self._file.path, at, f"a {tag.decode()} record whose header does not fit")
        body = read(header, at)
        try:
            return parse(body, header)
        except ValueError as error:
            raise DamagedFileError(self._file.path, at, str(error)) from error
