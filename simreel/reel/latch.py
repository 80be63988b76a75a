"""An event to wait for that Ctrl-C leaves whole, wherever it comes."""

from __future__ import annotations

import threading
from contextlib import suppress

__all__ = ["Latch"]


class Latch:
    """What the writer thread sets, once, and the stepping thread waits for.

    The parts of `threading.Event` are written in Python: Ctrl-C within them leaves its lock taken, and then nobody can
    set it or wait for it any more. Here there is no lock that anybody holds: it only wakes.
    """

    __slots__ = ("_bell", "_is_set")

    def __init__(self) -> None:
        self._is_set = False
        # A release is kept until somebody acquires, so none is missed on the way to sleep.
        self._bell = threading.Lock()
        self._bell.acquire()

    def is_set(self) -> bool:
        """Whether it is set."""
        return self._is_set

    def set(self) -> None:
        """Lets all go on."""
        self._is_set = True
        self._ring()

    def wait(self) -> None:
        """Returns when it is set."""
        try:
            if not self._is_set:
                self._bell.acquire()
        finally:
            # For others who wait.
            if self._is_set:
                self._ring()

    def _ring(self) -> None:
        # Rung already, and not heard yet, where it is not locked; or by another thread just now.
        if self._bell.locked():
            with suppress(RuntimeError):
                self._bell.release()
