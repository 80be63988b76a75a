"""The window process: takes in plots, gives each its turn, and ends with the last one or with its parent."""

from __future__ import annotations

import ctypes
import os
import selectors
import signal
import socket
import sys
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from simreel.recorders.plots.pulse import Pulse

if TYPE_CHECKING:
    from simreel.recorders.plots.pane import Pane

__all__ = ["main"]

# How often it looks for its parent [s].
_WATCH = 0.5
# Time to complete the videos of a parent that is gone [s].
_LAST_WORK = 10.0
# A turn without a reason [s]: a window may have become visible.
_IDLE = 0.25
_NICE = 5
_PR_SET_PDEATHSIG = 1


def main(arguments: Sequence[str]) -> None:
    """Runs until the simulation needs no plot any more.

    Args:
        arguments: descriptors of the control socket and the pulse, and the number of the parent.
    """
    control, pulse, parent = map(int, arguments)
    # Where there are not cores enough for both, the simulation goes first.
    os.nice(_NICE)
    _watch(parent)
    Host(socket.socket(fileno=control), Pulse.open(pulse)).run()
    # Nothing is left to save, and whatever Qt would still take apart takes time.
    sys.stderr.flush()
    os._exit(0)


def _watch(parent: int) -> None:
    """Ends this process when its parent is gone, whatever it does."""
    if sys.platform.startswith("linux"):
        # A process that is stopped does not see that its parent is gone.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGCONT)

    def run() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH)
        time.sleep(_LAST_WORK)
        os._exit(1)

    threading.Thread(target=run, daemon=True).start()


class Host:
    """All plots of a scene.

    Args:
        control: brings the plots; its end is that of this process.
        pulse: tells the simulation that this process goes on.
    """

    def __init__(self, control: socket.socket, pulse: Pulse) -> None:
        self._pulse = pulse
        self._control = control
        control.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(control, selectors.EVENT_READ)
        self._panes: list[Pane] = []
        self._application: Any = None
        self.is_over = False

    def run(self) -> None:
        """Gives the plots their turns until the end."""
        while not self.is_over and self._application is None:
            self._selector.select(self.turn())
        if not self.is_over:
            self._run_qt()

    def turn(self) -> float:
        """Has each plot do what is to be done; how long until there is more, unless a bell rings before [s]."""
        for pane in self._panes:
            pane.channel.header.receiver_waits = 0
        for key, _ in self._selector.select(0):
            if key.fileobj is self._control:
                self._take_in()
            else:
                key.data.hear()
        dues = {}
        for pane in self._panes:
            with self._pulse.turn(is_first=pane.is_new):
                dues[pane] = pane.turn()
        self._pulse.turns += 1
        for pane in [pane for pane in self._panes if pane.is_over]:
            self._selector.unregister(pane.channel.bell)
            pane.channel.close()
            self._panes.remove(pane)
        now, delay = time.monotonic(), _IDLE
        for pane in self._panes:
            due = dues[pane]
            if due is not None:
                delay = min(delay, max(0.0, due - now))
                continue
            pane.channel.header.receiver_waits = pane.reads
            # What came before that has not rung.
            if pane.has_work:
                return 0.0
        return delay

    def _take_in(self) -> None:
        from simreel.recorders.plots.channel import Channel
        from simreel.recorders.plots.pane import Pane

        while True:
            try:
                said, descriptors, _, _ = socket.recv_fds(self._control, 1, 2)
            except BlockingIOError:
                return
            except OSError:
                said = b""
            if not said:
                self.is_over = True
                for pane in self._panes:
                    pane.finish()
                return
            memory, bell = descriptors
            pane = Pane(Channel(memory, socket.socket(fileno=bell)))
            if pane.needs_qt:
                self._need_qt(pane)
            self._panes.append(pane)
            self._selector.register(pane.channel.bell, selectors.EVENT_READ, pane.channel)

    def _need_qt(self, pane: Pane) -> None:
        from simreel.recorders.plots.application import has_screen, make_application

        try:
            if self._application is None:
                self._application = make_application()
            if not has_screen(self._application):
                pane.forgo_window()
        except ImportError as error:
            pane.fail(error)

    def _run_qt(self) -> None:
        from PySide6.QtCore import QSocketNotifier, QTimer

        application, timer = self._application, QTimer()

        def turn() -> None:
            timer.start(round(1000 * self.turn()))
            if self.is_over:
                application.quit()

        timer.setSingleShot(True)
        timer.timeout.connect(turn)
        # One descriptor stands for all that are waited for.
        notifier = QSocketNotifier(self._selector.fileno(), QSocketNotifier.Type.Read)
        notifier.activated.connect(turn)
        timer.start(0)
        application.exec()
