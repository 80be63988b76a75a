"""A mistake as one line that holds what the user wrote, and its status."""

from __future__ import annotations

import os
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, cast

import typer

from simreel.errors import (
    OptionsError,
    RecorderErrorGroup,
    SimreelError,
    TargetExistsError,
    UnknownNameError,
)

__all__ = ["MISTAKES", "line_of", "status_of"]

# Typer keeps the class of its errors in a private module, but not what derives from it.
_UsageError = cast("type[Exception]", typer.BadParameter.__base__)

MISTAKES = (SimreelError, OSError, _UsageError)
"""What a user can cause; all else is a bug and shows its traceback."""


def status_of(mistake: BaseException) -> int:
    """2 where the command can never work as it was written, else 1."""
    return 2 if isinstance(mistake, (OptionsError, UnknownNameError, _UsageError)) else 1


def line_of(mistake: BaseException, argv: Sequence[str]) -> str:
    """What was wrong, with files as they stand in `argv`."""
    if isinstance(mistake, _UsageError):
        return _usage(mistake, argv)
    return _as_written("; ".join([_text(mistake), *getattr(mistake, "__notes__", ())]), argv)


def _text(mistake: BaseException) -> str:
    if isinstance(mistake, RecorderErrorGroup):
        return "; ".join(map(_text, mistake.exceptions))
    if isinstance(mistake, TargetExistsError):
        return str(TargetExistsError(mistake.path, "--overwrite"))
    if isinstance(mistake, OSError) and not isinstance(mistake, SimreelError) and mistake.strerror:
        return f"{mistake.filename}: {mistake.strerror}" if mistake.filename else mistake.strerror
    return str(mistake)


def _as_written(text: str, argv: Sequence[str]) -> str:
    """Recorders tell absolute paths, since the current folder may change; the user wrote another one."""
    words = [word.partition("=")[2] if word.startswith("--") else word for word in argv]
    paths = {os.path.abspath(os.path.expanduser(word)): word for word in words if word}
    for path in sorted(paths, key=len, reverse=True):
        text = text.replace(path, paths[path])
    return text


def _usage(mistake: Any, argv: Sequence[str]) -> str:
    context, param = mistake.ctx, getattr(mistake, "param", None)
    message = mistake.format_message()
    if hasattr(mistake, "possibilities") and context is not None:
        message = _no_such_option(mistake.option_name, argv, context)
    elif param is not None and mistake.message:
        flag = param.opts[0] if param.param_type_name == "option" else param.metavar or param.name
        message = f"{flag} {mistake.message}"
    elif type(mistake) is typer.BadParameter:
        message = mistake.message
    if context is None:
        return str(message)
    return f"{message.rstrip('.?')}{'?' if message.endswith('?') else '.'} Try: {context.command_path} --help"


def _no_such_option(name: str, argv: Sequence[str], context: typer.Context) -> str:
    # Of `-npz` typer names `-n` only.
    written = next((word for word in argv if word.startswith(name)), name).partition("=")[0]
    known = {option.lstrip("-"): option for param in context.command.params for option in param.opts}
    options = sorted(option for option in known.values() if option.startswith("--"))
    text = f"no option {written}; there are: {', '.join(options)}."
    # Dashes would make any two options look alike.
    close = get_close_matches(written.lstrip("-"), known, n=1, cutoff=0.5)
    return f"{text} Did you mean {known[close[0]]}?" if close else text
