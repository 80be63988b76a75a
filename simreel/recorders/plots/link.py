"""A plot's samples and questions on their way to the window process, and what became of them."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simreel.errors import PlotError
from simreel.recorders.plots.channel import FAILED, RUNNING, Channel, Header, RowWriter
from simreel.recorders.plots.window import Window, WindowGoneError, warn

__all__ = ["Link"]

logger = logging.getLogger("simreel")

Array = np.ndarray[Any, Any]


class Link:
    """Used by the worker of a recorder; of a plot that only shows, the stepping thread sends the samples and looks.

    Args:
        label: how messages name the plot.
        window: the process.
        channel: to it.
        far: the far end of the channel's bell.
    """

    def __init__(self, label: str, window: Window, channel: Channel, far: socket.socket) -> None:
        self._label = label
        self._window = window
        self._channel = channel
        self._saves = channel.description["video"] is not None
        self.write: RowWriter = channel.writer()
        """Sends a sample to a plot that only shows, without a wait; after `close` to nobody."""
        self._refused = 0
        self._is_gone = False
        self._has_told = False
        self._has_raised = False
        window.adopt(channel, far)

    @property
    def _header(self) -> Header:
        return self._channel.header

    @property
    def sent(self) -> int:
        """Samples that were sent."""
        return self._header.head

    @property
    def lost(self) -> int:
        """Samples that were not drawn: newer ones took their place, or the window is gone."""
        is_over = self._is_gone or (self._header.is_window_closed and not self._saves)
        return self._header.lost + self._refused + is_over * (self._header.head - self._header.tail)

    @property
    def file_bytes(self) -> int:
        """Bytes of the video."""
        return self._header.file_bytes

    def send(self, steps: Array, episode: int, columns: Sequence[Array]) -> None:
        """Sends all of some samples, to a plot that saves them.

        Args:
            steps: (n,) int64.
            episode: the number of their episode.
            columns: (n, *shape) arrays.

        Raises:
            PlotError: the plotter failed.
        """
        n, done = len(steps), 0
        if self.look():
            while done < n and self._wait(lambda: self._room() > 0):
                stop = min(n, done + self._room())
                self._channel.write(steps[done:stop], episode, [column[done:stop] for column in columns])
                if self._header.receiver_waits:
                    self._channel.ring()
                done = stop
        self._refused += n - done

    def look(self) -> bool:
        """Tells what became of the window; whether somebody draws what is sent.

        Raises:
            PlotError: the plotter failed.
        """
        self._raise_failure()
        header = self._header
        if header.has_no_display and not self._has_told:
            self._has_told = True
            logger.info("%s: no window: the display cannot be opened", self._label)
        if header.is_window_closed and not self._has_told:
            self._has_told = True
            warn(f"{self._label}: its window was closed; the simulation goes on")
        if not self._is_gone and not self._window.is_alive:
            self._give_up(WindowGoneError(self._window.ending))
        return not self._is_gone and (self._saves or not header.is_window_closed)

    def picture(self) -> Array:
        """What the plot shows of the samples that were sent, (H, W, 3) uint8.

        Raises:
            PlotError: the plotter failed, or the process is gone.
        """
        header = self._header
        header.pictures_asked += 1
        self._channel.ring()
        if not self._wait(lambda: header.pictures_made == header.pictures_asked):
            raise PlotError(self._label, "the window process is gone")
        pixels = np.frombuffer(self._channel.letter(), np.uint8)
        return pixels.reshape(header.height, header.width, 3).copy()

    def close(self) -> None:
        """Has the plot completed; returns when its video is.

        Raises:
            PlotError: the plotter failed, or the video cannot be completed.
        """
        header = self._header
        header.is_closing = 1
        self._channel.ring()
        try:
            if not self._saves:
                self.look()
                if self._window.is_stopped:
                    self._give_up(WindowGoneError("the window process is stopped"))
            # One that was given up may run again; of one that is stopped still, it is known.
            elif header.state == RUNNING and not (self._is_gone and self._window.is_stopped):
                self._wait(lambda: header.state != RUNNING)
            self._raise_failure()
        finally:
            self.write = _drop
            self._channel.close()

    def _room(self) -> int:
        return self._channel.capacity - (self._header.head - self._header.tail)

    def _wait(self, reached: Callable[[], bool]) -> bool:
        """Waits for the process; False where it is gone or given up."""
        try:
            self._window.wait(self._channel, lambda: reached() or self._header.state == FAILED)
        except WindowGoneError as error:
            self._give_up(error)
            return False
        self._raise_failure()
        return True

    def _give_up(self, error: WindowGoneError) -> None:
        self._is_gone = True
        self._header.is_closing = 1
        self._window.warn_once(str(error))

    def _raise_failure(self) -> None:
        if self._header.state == FAILED and not self._has_raised:
            self._has_raised = True
            raise PlotError(self._label, self._channel.letter().decode())


def _drop(step: int, episode: int, values: Any) -> None:
    """A row that comes after the end."""
