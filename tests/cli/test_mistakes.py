import errno
import os
from pathlib import Path

import pytest
import typer

from simreel.cli.mistakes import MISTAKES, line_of, status_of
from simreel.errors import (
    MissingFileError,
    OptionsError,
    RecorderErrorGroup,
    SimreelError,
    TargetExistsError,
    UnknownNameError,
)


@pytest.mark.parametrize(
    ("mistake", "status"),
    [
        (OptionsError("NPZFile", ["hz"]), 2),
        (UnknownNameError("camera", "x", ["y"]), 2),
        (typer.BadParameter("x"), 2),
        (SimreelError("x"), 1),
        (OSError("x"), 1),
    ],
)
def test_wrong_use_is_2_and_what_failed_is_1(mistake, status):
    assert isinstance(mistake, MISTAKES)
    assert status_of(mistake) == status


def test_a_bug_is_no_mistake():
    assert not isinstance(ValueError("x"), MISTAKES)
    assert not isinstance(KeyError("x"), MISTAKES)


@pytest.mark.parametrize("word", ["./a.npz", "--npz=./a.npz"])
def test_a_file_stands_as_it_was_written(here, word):
    assert line_of(SimreelError(f"{here / 'a.npz'}: full"), ["run", word]) == "./a.npz: full"


def test_of_two_files_the_longer_name_is_replaced_first(here):
    error = SimreelError(f"{here / 'a' / 'b'}: full")
    assert line_of(error, ["a", "a/b"]) == "a/b: full"


def test_a_target_that_exists_names_the_option_of_the_command(here):
    text = line_of(TargetExistsError(here / "a.npz"), ["a.npz"])
    assert text.startswith("a.npz exists already")
    assert "--overwrite" in text


def test_an_error_of_the_system_is_told_without_its_number():
    assert line_of(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a.npz"), []) == "a.npz: No space left on device"


def test_several_errors_and_their_notes_are_one_line():
    one = SimreelError("one")
    one.add_note("kept")
    assert line_of(RecorderErrorGroup("two", [one, SimreelError("two")]), []) == "one; two"
    assert line_of(one, []) == "one; kept"


def test_a_missing_file_names_itself():
    assert line_of(MissingFileError(Path("x.xml"), "the model"), []).startswith("x.xml: ")
