"""Lines for the user: results on stdout, all else on stderr, each unbroken and without colour."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

from simreel.errors import SimreelWarning

__all__ = ["messages_on_stderr", "one_line", "printable", "put", "put_error", "table"]

# How the line begins that a recorder logs when it ends.
_SUMMARY = "%s: %d samples"


def put(text: str, file: TextIO | None = None) -> None:
    """Writes a line, to stdout unless told otherwise."""
    stream = file or sys.stdout
    encoding = stream.encoding or "utf-8"
    line = f"{text}\n"
    try:
        line.encode(encoding)
    except UnicodeEncodeError:
        # A file name may hold bytes that are no text, which go out as they are, or letters that the terminal lacks.
        try:
            raw = line.encode(encoding, "surrogateescape")
        except UnicodeEncodeError:
            raw = line.encode(encoding, "backslashreplace")
        stream.flush()
        stream.buffer.write(raw)
    else:
        stream.write(line)


def put_error(text: str) -> None:
    """Writes what went wrong as one line on stderr."""
    put(f"error: {one_line(text)}", sys.stderr)


def one_line(text: str) -> str:
    """The text with its lines joined."""
    return "; ".join(line.strip() for line in text.splitlines() if line.strip())


def printable(name: str) -> str:
    """A name that was read from a file, quoted where it holds what a terminal would obey."""
    return name if name.isprintable() and name.strip() == name != "" else repr(name)


def table(rows: Iterable[Sequence[str]], indent: str = "") -> list[str]:
    """Lines of aligned columns, two spaces apart."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        indent + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


@contextmanager
def messages_on_stderr() -> Iterator[None]:
    """Shows simreel's warnings and log as single lines on stderr, within the block."""
    logger = logging.getLogger("simreel")
    handler = _Handler()
    level, propagate = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    # Whoever configured the root logger would get each line twice.
    logger.propagate = False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", SimreelWarning)
            shown = warnings.showwarning

            def show(
                message: Warning | str,
                category: type[Warning],
                filename: str,
                lineno: int,
                file: TextIO | None = None,
                line: str | None = None,
            ) -> None:
                if issubclass(category, SimreelWarning):
                    put(f"warning: {one_line(str(message))}", sys.stderr)
                else:
                    shown(message, category, filename, lineno, file, line)

            warnings.showwarning = show
            yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagate


class _Handler(logging.Handler):
    """Asks for sys.stderr at each line: a progress bar takes its place while it is drawn."""

    def emit(self, record: logging.LogRecord) -> None:
        """Writes a line."""
        # A recorder's summary stands in what the command prints too; on a terminal one of them is enough.
        if record.levelno == logging.INFO and record.msg.startswith(_SUMMARY) and sys.stdout.isatty():
            return
        try:
            prefix = "" if record.levelno < logging.WARNING else f"{record.levelname.lower()}: "
            put(prefix + one_line(record.getMessage()), sys.stderr)
        except Exception:  # noqa: BLE001 - as every handler: logging must not end the program
            self.handleError(record)
