"""From a word of the command line to a value; what is refused stays as the user wrote it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import typer

from simreel.errors import nearest

__all__ = ["choice", "picture_size", "positive", "split_names", "whole"]


def positive(text: str | float) -> float:
    """A finite number above 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise typer.BadParameter(f"{text}: a number above 0 is needed")
    return value


def whole(text: str | int) -> int:
    """A whole number of at least 0."""
    try:
        value = int(text)
    except ValueError:
        value = -1
    if value < 0:
        raise typer.BadParameter(f"{text}: a whole number of at least 0 is needed")
    return value


def choice(allowed: Sequence[str]) -> Callable[[str], str]:
    """One of some words."""

    def parse(text: str) -> str:
        if text not in allowed:
            raise typer.BadParameter(f"{text}: {' or '.join(allowed)} is needed.{nearest(text, allowed)}")
        return text

    return parse


def split_names(option: str, text: str) -> tuple[str, ...]:
    """Names between commas, each once."""
    found = [name.strip() for name in text.split(",")]
    if not all(found):
        raise typer.BadParameter(f"{option} {text}: names with one comma between two are needed")
    return tuple(dict.fromkeys(found))


def picture_size(option: str, text: str) -> tuple[int, int]:
    """Width and height [pixels], such as 640x480."""
    width, _, height = text.lower().partition("x")
    if not (width.isdecimal() and height.isdecimal() and int(width) and int(height)):
        raise typer.BadParameter(f"{option} {text}: WIDTHxHEIGHT in pixels is needed, such as 640x480")
    return int(width), int(height)
