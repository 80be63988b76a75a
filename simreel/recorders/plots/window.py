"""The window process, from the simulation's side: one for all plots of a scene."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar

from simreel.errors import PlotError, SimreelWarning
from simreel.recorders.plots.pulse import Pulse

if TYPE_CHECKING:
    from simreel.recorders.plots.channel import Channel

__all__ = ["Window", "WindowGoneError", "has_display", "warn"]

logger = logging.getLogger("simreel")

# A process that stands still for so long [s] while a plot waits for its turn is given up: it is stopped, or hangs.
_PATIENCE = 1.0
# One that computes, or waits for a processor, has more: a busy machine is no reason, an endless loop is.
_PATIENCE_BUSY = 10.0
# Both are longer where the longest turn was, by this factor.
_LONGER = 10.0
# In the first turn of a plot libraries are imported, and all fonts of the system may be read [s].
_PATIENCE_FIRST = 60.0
# How often a wait looks whether the process lives, where no bell rings [s].
_LOOK = 0.05


def has_display() -> bool:
    """Whether windows can be shown, as far as the environment tells."""
    if not sys.platform.startswith("linux"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def warn(text: str) -> None:
    """Warns from a worker, where a warning that is made an error must not end the recorder."""
    try:
        warnings.warn(text, SimreelWarning, stacklevel=3)
    except SimreelWarning:
        logger.warning(text)


class WindowGoneError(Exception):
    """The process ended, or is given up; never raised to a user."""


class Window:
    """A process that draws plots, started at once, in a session of its own.

    Started as a program, not by multiprocessing, which would run an unguarded script again.
    """

    _of: ClassVar[weakref.WeakKeyDictionary[Any, Window]] = weakref.WeakKeyDictionary()

    @classmethod
    def of(cls, owner: object) -> Window:
        """The process of a recorder manager, started where none runs; end the use of it by `release`."""
        window = cls._of.get(owner)
        if window is None or not window._use():
            window = cls._of[owner] = cls()
        return window

    def __init__(self) -> None:
        self._users = 1
        self._videos: list[str] = []
        self._lock = threading.Lock()
        self._warned = False
        self._control, far = socket.socketpair()
        self._control.setblocking(False)
        memory, self._pulse = Pulse.create()
        try:
            self._process = subprocess.Popen(
                # -P: no module beside the script, or in the current folder, hides one of ours before the path is set.
                [sys.executable, "-P", "-c", _program(), str(far.fileno()), str(memory), str(os.getpid())],
                pass_fds=(far.fileno(), memory),
                stdin=subprocess.DEVNULL,
                stdout=_stderr(),
                env=_environment(),
                start_new_session=True,
            )
        except OSError as error:
            self._control.close()
            raise PlotError("the window process", f"it cannot be started ({error})") from error
        finally:
            far.close()
            os.close(memory)

    def _use(self) -> bool:
        """Has one more plot use it; whether it can."""
        with self._lock:
            is_usable = self._users > 0 and self.is_alive
            self._users += is_usable
            return is_usable

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    @property
    def is_stopped(self) -> bool:
        """Whether a signal has stopped the process, where the system tells."""
        return self._state() == "T"

    def _state(self) -> str:
        """R running or ready to, T stopped, others waiting; empty where the system does not tell."""
        try:
            with open(f"/proc/{self._process.pid}/stat", "rb") as file:
                return chr(file.read().rpartition(b")")[2].split()[0][0])
        except OSError:
            return ""

    @property
    def ending(self) -> str:
        """How the process ended."""
        status = self._process.returncode
        return f"the window process ended {f'by signal {-status}' if status < 0 else f'with status {status}'}"

    def adopt(self, channel: Channel, far_bell: socket.socket) -> None:
        """Hands the far side of a channel to the process."""
        if channel.description["video"] is not None:
            self._videos.append(os.path.basename(channel.description["video"]))
        # A process that is gone is told of by whoever waits for it.
        with far_bell, suppress(OSError):
            socket.send_fds(self._control, [b"\0"], [channel.memory, far_bell.fileno()])

    def wait(self, channel: Channel, reached: Callable[[], bool]) -> None:
        """Returns when the process has done what `reached` asks for.

        Raises:
            WindowGoneError: it ended, or did nothing for so long that it is given up.
        """
        pulse, header = self._pulse, channel.header
        turns, looked = pulse.turns, time.monotonic()
        state, waited, still = "", 0.0, 0.0
        while not reached():
            if not self.is_alive:
                raise WindowGoneError(self.ending)
            before, state, now = state, self._state(), time.monotonic()
            # What is beyond has passed while this process did not run: the whole job may have been stopped.
            passed, looked = min(now - looked, 2 * _LOOK), now
            waited += passed
            if pulse.turns != turns:
                turns, waited, still = pulse.turns, 0.0, 0.0
            elif state != "R":
                still += passed
            # Seen twice: the other one may be about to go on.
            if state == before == "T" and still > _PATIENCE:
                raise WindowGoneError("the window process is stopped")
            least = _LONGER * pulse.longest_us * 1e-6
            if pulse.is_first or not turns:
                is_over = waited > _PATIENCE_FIRST
            else:
                is_over = still > max(_PATIENCE, least) or waited > max(_PATIENCE_BUSY, least)
            if is_over:
                raise WindowGoneError(f"the window process has drawn nothing for {waited:.1f} s")
            header.sender_waits = 1
            if not reached():
                channel.listen(_LOOK)
            header.sender_waits = 0

    def warn_once(self, reason: str) -> None:
        """Warns that the process is gone, once for all its plots."""
        with self._lock:
            is_first, self._warned = not self._warned, True
        if is_first:
            ends = f" {', '.join(self._videos)} end{'s' * (len(self._videos) == 1)} there." if self._videos else ""
            warn(f"{reason}: its plots are not shown any more.{ends} The simulation goes on")

    def release(self) -> None:
        """Ends the process with the last plot that uses it."""
        with self._lock:
            self._users -= 1
            if self._users:
                return
        self._control.close()
        # All videos are complete, and it may not listen.
        self._process.kill()
        self._process.wait()
        self._pulse = Pulse()

    def forget(self) -> None:
        """Lets go of the process, which belongs to the parent of this one."""
        self._control.close()
        # What Popen says of a process that its object outlives does not hold for the process of another.
        self._process.returncode = 0


def _program() -> str:
    path = [folder or os.getcwd() for folder in sys.path]
    return f"import sys; sys.path[:] = {path!r}; from simreel.recorders.plots.host import main; main(sys.argv[1:])"


def _environment() -> dict[str, str]:
    environment = {**os.environ, "QT_API": "pyside6", "PYQTGRAPH_QT_LIB": "PySide6"}
    # It may name a backend that only the parent has, such as that of a notebook.
    environment.pop("MPLBACKEND", None)
    return environment


def _stderr() -> int:
    try:
        os.fstat(2)
    except OSError:
        return subprocess.DEVNULL
    return 2
