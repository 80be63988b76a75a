"""Reads and decodes the chunks of a reel, and remembers which are damaged."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from simreel.errors import DamagedFileError
from simreel.reel.cache import Cache
from simreel.reel.chunk import stream_places, unpack_directory
from simreel.reel.chunk_encoder import COUNTS
from simreel.reel.codec import Codec, CodecError, codec_for
from simreel.reel.limits import MAX_CHUNK_BYTES, items_bytes, raw_limit

if TYPE_CHECKING:
    from simreel.reel.chunk_table import ChunkTable
    from simreel.reel.file import ReelFile
    from simreel.reel.head import Head

__all__ = ["CACHE_BYTES", "ChunkStore", "Items"]

CACHE_BYTES = 64 * 2**20
# Chunks decoded at once where many follow, if all of them take no more than a large one: each call of numpy has more
# values to work on then. With larger rows [bytes] it has enough.
_TOGETHER = 16
_SMALL_ROW = 32 * 2**10

_T = TypeVar("_T")


@dataclass(frozen=True)
class Items:
    """A ragged field of a chunk: row i has `values[starts[i] : starts[i + 1]]`."""

    starts: np.ndarray[Any, Any]
    """(n + 1,) int64."""
    values: np.ndarray[Any, Any]
    """(items, width)."""

    @property
    def nbytes(self) -> int:
        """Of both arrays."""
        return int(self.starts.nbytes + self.values.nbytes)

    def __getitem__(self, key: int | slice) -> Any:
        if isinstance(key, slice):
            return [self[row].copy() for row in range(len(self.starts) - 1)[key]]
        return self.values[self.starts[key] : self.starts[key + 1]]


class ChunkStore:
    """The decoded fields of chunks. Threads may share it.

    Args:
        file: of the chunks.
        head: what the file says of them.
        table: where they are.
    """

    def __init__(self, file: ReelFile, head: Head, table: ChunkTable) -> None:
        self.damage: dict[int, str] = {}
        """Why a chunk cannot be read, for those that were tried."""
        self._file = file
        self._head = head
        self._table = table
        self._cache = Cache(CACHE_BYTES)
        _stores.add(self)
        self._first_streams = stream_places([field.ragged for field in head.layout.fields])

    @cached_property
    def _codec(self) -> Codec:
        return codec_for(self._head.codec, self._head.layout, self._head.dt)

    def columns(self, chunk: int, fields: Sequence[int], ahead: int = 0) -> dict[int, Any]:
        """Fields of a chunk: by number, (n, width) array, read-only, or `Items` of a ragged one.

        Args:
            chunk: its number.
            fields: numbers of fields.
            ahead: so many chunks after it are asked for next.

        Raises:
            DamagedFileError: the chunk cannot be read.
        """
        found = {field: self._cache.get((chunk, field)) for field in fields}
        missing = [field for field, column in found.items() if column is None]
        if missing and ahead + 1 >= _TOGETHER:
            found |= self._decode_together(range(chunk, chunk + _TOGETHER), missing)
            missing = [field for field, column in found.items() if column is None]
        if missing:
            decoded = self._decode(chunk, missing)
            for field, column in decoded.items():
                self._cache.put((chunk, field), column)
            found |= decoded
        return found

    def check(self, chunk: int) -> bool:
        """Whether a chunk is as it was written. Reads all of it, decodes nothing."""
        if chunk not in self.damage:
            try:
                self._body(chunk)
            except DamagedFileError:
                return False
        return chunk not in self.damage

    def sizes(self, chunk: int) -> list[tuple[int, int]]:
        """Bytes of each field of a chunk, decoded and encoded.

        Raises:
            DamagedFileError: the chunk cannot be read.
        """
        fields, count = self._head.layout.fields, self._table.counts[chunk]
        stored = self._parse(chunk, lambda view, places: [stop - start for start, stop in places])
        sizes = []
        for number, field in enumerate(fields):
            first = self._first_streams[number]
            raw = count * field.nbytes
            if field.ragged:
                raw = count * COUNTS.nbytes + self.columns(chunk, [number])[number].values.nbytes
            sizes.append((raw, sum(stored[first : first + 1 + field.ragged])))
        return sizes

    def _body(self, chunk: int) -> bytes:
        at = self._table.offsets[chunk]
        if chunk in self.damage:
            raise DamagedFileError(self._file.path, at, self.damage[chunk])
        try:
            header = self._file.header(at)
            if header is None or header._replace(flags=0) != self._table.header(chunk):
                raise DamagedFileError(self._file.path, at, "a CHNK record whose header does not fit")
            return self._file.body(header, at)
        except DamagedFileError as error:
            self.damage[chunk] = error.found
            raise

    def _parse(self, chunk: int, parse: Callable[[memoryview, list[tuple[int, int]]], _T]) -> _T:
        """What is made of a body and the places of its streams."""
        body = self._body(chunk)
        try:
            return parse(memoryview(body), unpack_directory(body, len(body), self._head.streams))
        except ValueError as error:
            # Its checksum fits: it was written like that.
            at = self._table.offsets[chunk]
            raise DamagedFileError(self._file.path, at, f"a chunk that cannot be decoded ({error})") from error

    def _decode(self, chunk: int, wanted: Sequence[int]) -> dict[int, Any]:
        fields, count = self._head.layout.fields, self._table.counts[chunk]
        row_bytes = self._head.layout.row_bytes
        fixed = [field for field in wanted if not fields[field].ragged]
        needed = {*fixed, *(other for field in fixed for other in self._codec.needs(field))}

        def decode(view: memoryview, places: list[tuple[int, int]]) -> dict[int, Any]:
            streams = self._streams(needed, view, places)
            decoded: dict[int, Any] = dict(self._codec.decode(streams, count, fixed)) if fixed else {}
            for column in decoded.values():
                column.flags.writeable = False
            # What the ragged fields of the chunk may take together.
            room = raw_limit(count, row_bytes, has_ragged=True) - count * row_bytes
            for field in wanted:
                if fields[field].ragged:
                    first = self._first_streams[field]
                    counts, items = (view[slice(*place)] for place in places[first : first + 2])
                    decoded[field] = self._decode_items(field, count, counts, items, room)
                    room -= items_bytes(decoded[field].values)
            return {field: decoded[field] for field in wanted}

        return self._parse(chunk, decode)

    def _decode_together(self, chunks: range, wanted: Sequence[int]) -> dict[int, Any]:
        """Has the cache hold fixed fields of chunks, and gives those of the first; none where one chunk is damaged."""
        layout, span = self._head.layout, slice(chunks.start, chunks.stop)
        fixed = [field for field in wanted if not layout.fields[field].ragged]
        needed = {*fixed, *(other for field in fixed for other in self._codec.needs(field))}
        count = self._table.counts[chunks.start]
        nbytes = len(chunks) * count * sum(layout.fields[field].nbytes for field in needed)
        is_small = max(nbytes, sum(self._table.lengths[span])) <= MAX_CHUNK_BYTES and layout.row_bytes <= _SMALL_ROW
        if not fixed or not is_small or set(self._table.counts[span]) != {count}:
            return {}
        try:
            streams = [self._parse(chunk, partial(self._streams, needed)) for chunk in chunks]
            decoded = self._codec.decode_many(streams, count, fixed)
        except (DamagedFileError, CodecError):
            # The chunk alone tells which.
            return {}
        for chunk, columns in zip(chunks, decoded, strict=True):
            for field, column in columns.items():
                column.flags.writeable = False
                self._cache.put((chunk, field), column)
        return decoded[0]

    def _streams(self, fields: Iterable[int], view: memoryview, places: list[tuple[int, int]]) -> dict[int, memoryview]:
        return {field: view[slice(*places[self._first_streams[field]])] for field in fields}

    def _decode_items(self, number: int, count: int, counts: memoryview, items: memoryview, room: int) -> Items:
        field = self._head.layout.fields[number]
        sizes = self._codec.decode_ragged(COUNTS, counts, count).reshape(count)
        total = int(sizes.sum(dtype=np.int64))
        if (sizes < 0).any() or total * max(1, field.nbytes) > room:
            raise ValueError(f"{total} items of field {field.name!r}, more than a chunk may have")
        values = self._codec.decode_ragged(field, items, total)
        values.flags.writeable = False
        return Items(np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]), values)


_stores: weakref.WeakSet[ChunkStore] = weakref.WeakSet()


def _reset_all() -> None:
    for store in list(_stores):
        store._cache.reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_all)
