"""The way of a plot's samples to the window process, and of a few words in both directions, through shared memory.

    | header, 4 KiB | description, JSON | ring of rows | letter: a picture, or the text of an error |

A row is the step of a sample, the number of its episode, and its values one after another, filled up to whole words.
The ring and the header are mapped by both sides; the letter is written and read as a file, since its size is not known
before. The memory has no name: it is gone with the last process that holds it.

Row i is in slot `i % capacity`. The sender writes one row after another and sets `head` after each: what lies
`capacity` or more behind the one after `head` may be overwritten while it is read, so the receiver looks again after it
has copied rows.

Each side has one end of a socket, the bell: it rings the other's where that has said that it waits. So a side that is
busy, stopped or gone costs the other no system call and no wait.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import socket
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from simreel.recorders.schema import Column

__all__ = ["DONE", "FAILED", "RUNNING", "Channel", "Header", "RowWriter", "row_type", "shared_memory"]

_HEADER_BYTES = 4096
# What is stored at once [bytes].
_WORD = 8
# Before the values of a row: its step and its episode [bytes].
_STAMP = 2 * _WORD
# A sender that overwrites all rows whenever they are read may have been stopped meanwhile: it is given up for now.
_TRIES = 100

RowWriter = Callable[[int, int, Any], None]
"""Takes the step, the number of the episode, and the values: an array, where there is a single column, or bytes,
those of all columns one after another."""
RUNNING, DONE, FAILED = range(3)
"""States of the receiver: it takes rows; it has taken the last one; it has failed, and the letter says how."""


class Header(ctypes.Structure):
    """What both sides know of each other; each field is written by one side, in one store of 8 bytes."""

    _fields_ = tuple((name, ctypes.c_int64) for name in (
        # Written by the sender.
        "description_bytes",
        "head",
        "is_closing",
        "pictures_asked",
        "sender_waits",
        # Written by the receiver.
        "tail",
        "lost",
        "pictures_made",
        "state",
        "is_window_closed",
        "has_no_display",
        "letter_bytes",
        "height",
        "width",
        "file_bytes",
        "receiver_waits",
    ))  # fmt: skip

    description_bytes: int
    head: int
    """Rows that are written."""
    is_closing: int
    """Whether no more rows will come."""
    pictures_asked: int
    sender_waits: int
    tail: int
    """Rows that the receiver needs no more."""
    lost: int
    """Of these, rows that a window did not show."""
    pictures_made: int
    state: int
    is_window_closed: int
    """Whether the user has closed the window."""
    has_no_display: int
    """Whether there was to be a window, and the display could not be opened."""
    letter_bytes: int
    height: int
    """Of the picture in the letter [px]."""
    width: int
    file_bytes: int
    """Bytes of the video."""
    receiver_waits: int


def shared_memory(nbytes: int) -> int:
    """A file without a name, of zeros, that takes memory only where it is written; its descriptor."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("simreel", os.MFD_CLOEXEC)
    else:
        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    os.ftruncate(fd, nbytes)
    return fd


def row_type(columns: Sequence[tuple[str, str, Sequence[int]]]) -> np.dtype[Any]:
    """The rows of columns (key, dtype, shape): fields "step" and "episode", and "0", "1", ... for the columns."""
    names, formats = ["step", "episode"], ["i8", "i8", *(f"{tuple(shape)}{dtype}" for _, dtype, shape in columns)]
    names += map(str, range(len(columns)))
    packed = np.dtype({"names": names, "formats": formats})
    return np.dtype({"names": names, "formats": formats, "itemsize": packed.itemsize + -packed.itemsize % _WORD})


