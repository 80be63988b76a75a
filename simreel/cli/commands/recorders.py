"""`simreel recorders`: which recorders there are, and their options."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

import typer

from simreel.cli.console import put, table
from simreel.errors import UnknownNameError

if TYPE_CHECKING:
    from simreel.options.recorders import RecorderOptions
    from simreel.recorders.registry import RecorderInfo

__all__ = ["recorders"]


def recorders(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The recorder whose options to show.")] = None,
) -> None:
    """List the recorders, or the options of one."""
    from simreel.recorders.registry import available

    known = available()
    if name is None:
        lines = table(
            (info.name, info.source, "ready" if info.error is None else f"broken: {info.error}", *_about(info))
            for info in known.values()
        )
    else:
        same = [kind for kind in known if kind.lower() == name.lower()]
        if not same:
            raise UnknownNameError("recorder", name, known)
        lines = list(_details(known[same[0]]))
    for line in lines:
        put(line)


def _about(info: RecorderInfo) -> tuple[str, str]:
    if info.options_class is None:
        return "", ""
    return " ".join(_suffixes(info.options_class)), _first_line(info.options_class)


def _details(info: RecorderInfo) -> Iterator[str]:
    cls = info.options_class
    if cls is None:
        yield f"{info.name} of {info.source} cannot be loaded: {info.error}"
        return
    yield f"{info.name}: {inspect.getdoc(cls)}"
    for option, field in cls.model_fields.items():
        needed = "needed" if field.is_required() else f"default {_value(field.default)}"
        limits = "".join(f", {text}" for text in _limits(field.metadata))
        yield ""
        yield f"  {option}: {type_text(field.annotation)}{limits}, {needed}"
        yield f"    {' '.join((field.description or '').split())}"


def type_text(annotation: Any) -> str:
    """A type as a user would name it, such as `float or None`."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        kind, *metadata = arguments
        limits = [text for entry in metadata for text in _limits(getattr(entry, "metadata", ()))]
        return " ".join([type_text(kind), *limits])
    if origin in {Union, types.UnionType}:
        return " or ".join(map(type_text, arguments))
    if origin is Literal:
        return " or ".join(map(repr, arguments))
    if origin is tuple and arguments[-1] is Ellipsis:
        return f"list of {type_text(arguments[0])}"
    if annotation is types.NoneType:
        return "None"
    return str(getattr(annotation, "__name__", annotation))


def _limits(metadata: Any) -> Iterator[str]:
    """Bounds, from what pydantic keeps of `Field(gt=...)`."""
    for word, attribute in (("above", "gt"), ("at least", "ge"), ("below", "lt"), ("at most", "le")):
        for entry in metadata:
            if getattr(entry, attribute, None) is not None:
                yield f"{word} {getattr(entry, attribute)}"


def _value(value: object) -> str:
    return f"{value:,}".replace(",", " ") if type(value) is int and value >= 10_000 else repr(value)


def _first_line(cls: type[RecorderOptions]) -> str:
    return (inspect.getdoc(cls) or "").partition("\n")[0]


def _suffixes(cls: type[RecorderOptions]) -> tuple[str, ...]:
    return getattr(cls, "suffixes", ())
