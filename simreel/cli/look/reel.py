"""What a reel holds; its frames are not decoded."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simreel.cli.console import printable, table
from simreel.cli.look.trajectory import tell_trajectory
from simreel.errors import SimreelWarning
from simreel.reel.locks import is_being_written
from simreel.reel.reader import Reel
from simreel.reel.record import MAGIC

if TYPE_CHECKING:
    from simreel.reel.scan import Damage

__all__ = ["describe_reel", "is_reel", "tell_damage", "tell_gaps"]

# More spans than this are counted, not named.
_NAMED = 8


def is_reel(file: str) -> bool:
    """Whether a file is a reel by its first bytes, or by its name, such as one that is not there or is damaged."""
    if ".reel" in os.path.basename(file).lower():
        return True
    if not os.path.isfile(file):
        return False
    with open(file, "rb") as opened:
        return opened.read(len(MAGIC)) == MAGIC


def describe_reel(file: str) -> list[str]:
    """Lines that tell what a reel holds.

    Raises:
        DamagedFileError: it is none, or nothing of it can be read.
        FileVersionError: it needs another release of simreel.
    """
    from simreel.recorders.base import format_bytes

    with Reel.open(file) as reel, warnings.catch_warnings():
        # What is damaged stands among the lines.
        warnings.simplefilter("ignore", SimreelWarning)
        told = reel.info()
        is_closed = reel.records.trailer is not None
        damage = reel.damage
        trajectory = list(tell_trajectory(file))
    size, by = format_bytes(told["size"]), printable(told["writer"])
    return [
        f"{file}: reel by {by}, format {told['format']}, {size}",
        _ending(file, is_closed, told),
        _frames(told),
        *trajectory,
        *tell_gaps(told["gaps"]),
        *tell_damage(damage),
        _coding(told),
        *(table(map(_field, told["fields"]), indent="  ") if told["fields"] else []),
        *_extras(told),
    ]


def tell_gaps(gaps: Sequence[Sequence[int]]) -> list[str]:
    """A line that names spans of lost frames, if there are any."""
    named = [f"{start} to {stop - 1}" if stop - start > 1 else f"{start}" for start, stop in gaps[:_NAMED]]
    more = f" and {len(gaps) - _NAMED} spans more" if len(gaps) > _NAMED else ""
    return [f"lost: frames {', '.join(named)}{more}"] if gaps else []


def tell_damage(damage: Sequence[Damage]) -> list[str]:
    """Lines that name stretches of a file that cannot be read."""
    lines = [f"damaged: bytes {start} to {stop - 1}: {found}" for start, stop, found in damage[:_NAMED]]
    return lines + ([f"damaged: {len(damage) - _NAMED} stretches more"] if len(damage) > _NAMED else [])


def _ending(file: str, is_closed: bool, told: dict[str, Any]) -> str:
    if is_being_written(Path(file)):
        return "a running process writes it"
    if not is_closed:
        return f"its run was cut off: simreel recover {file}"
    if told["damage"]:
        return f"damaged since it was closed: simreel recover {file}"
    return "complete" if told["is_complete"] else "not complete: its run was cut off or had to drop frames"


def _frames(told: dict[str, Any]) -> str:
    span = "" if told["time"] is None else ", {:.6g} to {:.6g} s".format(*told["time"])
    return f"{_count(told['frames'], 'frame')}{span}, a step is {told['dt']:g} s"


def _coding(told: dict[str, Any]) -> str:
    from simreel.recorders.base import format_bytes

    text = f"codec {printable(told['codec'])}, {_count(told['chunks'], 'chunk')} of at most {told['chunk_size']} frames"
    if told["ratio"] is None:
        return text
    return (
        f"{text}: {format_bytes(told['raw_bytes'])} as {format_bytes(told['stored_bytes'])}, ratio {told['ratio']:.1f}"
    )


def _field(field: dict[str, Any]) -> tuple[str, ...]:
    shape = f"(k, {field['width']})" if field["ragged"] else f"({field['width']},)"
    ratio = "" if field["ratio"] is None else f"ratio {field['ratio']:.1f}"
    texts = (printable(field[key]) if field[key] else "" for key in ("unit", "kind"))
    return (printable(field["name"]), field["dtype"], shape, *texts, ratio)


def _extras(told: dict[str, Any]) -> Iterator[str]:
    from simreel.recorders.base import format_bytes

    if told["params"]:
        yield _count(told["params"], "record") + " of model parameters"
    if told["notes"]:
        yield _count(told["notes"], "note")
    for name, size in told["blobs"].items():
        yield f"blob {printable(name)}, {format_bytes(size)}"


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
