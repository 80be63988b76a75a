"""The commands, and what each way of ending means to the shell."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated

import typer

from simreel._version import __version__
from simreel.cli import INTERRUPTED
from simreel.cli.commands import demo, info, recorders, recover, repack, run, verify
from simreel.cli.console import messages_on_stderr, put, put_error
from simreel.cli.mistakes import MISTAKES, line_of, status_of

__all__ = ["app", "execute"]

# Without rich's boxes: they would break names in the middle, and cost 0.1 s at each call.
app = typer.Typer(name="simreel", rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False)

# In the order of the help text. The name of the function is that of the command.
for command in (demo.demo, run.run, info.info, recover.recover, repack.repack, verify.verify, recorders.recorders):
    app.command()(command)


@app.callback(invoke_without_command=True)
def top(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and end.")] = False,
) -> None:
    """Records physics simulations, inspects the files and repairs them."""
    if version:
        put(f"simreel {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        put(context.get_help())


def execute(argv: Sequence[str]) -> int:
    """Runs one command: 0 done, 1 failed or differs, 2 wrong use, 130 interrupted."""
    group = typer.main.get_command(app)
    with messages_on_stderr():
        try:
            # What `group.main` does, without its way of showing errors.
            with group.make_context("simreel", list(argv)) as context:
                status = group.invoke(context)
            sys.stdout.flush()
        except typer.Exit as end:
            return end.exit_code
        except KeyboardInterrupt as stop:
            put_error(str(stop) or "interrupted")
            return INTERRUPTED
        except BrokenPipeError:
            _forget_stdout()
            return 1
        except MISTAKES as mistake:
            put_error(line_of(mistake, argv))
            return status_of(mistake)
    return status or 0


def _forget_stdout() -> None:
    """Keeps the interpreter from complaining, at its end, that whoever read stdout is gone (`simreel ... | head`)."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
