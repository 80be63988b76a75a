import io
import logging
import sys
import warnings

import pytest

from simreel.cli.console import messages_on_stderr, one_line, printable, put, put_error, table
from simreel.errors import SimreelWarning


class Terminal(io.TextIOWrapper):
    """A stream of some encoding that keeps its bytes."""

    def __init__(self, encoding):
        super().__init__(io.BytesIO(), encoding=encoding, write_through=True)

    @property
    def raw(self):
        return self.buffer.getvalue()


@pytest.mark.parametrize(
    ("encoding", "text", "raw"),
    [
        ("utf-8", "ü", "ü\n".encode()),
        ("ascii", "ü", b"\\xfc\n"),
        ("utf-8", "a\udcffb", b"a\xffb\n"),  # of a file name that is no text
    ],
)
def test_a_line_comes_out_whatever_the_terminal_can_show(encoding, text, raw):
    stream = Terminal(encoding)
    put(text, stream)
    assert stream.raw == raw


def test_an_error_is_one_line_on_stderr(capsys):
    put_error("first\n  second\n\n")
    assert capsys.readouterr() == ("", "error: first; second\n")


def test_lines_are_joined_without_their_margins():
    assert one_line(" a\n\n  b ") == "a; b"


@pytest.mark.parametrize("name", ["qpos", "a b", "ü"])
def test_a_plain_name_is_shown_as_it_is(name):
    assert printable(name) == name


@pytest.mark.parametrize("name", ["", " a", "a\n", "\x1b[31m", "a\u202eb"])
def test_a_name_that_would_fool_a_reader_is_quoted(name):
    assert printable(name) == repr(name)


def test_columns_are_aligned_and_lines_have_no_blank_end():
    assert table([("a", "bb", ""), ("ccc", "d", "e")], indent=" ") == [" a    bb", " ccc  d   e"]


def test_within_the_block_warnings_and_log_are_lines_on_stderr_and_afterwards_nothing_has_changed(capsys):
    logger, shown = logging.getLogger("simreel"), warnings.showwarning
    before = logger.level, logger.propagate, list(logger.handlers)
    with messages_on_stderr():
        warnings.warn("two\nlines", SimreelWarning, stacklevel=1)
        logger.info("%s: %d samples", "a.npz", 3)
        logger.warning("careful")
        logger.debug("detail")
    assert capsys.readouterr().err.splitlines() == ["warning: two; lines", "a.npz: 3 samples", "warning: careful"]
    assert (logger.level, logger.propagate, list(logger.handlers)) == before
    assert warnings.showwarning is shown


def test_on_a_terminal_the_summary_of_a_recorder_is_not_shown_twice(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    with messages_on_stderr():
        logging.getLogger("simreel").info("%s: %d samples", "a.npz", 3)
        logging.getLogger("simreel").info("something else")
    assert capsys.readouterr().err == "something else\n"
