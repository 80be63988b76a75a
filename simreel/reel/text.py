"""JSON of bounded size and depth."""

from __future__ import annotations

import json
import re
from typing import Any

from simreel.errors import FieldError
from simreel.reel.limits import MAX_JSON

__all__ = ["MAX_DEPTH", "dump_json", "load_json"]

MAX_DEPTH = 64

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_NO_BRACKET = re.compile(rb"[^][{}]+")


def dump_json(value: Any, what: str) -> bytes:
    """The value as UTF-8.

    Args:
        value: what JSON can hold, no NaN or infinity.
        what: its name in the text of an error.

    Raises:
        FieldError: JSON cannot hold it, or it is too large or too deep.
    """
    try:
        raw = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise FieldError(what, f"something that JSON cannot hold ({error})", "JSON values are needed") from error
    if reason := _refusal(raw):
        raise FieldError(what, reason, "this is more than a reader takes")
    return raw


def load_json(raw: bytes) -> Any:
    """The value of UTF-8 text.

    Raises:
        ValueError: it is no JSON, or is larger or deeper than allowed.
    """
    if reason := _refusal(raw):
        raise ValueError(reason)
    return json.loads(raw.decode(), parse_constant=_no_constant)


def _refusal(raw: bytes) -> str:
    """Why a reader refuses the text, or nothing. Runs before the parser, which recurses and allocates."""
    if len(raw) > MAX_JSON:
        return f"JSON of {len(raw)} bytes, at most {MAX_JSON} are allowed"
    depth = deepest = 0
    for byte in _NO_BRACKET.sub(b"", _STRING.sub(b"", raw)):
        depth += 1 if byte in b"[{" else -1
        deepest = max(deepest, depth)
    return f"JSON nested {deepest} deep, at most {MAX_DEPTH} are allowed" if deepest > MAX_DEPTH else ""


def _no_constant(name: str) -> None:
    raise ValueError(f"JSON with {name}, which it does not have")
