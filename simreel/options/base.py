"""The base of all options: frozen, strict about names, with errors of one line a field."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from simreel.errors import OptionsError, nearest

__all__ = ["Options"]


class Options(BaseModel):
    """What a user asks for. Never changed by simreel: resolved values live in whoever acts on them.

    Numpy scalars and arrays are accepted for numbers and tuples, str for paths, lists for tuples.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True, validate_default=True
    )

    positional: ClassVar[tuple[str, ...]] = ()
    """Names of the fields that may be given without their name, in order."""

    def __init__(self, *args: Any, **data: Any) -> None:
        """Checks every field.

        Raises:
            OptionsError: a line for each field that is unknown, missing or wrong.
        """
        cls = type(self)
        if len(args) > len(cls.positional):
            names = ", ".join(cls.positional) or "none"
            raise OptionsError(cls.__name__, [f"{len(args)} values without a name given; allowed without: {names}"])
        for name, value in zip(cls.positional, args, strict=False):
            if name in data:
                raise OptionsError(cls.__name__, [f"{name}: given twice"])
            data[name] = value
        with _short_errors(cls):
            super().__init__(**data)

    # Tells pydantic that validation may fill the fields without a call of this __init__.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @classmethod
    def model_validate(cls, obj: Any, **kwargs: Any) -> Self:
        """As `BaseModel.model_validate`, with simreel's errors."""
        with _short_errors(cls):
            return super().model_validate(obj, **kwargs)

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **kwargs: Any) -> Self:
        """As `BaseModel.model_validate_json`, with simreel's errors."""
        with _short_errors(cls):
            return super().model_validate_json(json_data, **kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuses: options are frozen.

        Raises:
            OptionsError: always.
        """
        raise OptionsError(type(self).__name__, [f"{name}: options are frozen; make new ones with another value"])

    def __delattr__(self, name: str) -> None:
        """Refuses: options are frozen.

        Raises:
            OptionsError: always.
        """
        raise OptionsError(type(self).__name__, [f"{name}: options are frozen; make new ones without it"])

    @model_validator(mode="before")
    @classmethod
    def _accept_numpy(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        # Duck-typed, so that options work without loading numpy.
        return {k: v.tolist() if hasattr(v, "dtype") and hasattr(v, "tolist") else v for k, v in data.items()}


@contextmanager
def _short_errors(cls: type[Options]) -> Iterator[None]:
    try:
        yield
    except ValidationError as error:
        raise OptionsError(cls.__name__, [_line(cls, dict(e)) for e in error.errors()]) from None


def _line(cls: type[Options], error: dict[str, Any]) -> str:
    # A tuple of the wrong length is told as one of its elements; the user knows the whole field.
    loc = list(error["loc"])
    while loc and isinstance(loc[-1], int):
        loc.pop()
    name, found = _path(loc), error["input"]
    if error["type"] == "extra_forbidden":
        fields = sorted(_fields_at(cls, loc[:-1]))
        return f"{name} is not an option.{nearest(str(loc[-1]), fields)} Options: {', '.join(fields)}"
    if error["type"] == "missing":
        if isinstance(error["loc"][-1], str):
            return f"{name} is missing"
        return f"{name} = {_short(found)}: too few values"
    reason = error["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    if error["type"] == "literal_error":
        allowed = error["ctx"]["expected"].replace(" or ", ", ").split(", ")
        reason += "." + nearest(str(found), [value.strip("'") for value in allowed])
    return f"{name} = {_short(found)}: {reason}" if name else reason


def _path(loc: list[str | int]) -> str:
    """Such as `links[2].mass`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).removeprefix(".")


def _fields_at(cls: type[BaseModel], loc: list[str | int]) -> list[str]:
    for part in loc:
        if part in cls.model_fields:
            annotation = cls.model_fields[str(part)].annotation
            inner = [t for t in (annotation, *get_args(annotation)) if isinstance(t, type) and issubclass(t, BaseModel)]
            cls = inner[0] if inner else cls
    return list(cls.model_fields)


def _short(value: object) -> str:
    shown = " ".join(repr(value).split())
    return shown if len(shown) <= 80 else shown[:77] + "..."
