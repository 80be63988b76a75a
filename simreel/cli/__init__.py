"""The command `simreel`: records, inspects and repairs without a program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

__all__ = ["execute", "main"]

INTERRUPTED = 130
"""Status after Ctrl-C: 128 and the number of the signal, as shells have it."""


def execute(argv: Sequence[str]) -> int:
    """Runs one command: 0 done, 1 failed or differs, 2 wrong use, 130 interrupted.

    Args:
        argv: the words after `simreel`.
    """
    from simreel.cli.app import execute

    return execute(argv)


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Runs one command and ends the process with its status.

    Args:
        argv: the words after `simreel`; None takes those of this process.
    """
    import signal
    import sys

    status = execute(sys.argv[1:] if argv is None else argv)
    if status == INTERRUPTED:
        # All is closed; an impatient second Ctrl-C would only change the status.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(status)
