"""Keeps the decoded fields of chunks that were used last, up to a number of bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, Protocol

__all__ = ["Cache"]


class _Sized(Protocol):
    @property
    def nbytes(self) -> int: ...


class Cache:
    """Values by key, the least recently used dropped first. Threads may share it.

    Args:
        limit: of all values together; one that is larger alone is not kept [bytes].
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: OrderedDict[tuple[int, int], _Sized] = OrderedDict()
        self._lock = threading.Lock()
        self.nbytes = 0
        """Of all values."""

    def get(self, key: tuple[int, int]) -> Any:
        """The value, or None."""
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
            return value

    def put(self, key: tuple[int, int], value: _Sized) -> None:
        """Keeps a value."""
        with self._lock:
            old = self._values.pop(key, None)
            self.nbytes += value.nbytes - (old.nbytes if old is not None else 0)
            self._values[key] = value
            while self.nbytes > self._limit:
                self.nbytes -= self._values.popitem(last=False)[1].nbytes

    def reset(self) -> None:
        """In a forked child: a thread that it does not have may hold the lock, in the middle of a change."""
        self._lock = threading.Lock()
        self._values = OrderedDict()
        self.nbytes = 0
