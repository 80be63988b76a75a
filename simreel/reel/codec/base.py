"""The abstract codec: the values of a chunk to one stream of bytes for each field, and back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from simreel.errors import SimreelError

if TYPE_CHECKING:
    import numpy as np

    from simreel.reel.layout import Field, Layout

__all__ = ["Codec", "CodecError"]


class CodecError(SimreelError, ValueError):
    """A stream does not hold what its field and number of frames ask for; whoever reads the file knows where."""

    def __init__(self, field: str, found: str) -> None:
        self.field = field
        self.found = found
        super().__init__(f"the stream of field {field!r}: {found}")


class Codec(ABC):
    """Encodes and decodes the chunks of one layout.

    Encoding remembers what it chose before: one codec encodes for one file, on one thread. Decoding remembers nothing
    and may be called from several threads.
    """

    name: ClassVar[str]
    """What stands in the head of the file."""

    contract: ClassVar[int] = 1
    """The version of what the bytes stand for."""

    def __init__(self, layout: Layout, dt: float) -> None:
        self.layout = layout
        self.dt = float(dt)
        """Between two frames [s]."""

    @abstractmethod
    def encode(self, rows: np.ndarray[Any, np.dtype[np.void]]) -> list[bytes]:
        """One stream for each fixed field, in the order of the layout.

        Args:
            rows: (n,) of the layout's `row_dtype`, in C order, n at least 1.
        """

    @abstractmethod
    def needs(self, index: int) -> tuple[int, ...]:
        """The other fields that may be needed to decode a field, ascending."""

    @abstractmethod
    def decode(
        self, streams: Mapping[int, memoryview], n: int, wanted: Sequence[int]
    ) -> dict[int, np.ndarray[Any, Any]]:
        """The values of the wanted fixed fields, each (n, width) of the field's dtype, in any memory order.

        Args:
            streams: by the place of the field in the layout, those of the wanted fields and of all that they need.
            n: frames of the chunk, at least 1.
            wanted: places of fields.

        Raises:
            CodecError: a stream is malformed. No more memory is used than a small multiple of the values.
        """

    @abstractmethod
    def decode_many(
        self, chunks: Sequence[Mapping[int, memoryview]], n: int, wanted: Sequence[int]
    ) -> list[dict[int, np.ndarray[Any, Any]]]:
        """What `decode` gives for each of several chunks of n frames, computed together: quicker where they are small.

        Raises:
            CodecError: a stream of any of them is malformed.
        """

    @abstractmethod
    def encode_ragged(self, field: Field, values: np.ndarray[Any, Any]) -> bytes:
        """The stream of a table of (count, width) values that belongs to no fixed field."""

    @abstractmethod
    def decode_ragged(self, field: Field, stream: memoryview, count: int) -> np.ndarray[Any, Any]:
        """The (count, width) values, in any memory order.

        Args:
            field: what they are; its name is for messages.
            stream: their bytes.
            count: items. The caller has checked that he wants so many: values that are all equal take no bytes.

        Raises:
            CodecError: the stream is malformed.
        """
