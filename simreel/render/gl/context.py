"""A GL context of one thread, whichever library makes it."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING

from simreel.render.errors import RenderError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["GLContext", "Owner"]


class Owner:
    """The thread and process that something belongs to.

    The numbers of threads are used again, so a thread is known by an object in a thread-local place.
    """

    _here = threading.local()

    def __init__(self) -> None:
        # What other threads left for this one to free; its identity is the mark.
        self._mark = self._mark_here()
        self._pid = os.getpid()
        self.name = threading.current_thread().name

    @classmethod
    def _mark_here(cls) -> deque[Callable[[], None]]:
        if not hasattr(cls._here, "mark"):
            cls._here.mark = deque()
        mark: deque[Callable[[], None]] = cls._here.mark
        return mark

    @classmethod
    def collect(cls) -> None:
        """Frees what other threads left for this one."""
        mark = cls._mark_here()
        while mark:
            mark.popleft()()

    def leave(self, free: Callable[[], None]) -> None:
        """Leaves something for that thread to free; it never is where the thread has ended or is of another process."""
        if self._pid == os.getpid():
            self._mark.append(free)

    def is_here(self) -> bool:
        """Whether the caller is that thread; a forked child is another one."""
        return self._pid == os.getpid() and self._mark is self._mark_here()

    def check(self) -> None:
        """Refuses any other thread.

        Raises:
            RenderError: the caller is another thread or process.
        """
        if self._pid != os.getpid():
            raise RenderError("the renderer belongs to the process that this one was forked from: make one here")
        if not self.is_here():
            here = threading.current_thread().name
            raise RenderError(
                f"the renderer belongs to the thread {self.name!r} and was used on {here!r}: "
                "make, use and close a renderer on one thread"
            )


class GLContext(ABC):
    """A GL context without a window. Made, used and freed on one thread, which the caller sees to."""

    is_software: bool
    """Whether the processor draws."""

    max_side: int
    """The largest width or height of a picture [pixels]."""

    @contextmanager
    def current(self) -> Iterator[None]:
        """Makes the context current for a `with` block, and the one that was current before after it."""
        previous = self._enter()
        try:
            yield
        finally:
            self._leave(previous)

    @abstractmethod
    def _enter(self) -> object:
        """Makes the context current; returns what `_leave` needs to make the previous one current again."""

    @abstractmethod
    def _leave(self, previous: object) -> None:
        """Makes the previous context current again; where there was none, this one may stay."""

    @abstractmethod
    def free(self) -> None:
        """Gives the context back; it is not current any more."""
