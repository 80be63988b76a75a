"""How the values of a chunk become bytes, exact to the bit; docs/reel-codec.md says which."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simreel.errors import UnknownNameError
from simreel.reel.codec.archive import Archive
from simreel.reel.codec.base import Codec, CodecError
from simreel.reel.codec.diff1 import Diff1
from simreel.reel.codec.phys1 import Phys1

if TYPE_CHECKING:
    from simreel.reel.layout import Layout

__all__ = ["Codec", "CodecError", "codec_for"]

_CODECS: dict[str, type[Codec]] = {codec.name: codec for codec in (Phys1, Diff1, Archive)}


def codec_for(name: str, layout: Layout, dt: float) -> Codec:
    """A codec for one file.

    Args:
        name: "phys1", "diff1" or "archive".
        layout: the fields of a frame.
        dt: between two frames [s].

    Raises:
        UnknownNameError: there is no codec of that name.
    """
    if name not in _CODECS:
        raise UnknownNameError("codec", name, _CODECS)
    return _CODECS[name](layout, dt)
