"""One plot in the window process: reads samples, has them drawn, shows and saves what is drawn."""

from __future__ import annotations

import importlib
import os
import time
import traceback
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from simreel.recorders.plots.channel import DONE, FAILED, Channel
from simreel.recorders.plots.plotter import Plotter, Samples

if TYPE_CHECKING:
    import numpy as np

    from simreel.recorders.encoder import Encoder
    from simreel.recorders.plots.surface import Surface

__all__ = ["Pane"]

# Between two drawings of a window [s]: 30 a second, beyond which nobody sees more.
_PERIOD = 1 / 30
# A plot that saves draws for so long [s] before others have their turn.
_SLICE = 1 / 60


class Pane:
    """A plot and its surface.

    Args:
        channel: from the simulation.
    """

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self._header = channel.header
        self._description = channel.description
        options = SimpleNamespace(**self._description["options"])
        self._history: int = getattr(options, "history_length", 1)
        self._has_window: bool = self._description["is_shown"]
        self.saves = self._description["video"] is not None
        """Whether each sample is a frame of a video."""
        self._dt: float = self._description["tags"]["dt"]
        self._options = options
        self._plotter: Plotter | None = None
        self._surface: Surface | None = None
        self._encoder: Encoder | None = None
        self._episode = -1
        self._drawn_at = 0.0
        self.is_over = False

    def turn(self) -> float | None:
        """Does what is to be done now; when there will be more [s, monotonic], None if not before the bell rings."""
        try:
            return self._turn()
        except BaseException as error:  # noqa: BLE001 - a plotter may raise anything; the other plots go on
            self.fail(error)
            return None

    def finish(self) -> None:
        """Draws what is left, and completes the video."""
        self._header.is_closing = 1
        while not self.is_over:
            self.turn()

    @property
    def needs_qt(self) -> bool:
        """Whether a Qt application must be there before its first turn."""
        return self._has_window or self._description["surface"] == "pyqtgraph"

    @property
    def is_new(self) -> bool:
        """Whether it was not drawn yet."""
        return self._plotter is None

    @property
    def reads(self) -> bool:
        """Whether samples are drawn when they come, and not only where a picture is asked for."""
        return self.saves or self._is_seen()

    @property
    def has_work(self) -> bool:
        """Whether a turn now would do something."""
        header = self._header
        asks = header.pictures_made != header.pictures_asked or header.is_closing
        return not self.is_over and bool(asks or (self.reads and header.tail != header.head))

    def _turn(self) -> float | None:
        header = self._header
        if self.is_over:
            return None
        due = self._save() if self.saves else self._show() if self._is_seen() else None
        if due is not None and self.saves:
            return due
        if header.pictures_made != header.pictures_asked:
            self._send_picture()
        # What is only shown ends with its window: nobody sees the last samples.
        if header.is_closing:
            self._close()
            return None
        return due

    # Two ways to read.

    def _save(self) -> float | None:
        header, until = self._header, time.monotonic() + _SLICE
        while (rows := self.channel.next_row()) is not None:
            self._draw(rows)
            assert self._surface is not None
            self._encode(self._surface.picture())
            header.tail += 1
            if header.sender_waits:
                self.channel.ring()
            if time.monotonic() >= until:
                return until
        return None

    def _show(self) -> float | None:
        header, now = self._header, time.monotonic()
        if header.tail == header.head:
            return None
        if now < self._drawn_at + _PERIOD:
            return self._drawn_at + _PERIOD
        if len(self._read()):
            assert self._surface is not None
            self._surface.paint()
        # From the end of this drawing on: one that takes long leaves time for others.
        self._drawn_at = time.monotonic()
        # Where samples come all the time it looks for them: a bell costs the simulation more.
        return self._drawn_at + _PERIOD

    def _read(self) -> np.ndarray[Any, Any]:
        header = self._header
        before = header.tail
        rows = self.channel.newest(self._history)
        if self._description["is_shown"]:
            header.lost += header.tail - before - len(rows)
        if len(rows):
            # Of an episode that has ended nothing is left to show.
            self._draw(rows[rows["episode"] == rows["episode"][-1]])
        return rows

    def _is_seen(self) -> bool:
        return self._has_window and (self._surface is None or self._surface.is_seen)

    def _draw(self, rows: np.ndarray[Any, Any]) -> None:
        columns = {key: rows[str(i)] for i, (key, _, _) in enumerate(self.channel.columns)}
        samples = Samples(rows["step"] * self._dt, columns, self._description["has_keys"])
        if self._plotter is None:
            self._setup(samples)
        elif rows["episode"][-1] != self._episode:
            self._plotter.restart()
        assert self._plotter is not None
        self._episode = rows["episode"][-1]
        self._plotter.draw(samples)

    def _setup(self, samples: Samples) -> None:
        from simreel.recorders.plots.surface import make_surface

        module, _, name = self._description["plotter"].partition(":")
        plotter: Plotter = getattr(importlib.import_module(module), name)(self._options)
        first = Samples(samples.times[:1], {k: v[:1] for k, v in samples.columns.items()}, samples.has_keys)
        kind, size = self._description["surface"], tuple(self._options.window_size)
        self._surface = make_surface(kind, size, has_window=self._has_window, is_fixed=self.saves)
        plotter.setup(self._surface.target, first)
        if self._has_window:
            self._surface.show(self._description["name"], self._note_closed)
        self._plotter = plotter

    def forgo_window(self) -> None:
        """Goes on without the window that it was to have: the display cannot be opened."""
        self._header.has_no_display = self._has_window
        self._has_window = False

    def _note_closed(self) -> None:
        self._header.is_window_closed = 1
        self._has_window = False

    # Pictures.

    def _encode(self, picture: np.ndarray[Any, Any]) -> None:
        if self._encoder is None:
            from simreel.recorders.encoder import Encoder

            self._encoder = Encoder(
                Path(self._description["video"]),
                None,
                Fraction(self._description["fps"]),
                title=self._options.title,
                tags=self._description["tags"],
                overwrite=self._options.overwrite,
            )
        self._encoder.add(picture)
        self._header.file_bytes = self._encoder.size

    def _send_picture(self) -> None:
        asked = self._header.pictures_asked
        self._read()
        assert self._surface is not None  # A picture is asked for when a sample was sent.
        picture = self._surface.picture()
        self._header.height, self._header.width = picture.shape[:2]
        self.channel.put_letter(picture[..., :3].tobytes())
        self._header.pictures_made = asked
        self.channel.ring()

    # The end.

    def _close(self) -> None:
        self.is_over = True
        if self._encoder is not None:
            self._encoder.close()
            self._header.file_bytes = self._encoder.size
        self._end(DONE)

    def fail(self, error: BaseException) -> None:
        """Ends it, and tells the simulation why."""
        self.is_over = True
        told = f"{type(error).__name__}: {error}"
        place = traceback.extract_tb(error.__traceback__)[-1]
        told += f" ({os.path.basename(place.filename)}, line {place.lineno})"
        if self._encoder is not None:
            try:
                self._encoder.close(error=told)
            except Exception as second:  # noqa: BLE001 - the first error is the one to tell
                told += f"; closing the video failed too: {second}"
        self.channel.put_letter(told.encode())
        self._end(FAILED)

    def _end(self, state: int) -> None:
        if self._surface is not None:
            self._surface.close()
        self._header.state = state
        self.channel.ring()