class Channel:
    """One side's view; `create` makes it, and the other side opens it from its two descriptors.

    Args:
        memory: descriptor of the shared memory.
        bell: this side's end of the socket.
    """

    def __init__(self, memory: int, bell: socket.socket) -> None:
        self.memory = memory
        self.bell = bell
        bell.setblocking(False)
        size = os.fstat(memory).st_size
        self._map = mmap.mmap(memory, size)
        self.header = Header.from_buffer(self._map)
        end = _HEADER_BYTES + self.header.description_bytes
        self.description: dict[str, Any] = json.loads(self._map[_HEADER_BYTES:end])
        """What is to be plotted."""
        self.columns: list[tuple[str, str, list[int]]] = self.description["columns"]
        rows = row_type(self.columns)
        self.capacity: int = self.description["capacity"]
        self._rows_at = end
        self._value_bytes = sum(rows[str(i)].itemsize for i in range(len(self.columns)))
        self._rows: np.ndarray[Any, Any] = np.ndarray((self.capacity,), rows, self._map, end)
        self._letter_at = size

    @classmethod
    def create(
        cls, description: Mapping[str, Any], columns: Sequence[Column], capacity: int
    ) -> tuple[Channel, socket.socket]:
        """The sender's side, and the end of the bell for the receiver.

        Args:
            description: what the receiver is told, as JSON has it.
            columns: of the samples.
            capacity: rows that the ring holds.
        """
        named = [("data" if each.key is None else each.key, each.dtype.str, each.shape) for each in columns]
        text = json.dumps({**description, "columns": named, "capacity": capacity}).encode()
        # The rows start where any dtype is aligned.
        text += b" " * (-len(text) % 64)
        memory = shared_memory(_HEADER_BYTES + len(text) + capacity * row_type(named).itemsize)
        os.pwrite(memory, len(text).to_bytes(8, "little"), 0)
        os.pwrite(memory, text, _HEADER_BYTES)
        near, far = socket.socketpair()
        return cls(memory, near), far

    def close(self) -> None:
        """Lets go of the memory and the bell; the header stays as it is now."""
        self.bell.close()
        self.header = Header.from_buffer_copy(self.header)
        # The map goes with the last object that refers to it.
        del self._rows, self._map
        os.close(self.memory)

    # Rows.

    def write(self, steps: np.ndarray[Any, Any], episode: int, columns: Sequence[np.ndarray[Any, Any]]) -> None:
        """Writes some rows, for which there is room.

        Args:
            steps: (n,) int64.
            episode: the number of their episode.
            columns: (n, *shape) arrays, in the order of the description.
        """
        header, done = self.header, 0
        while done < len(steps):
            slot = (header.head + done) % self.capacity
            count = min(len(steps) - done, self.capacity - slot)
            target = self._rows[slot : slot + count]
            target["step"] = steps[done : done + count]
            target["episode"] = episode
            for i, column in enumerate(columns):
                target[str(i)] = column[done : done + count]
            done += count
        header.head += done

    def writer(self) -> RowWriter:
        """A function that writes a row, over the oldest where the ring is full, and rings the bell if it is waited for.

        Of a channel that has no row yet. It holds the memory, also after `close`.
        """
        memory, ring = self._map, self.ring
        # Of all ways to write the fewest instructions: after a step of the simulation the caches hold none of them.
        words = memoryview(memory)[: len(memory) & -_WORD].cast("q")
        names = [name for name, *_ in Header._fields_]
        head_at, waits_at = names.index("head"), names.index("receiver_waits")
        start, row_bytes = self._rows_at, self._rows.itemsize
        end, value_bytes = start + self.capacity * row_bytes, self._value_bytes
        head, at = 0, start

        def write(step: int, episode: int, values: Any) -> None:
            nonlocal head, at
            word, value = at // _WORD, at + _STAMP
            words[word] = step
            words[word + 1] = episode
            try:
                memory[value : value + value_bytes] = values
            except ValueError:  # An array that is not contiguous, such as an image upside down.
                memory[value : value + value_bytes] = values.tobytes()
            head += 1
            words[head_at] = head
            at += row_bytes
            if at == end:
                at = start
            if words[waits_at]:
                ring()

        return write

    def newest(self, count: int) -> np.ndarray[Any, Any]:
        """A copy of the newest rows that were not read yet, at most `count`; none of the others will be read."""
        header = self.header
        for _ in range(_TRIES):
            head = header.head
            first = max(header.tail, head - count)
            rows = self._copy(first, head)
            # Overwritten in the meantime, whole or in part.
            rows = rows[max(0, header.head + 1 - self.capacity - first) :]
            if len(rows) or first == head:
                header.tail = head
                return rows
        return rows

    def next_row(self) -> np.ndarray[Any, Any] | None:
        """A copy of the oldest row that was not read yet, (1,), or None; for a sender that waits for room."""
        header = self.header
        if header.tail == header.head:
            return None
        return self._copy(header.tail, header.tail + 1)

    def _copy(self, first: int, stop: int) -> np.ndarray[Any, Any]:
        if first == stop:
            return self._rows[:0].copy()
        start, end = first % self.capacity, (stop - 1) % self.capacity + 1
        if start < end:
            return self._rows[start:end].copy()
        return np.concatenate([self._rows[start:], self._rows[:end]])

    # Letters.

    def put_letter(self, content: bytes | memoryview) -> None:
        """Leaves some bytes for the sender."""
        os.pwrite(self.memory, content, self._letter_at)
        self.header.letter_bytes = len(content)

    def letter(self) -> bytes:
        """The bytes that the receiver has left."""
        return os.pread(self.memory, self.header.letter_bytes, self._letter_at)

    # Bells.

    def ring(self) -> None:
        """Wakes the other side."""
        # Full: it was rung often enough. Gone: whoever waits for an answer finds out.
        with suppress(OSError):
            self.bell.send(b"\0")

    def listen(self, timeout: float) -> None:
        """Returns when the bell rings, or after `timeout` [s]."""
        self.bell.settimeout(timeout)
        with suppress(OSError):
            self.bell.recv(1)
        self.bell.setblocking(False)
        self.hear()

    def hear(self) -> bool:
        """Stops the bell; whether the other side is still there."""
        try:
            while self.bell.recv(4096):
                pass
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False
