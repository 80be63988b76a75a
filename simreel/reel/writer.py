"""Writes a reel while the simulation runs."""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Literal, Self

import numpy as np

from simreel.errors import ClosedFileError, FieldError, MaxSizeError, SimreelError, WriteError
from simreel.reel import exiting
from simreel.reel.arguments import file_path, integer, mapping, positive
from simreel.reel.blob import BlobPacker
from simreel.reel.chunk_encoder import ChunkEncoder
from simreel.reel.codec import codec_for
from simreel.reel.growing import GrowingFile
from simreel.reel.head import Head
from simreel.reel.layout import Layout
from simreel.reel.limits import MAX_CHUNK_BYTES, MAX_FRAME_BYTES
from simreel.reel.ring import Ring
from simreel.reel.side import pack_side
from simreel.reel.sink import OverSizeError, Sink
from simreel.reel.worker import Flush, Record, Worker

__all__ = ["ReelWriter"]

# A record larger than this waits until it is written, and so does every one behind so many entries of the queue:
# memory is bounded.
_LARGE = 2**20
_MANY = 256


class ReelWriter:
    """Appends frames to a new reel. One thread may use it at a time.

    The rows go into a ring of a few chunks; a thread encodes and writes them. A chunk is written when it has
    `chunk_size` frames or 4 MiB, and at the latest 0.5 s after its first frame. A kill costs no more than that.

        with ReelWriter("run.reel", layout, dt=0.002) as writer:
            for _ in range(1000):
                row = writer.next_row()
                mujoco.mj_getState(model, data, row, signature)
                writer.commit()
                mujoco.mj_step(model, data)

    An error of the writing thread is raised once, by the next `commit`, `append`, `param`, `note`, `blob`, `flush` or
    `close`. The file is closed then, with all frames before it.

    Args:
        path: of the file.
        layout: the fields of a frame.
        dt: between two steps [s]; the codec predicts with it.
        chunk_size: the most frames in a chunk; 1 to 65536.
        codec: "phys1", "diff1" or "archive".
        blobs: payloads by name.
        meta: JSON for whoever reads the file.
        max_size: the most bytes that the file may have, everything counted. A chunk that would pass it is dropped.
        overwrite: whether a file of that name may be there; it waits as `name.old` until this one was closed well.
        fsync: bring the file to the disk every so many seconds, or after each "chunk".

    Raises:
        TargetExistsError: the file is there and `overwrite` is not set.
        TargetError: the file cannot be made.
        FieldError: an argument is not allowed.
        MaxSizeError: `max_size` leaves no room for a frame.
        WriteError: the disk is full.
    """

    _closed = True
    """Until the file is there."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        layout: Layout,
        *,
        dt: float = 1.0,
        chunk_size: int = 256,
        codec: str = "phys1",
        blobs: Mapping[str, bytes] | None = None,
        meta: Mapping[str, Any] | None = None,
        max_size: int | None = None,
        overwrite: bool = False,
        fsync: float | Literal["chunk"] = 2.0,
    ) -> None:
        self.path = file_path("path", path)
        self.layout = layout
        if not isinstance(layout, Layout):
            raise FieldError("layout", f"{type(layout).__name__}", "a Layout is needed")
        interval = None if fsync == "chunk" else positive("fsync", fsync, 'a number of seconds above 0 or "chunk"')
        encoding = codec_for(codec, layout, dt := positive("dt", dt, "a number of seconds above 0"))
        chunk_size = integer("chunk_size", chunk_size, 1, "a number of frames")
        if max_size is not None:
            max_size = integer("max_size", max_size, 1, "a number of bytes, or None,")
        head = Head(layout, dt, chunk_size, encoding.name, encoding.contract, mapping("meta", meta)).to_bytes()
        self._packer = BlobPacker()
        packed = [self._packer.pack(name, content) for name, content in mapping("blobs", blobs).items()]
        self._ring = Ring(layout, chunk_size)
        file, worker = GrowingFile(self.path, overwrite=overwrite), None
        try:
            sink = Sink(file, head, max_size)
            for body in packed:
                sink.append(b"BLOB", body)
            self._worker = worker = Worker(self._ring, ChunkEncoder(layout, encoding), sink, max_size, interval)
            worker.start()
            exiting.register(worker)
            self._pid = os.getpid()
            # At the interpreter's end `exiting` does this, and waits.
            self._collected = weakref.finalize(self, worker.end, is_orphan=True)
            self._collected.atexit = False
        except BaseException as error:
            if worker is not None:
                worker.end(is_unwanted=True)
            file.discard()
            if isinstance(error, OverSizeError):
                raise MaxSizeError(self.path, max_size or 0, 0) from None
            if isinstance(error, OSError):
                raise WriteError(self.path, str(error.strerror), 0) from error
            raise
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def frames(self) -> int:
        """Frames that were committed."""
        return self._ring.frames

    @property
    def written(self) -> int:
        """Frames that are in the file; the others are on their way."""
        return self._worker.frames

    @property
    def size(self) -> int:
        """Bytes of the file so far."""
        return self._worker.size

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    @property
    def error(self) -> SimreelError | None:
        """What ended the recording, whether it was raised yet or not."""
        return self._worker.error

    @property
    def threads(self) -> frozenset[int]:
        """Identifiers of the threads that write the file."""
        return self._worker.threads

    def next_row(self) -> Any:
        """The row to fill next, all of it: it may hold the values of an old one. `commit` makes it a frame.

        Returns:
            (values of a row,) array where all fields are of one dtype; else a structured row, with `row["qpos"][:] =`
            and `row["step"] =`. It may be written to until `commit`.

        Raises:
            ClosedFileError: the writer is closed.
        """
        slot = self._ring.open
        try:
            return slot.views[slot.count]
        except IndexError:
            self._turn("next_row")
            return self._ring.open.views[0]

    def next_part(self, first: str, last: str) -> Any:
        """Fields `first` to `last` of the row that `next_row` gives, which stand together in the layout.

            mujoco.mj_getState(model, data, writer.next_part("time", "userdata"), signature)

        Args:
            first: name of the first field.
            last: name of the last field.

        Returns:
            (values of these fields,) array, contiguous.

        Raises:
            UnknownNameError: there is no such field.
            FieldError: the fields are not of one dtype, or not aligned to it.
            ClosedFileError: the writer is closed.
        """
        slot = self._ring.open
        try:
            return slot.parts[first, last][slot.count]
        except (KeyError, IndexError):
            if slot.count >= len(slot.views):
                self._turn("next_part")
                slot = self._ring.open
            views = slot.parts.get((first, last)) or slot.make_parts(self.layout, first, last)
            return views[slot.count]

    def last_part(self, first: str, last: str) -> Any:
        """Fields `first` to `last` of the last frame, as `next_part` gave them; read it before the next `commit`.

        Args:
            first: name of the first field.
            last: name of the last field.

        Returns:
            (values of these fields,) array, contiguous.

        Raises:
            UnknownNameError: there is no such field.
            FieldError: the fields are not of one dtype, or not aligned to it.
        """
        slot, row = self._ring.last
        return (slot.parts.get((first, last)) or slot.make_parts(self.layout, first, last))[row]

    def commit(self) -> None:
        """Makes a frame of the row that `next_row` gave. Waits while the ring is full.

        Raises:
            MaxSizeError: the file may not become larger.
            WriteError: the file cannot be written.
            ClosedFileError: the writer is closed.
        """
        ring = self._ring
        slot = ring.open
        slot.count += 1
        if slot.count >= ring.limit:
            self._turn("commit")

    def ragged(self, name: str, items: Any) -> None:
        """Gives the items of a ragged field of the row that `next_row` gives; without this call there are none.

        Args:
            name: of the field.
            items: (k, width) array of its dtype; it is copied.

        Raises:
            UnknownNameError: there is no such field.
            FieldError: the field is not ragged, or the items do not fit it.
            ClosedFileError: the writer is closed.
        """
        field = self.layout[name]
        given = np.asarray(items)
        if not field.ragged:
            raise FieldError(f"field {name!r}", "items", "the field is not ragged: write to the row")
        if given.dtype != field.dtype or given.ndim != 2 or given.shape[1] != field.width:
            found = f"{given.dtype} array of shape {given.shape}"
            raise FieldError(f"field {name!r}", found, f"(items, {field.width}) of {field.dtype} is needed")
        if self._ring.open.count >= len(self._ring.open.views):
            self._turn("ragged")
        slot = self._ring.open
        nbytes = slot.put_items(name, given.copy())
        if self.layout.row_bytes + nbytes > MAX_FRAME_BYTES:
            slot.put_items(name, given[:0])
            raise FieldError(f"field {name!r}", f"{nbytes} bytes", f"a frame has at most {MAX_FRAME_BYTES}")
        if slot.ragged_bytes > MAX_CHUNK_BYTES:
            # The slot is full with this row.
            self._ring.limit = min(self._ring.limit, slot.count + 1)

    def append(self, block: Any) -> None:
        """Adds many frames. Items that `ragged` was given belong to the first; the others have none.

        Args:
            block: (n, values of a row) array where all fields are of one dtype, or (n,) of the layout's `row_dtype`.

        Raises:
            FieldError: the block does not fit the layout.
            MaxSizeError: the file may not become larger.
            WriteError: the file cannot be written.
            ClosedFileError: the writer is closed.
        """
        self._check("append")
        given, ring = np.asarray(block), self._ring
        is_structured = given.dtype.names is not None
        self._check_block(given)
        done = 0
        while done < len(given):
            slot = ring.open
            if slot.count >= len(slot.views):
                self._turn("append")
                slot = ring.open
            room = min(len(slot.views) - slot.count, len(given) - done)
            rows = slot.rows if slot.matrix is None or is_structured else slot.matrix
            rows[slot.count : slot.count + room] = given[done : done + room]
            done += room
            slot.count += room
            if slot.count >= ring.limit:
                self._turn("append")

    def _check_block(self, given: np.ndarray[Any, Any]) -> None:
        dtype: np.dtype[Any] = self.layout.row_dtype
        width: tuple[int, ...] = ()
        if given.dtype.names is None and self.layout.is_uniform:
            fixed = [field for field in self.layout.fields if not field.ragged]
            dtype, width = fixed[0].dtype, (sum(field.width for field in fixed),)
        if given.dtype != dtype or given.ndim < 1 or given.shape[1:] != width:
            found = f"{given.dtype} array of shape {given.shape}"
            raise FieldError("block", found, f"{dtype} of shape {('n', *width)} is needed")

    def param(self, arrays: Mapping[str, Any], *, frame: int | None = None, value: Any = None) -> None:
        """Stores parameters of the model that hold from a frame on.

        Args:
            arrays: by name; of the dtypes that fields may have.
            frame: the first that they hold for; None: the next one.
            value: JSON about them.

        Raises:
            FieldError: something cannot be stored.
            MaxSizeError: the file may not become larger.
            WriteError: the file cannot be written.
            ClosedFileError: the writer is closed.
        """
        self._post(b"PARM", pack_side(value, arrays, "param"), frame)

    def note(self, value: Any, *, frame: int | None = None, arrays: Mapping[str, Any] | None = None) -> None:
        """Stores JSON about a frame.

        Args:
            value: JSON.
            frame: the one that it is about; None: the next one.
            arrays: by name; of the dtypes that fields may have.

        Raises:
            FieldError: something cannot be stored.
            MaxSizeError: the file may not become larger.
            WriteError: the file cannot be written.
            ClosedFileError: the writer is closed.
        """
        self._post(b"NOTE", pack_side(value, arrays or {}, "note"), frame)

    def blob(self, name: str, content: bytes) -> None:
        """Stores a payload; a content that the file has already takes no room again.

        Args:
            name: any text. Of two payloads with one name the later counts.
            content: its bytes.

        Raises:
            FieldError: something cannot be stored.
            MaxSizeError: the file may not become larger.
            WriteError: the file cannot be written.
            ClosedFileError: the writer is closed.
        """
        self._post(b"BLOB", self._packer.pack(name, content), 0)

    def flush(self) -> None:
        """Returns when all frames that were committed, and all records, are with the operating system.

        Raises:
            MaxSizeError: the file may not become larger.
            WriteError: the file cannot be written.
            ClosedFileError: the writer is closed.
        """
        self._check("flush")
        mark = Flush()
        self._ring.queue.put(mark)
        mark.done.wait()
        self._tell()

    def close(self) -> None:
        """Writes what is left and closes the file; twice is fine.

        Raises:
            MaxSizeError: the file may not become larger.
            WriteError: the file cannot be written.
        """
        if self._is_foreign:
            return
        if not self._closed:
            self._worker.end()
            self._closed = True
        # Again after Ctrl-C: the file is not closed before.
        self._worker.join()
        self._ring.shut()
        self._collected.detach()
        self._tell()

    def discard(self) -> None:
        """Ends the file and removes it, also after `close`; an old one that waits has its name again."""
        if self._is_foreign:
            return
        if not self._closed:
            self._worker.end(is_unwanted=True)
            self._closed = True
        self._worker.join()
        self._ring.shut()
        self._collected.detach()
        self._worker.discard()

    @property
    def _is_foreign(self) -> bool:
        return self._pid != os.getpid()

    def _post(self, tag: bytes, body: list[bytes], frame: int | None) -> None:
        self._check("writing a record")
        first = self.frames if frame is None else integer("frame", frame, 0, "the number of a frame, 0 or more,")
        record = Record(tag, body, first)
        self._ring.queue.put(record)
        if sum(map(len, body)) > _LARGE or self._ring.queue.qsize() > _MANY:
            record.done.wait()
            self._tell()

    def _turn(self, call: str) -> None:
        self._check(call)
        self._ring.renew()
        # It may have come while this waited for a free slot.
        self._tell()

    def _check(self, call: str) -> None:
        self._tell()
        if self._is_foreign:
            raise ClosedFileError(self.path, call, "this process was forked from the one that writes the file")
        if self._closed:
            raise ClosedFileError(self.path, call)
        if self._worker.error is not None:
            raise ClosedFileError(self.path, call, f"an error ended the recording ({self._worker.error})")

    def _tell(self) -> None:
        error = self._worker.take_error()
        if error is not None:
            raise error
