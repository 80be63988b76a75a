"""The rows between the stepping thread and the writer thread.

    slots   [ full ] -> [ open: rows 0 .. count - 1 are committed, row `count` is being filled ] -> [ free ] -> back

The stepping thread fills the open slot and hands it over when it is full; the writer thread may take the committed rows
of the open slot before that, from `taken` on. A row never moves, so none is torn. `count` belongs to the stepping
thread, `taken` to the writer thread; neither takes a lock.
"""

from __future__ import annotations

import queue
from collections.abc import Sequence
from typing import Any

import numpy as np

from simreel.errors import FieldError
from simreel.reel.latch import Latch
from simreel.reel.layout import Layout
from simreel.reel.limits import MAX_CHUNK_BYTES, items_bytes

__all__ = ["Full", "Ring", "Slot"]

# One is filled, one is written, one lets the writer fall behind for a moment. More only cost cache misses.
_SLOTS = 3


class Slot:
    """Room for the rows of a chunk."""

    __slots__ = (
        "buffer",
        "count",
        "first",
        "given",
        "matrix",
        "next",
        "parts",
        "ragged",
        "ragged_bytes",
        "rows",
        "taken",
        "views",
    )

    def __init__(self, layout: Layout, size: int) -> None:
        dtype = layout.row_dtype
        # The rows are packed in the file, but here each value of them must lie where MuJoCo can write to it.
        unit = max((field.dtype.itemsize for field in layout.fields if not field.ragged), default=1)
        stride = -(-dtype.itemsize // unit) * unit
        self.buffer = np.zeros(size * stride, np.uint8)
        self.rows: np.ndarray[Any, Any] = np.ndarray((size,), dtype, self.buffer, strides=(stride,))
        """(size,) of the layout's `row_dtype`."""
        self.matrix: np.ndarray[Any, Any] | None = None
        """(size, values of a row), where all are of one dtype."""
        if layout.is_uniform:
            common = next(field.dtype for field in layout.fields if not field.ragged)
            self.matrix = np.ndarray((size, stride // unit), common, self.buffer)
        self.views: Sequence[Any] = list(self.rows if self.matrix is None else self.matrix)
        """A view of each row."""
        self.parts: dict[tuple[str, str], Sequence[Any]] = {}
        """A view of part of each row, by the first and the last field of it."""
        self.first = 0
        """The number of the frame in its row 0."""
        self.count = 0
        """Rows that are committed."""
        self.taken = 0
        """Rows that the writer thread has."""
        self.ragged: dict[str, list[tuple[int, np.ndarray[Any, Any]]]] = {
            field.name: [] for field in layout.fields if field.ragged
        }
        """By field, the items (k, width) of each row that has some, and the number of the row, growing."""
        self.ragged_bytes = 0
        self.next = self
        self.given: Full | None = None
        """How it was handed over last."""

    def put_items(self, name: str, items: np.ndarray[Any, Any]) -> int:
        """Gives the row that is being filled its items of a ragged field, and returns the bytes of all its items."""
        have = self.ragged[name]
        if have and have[-1][0] == self.count:
            self.ragged_bytes -= items_bytes(have.pop()[1])
        have.append((self.count, items))
        self.ragged_bytes += items_bytes(items)
        return sum(items_bytes(each[-1][1]) for each in self.ragged.values() if each and each[-1][0] == self.count)

    def make_parts(self, layout: Layout, first: str, last: str) -> Sequence[Any]:
        """A view of fields `first` to `last` of each row, kept for the next time.

        Raises:
            UnknownNameError: there is no such field.
            FieldError: the fields do not stand together, or are not of one dtype.
        """
        fields = [field for field in layout.fields[layout.index(first) : layout.index(last) + 1] if not field.ragged]
        dtypes = {field.dtype for field in fields}
        if len(dtypes) != 1:
            found = f"fields of {len(dtypes)} dtypes" if fields else "no fixed field from the first to the last"
            raise FieldError(f"{first!r} to {last!r}", found, "fields of one dtype that stand together are needed")
        dtype = dtypes.pop()
        offset = layout.row_dtype.fields[fields[0].name][1]  # type: ignore[index]
        if offset % dtype.itemsize:
            found = f"byte {offset} of the row as its place"
            raise FieldError(
                f"{first!r}", found, f"a multiple of {dtype.itemsize} is needed: put the larger dtypes first"
            )
        width = sum(field.width for field in fields)
        strides = (self.rows.strides[0], dtype.itemsize)
        views: np.ndarray[Any, Any] = np.ndarray((len(self.rows), width), dtype, self.buffer, offset, strides)
        self.parts[first, last] = list(views)
        return self.parts[first, last]


class _NoSlot(Slot):
    """Stands where no slot is open: it has no row."""

    def __init__(self) -> None:
        super().__init__(Layout(()), 0)
        self.first = -1


class Full:
    """A slot that was handed over. Once more the same, after Ctrl-C in the middle, does nothing."""

    def __init__(self, slot: Slot) -> None:
        self.slot = slot
        self.first = slot.first
        self.done = Latch()
        """Set by the writer thread: it has all of it. Where the slot was handed over again, that counts."""

    @property
    def is_current(self) -> bool:
        """Whether the slot was not opened again since."""
        return self.slot.first == self.first


class Ring:
    """A few slots in turn, and the queue to the writer thread: one entry a slot, never one a frame.

    Args:
        layout: of the rows.
        chunk_size: rows of a slot, fewer where they would take more than a chunk may.
    """

    def __init__(self, layout: Layout, chunk_size: int) -> None:
        size = max(1, min(chunk_size, MAX_CHUNK_BYTES // max(1, layout.row_bytes)))
        slots = [Slot(layout, size) for _ in range(_SLOTS)]
        for slot, following in zip(slots, slots[1:] + slots[:1], strict=True):
            slot.next = following
        self.queue: queue.SimpleQueue[Any] = queue.SimpleQueue()
        """What the writer thread has to do, in order."""
        self.size = size
        self.open: Slot = slots[0]
        self.limit = size
        """At so many committed rows `commit` has more to do than count; 0: at once."""
        self._last = slots[0]
        self._none = _NoSlot()

    @property
    def frames(self) -> int:
        """Rows that were committed."""
        slot = self._last if self.open is self._none else self.open
        return slot.first + slot.count

    @property
    def last(self) -> tuple[Slot, int]:
        """Where the row that was committed last stands, until the next one is: its slot, and its number there."""
        slot = self.open if self.open.count else self._last
        return slot, slot.count - 1

    def renew(self) -> None:
        """Hands a full slot over and opens the next, when it is free. Ctrl-C at any place loses no row."""
        slot = self.open
        if slot is not self._none:
            if slot.count < min(self.limit, self.size):
                return
            # Ctrl-C may have come between a commit and this.
            slot.count = min(slot.count, self.size)
            self._last = slot
            slot.given = Full(slot)
            self.queue.put(slot.given)
            self.open = self._none
        self._none.count = 0
        following = self._last.next
        if following.given is not None:
            following.given.done.wait()
        following.first = self._last.first + self._last.count
        following.count = following.taken = following.ragged_bytes = 0
        for items in following.ragged.values():
            items.clear()
        self.limit = self.size
        self.open = following

    def shut(self) -> None:
        """Opens no slot any more."""
        if self.open is not self._none:
            self._last = self.open
        self.limit = 0
        self._none.count = 0
        self.open = self._none
