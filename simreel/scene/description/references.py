"""The file names that stand in a model's XML: where they are, and whether they could lead outside of a folder.

The text is searched for attributes, wherever they stand, in comments too. So whatever MuJoCo's parser takes for a name
of a file is found here, also in XML that only one of two parsers accepts.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from xml.sax.saxutils import escape

__all__ = ["HERE", "LONGEST", "Reference", "escaped", "is_outside", "references"]

HERE = "@/"
"""Starts a name that is counted from the folder of the entity's sources, in place of an absolute one."""

LONGEST = 4096
"""More characters than a path may have."""

# Literal words, since a search for these is much faster than one for the expression.
_WORDS = (b"file", b"meshdir", b"texturedir", b"assetdir")
# `file` is also the start of `filename` and `fileright`.
_REST = re.compile(rb"\w*\s*=\s*([\"'])")
_NAMED = re.compile(r"[A-Za-z][\w+.-]*:")


@dataclass(frozen=True)
class Reference:
    """The value of an attribute that names a file or a folder."""

    value: str
    """Without XML's escapes, with slashes only."""
    is_folder: bool
    start: int
    """Where the value starts in the text, and where it ends [bytes]."""
    stop: int


def references(text: bytes) -> list[Reference]:
    """The names of files and folders in the text, in its order.

    Raises:
        ValueError: a name is longer than any path.
    """
    found = []
    for word in _WORDS:
        at = text.find(word)
        while at >= 0:
            match = _REST.match(text, at + len(word))
            if match is not None:
                start = match.end()
                stop = text.find(match[1], start, start + LONGEST)
                if stop < 0:
                    raise ValueError(f"a file name of more than {LONGEST} characters")
                value = html.unescape(text[start:stop].decode("utf-8", "surrogateescape")).replace("\\", "/")
                found.append(Reference(value, word != b"file", start, stop))
            at = text.find(word, at + 1)
    return sorted(found, key=lambda reference: reference.start)


def is_outside(value: str) -> bool:
    """Whether a name is absolute, on a drive, or a resource such as `http://...`."""
    return value.startswith("/") or _NAMED.match(value) is not None


def escaped(value: str) -> bytes:
    """A name as the value of an attribute."""
    return escape(value, {'"': "&quot;", "'": "&apos;"}).encode("utf-8", "surrogateescape")
