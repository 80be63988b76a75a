"""BLOB: payloads with a name, each content stored once.

JSON length u32 | JSON (name, sha256, size, encoding) | payload
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import zstandard

from simreel.errors import FieldError, UnknownNameError
from simreel.reel.limits import BLOB_EXCESS, BLOB_RATIO, MAX_BLOB
from simreel.reel.side import json_parts, split_json

__all__ = ["Blob", "BlobPacker", "BlobRoom", "Blobs", "content_of", "unpack_blob"]

Encoding = Literal["raw", "zstd", "same"]


@dataclass(frozen=True)
class Blob:
    """What is stored of a payload besides its bytes."""

    name: str
    sha256: str
    """Of the content, lower-case hex."""
    size: int
    """Of the content [bytes]."""
    encoding: Encoding


class BlobRoom:
    """How much more the blobs of a file may unpack to than it stores, so that a small file fills no memory."""

    def __init__(self) -> None:
        self._left = BLOB_EXCESS

    def take(self, size: int, stored: int) -> bool:
        """Whether a content may be compressed like that; if so, the room for it is taken.

        Args:
            size: of the content [bytes].
            stored: what the file has of it [bytes].
        """
        excess = max(0, size - BLOB_RATIO * stored)
        if excess > self._left:
            return False
        self._left -= excess
        return True


class BlobPacker:
    """Makes the bodies of a file's blobs; a content that it had before takes no payload again."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._room = BlobRoom()

    def pack(self, name: str, content: bytes) -> list[bytes]:
        """The parts of a body.

        Raises:
            FieldError: the name is no text, or the content is too large.
        """
        if not isinstance(name, str):
            raise FieldError("blobs", f"a name of type {type(name).__name__}", "text is needed")
        try:
            content = bytes(memoryview(content))
        except TypeError:
            raise FieldError(f"blob {name!r}", f"{type(content).__name__}", "bytes are needed") from None
        if len(content) > MAX_BLOB:
            raise FieldError(f"blob {name!r}", f"{len(content)} bytes", f"at most {MAX_BLOB} are allowed")
        digest = hashlib.sha256(content).hexdigest()
        encoding: Encoding = "same"
        payload = b""
        if digest not in self._known:
            encoding, payload = "zstd", zstandard.ZstdCompressor(level=3).compress(content)
            if len(payload) >= len(content) or not self._room.take(len(content), len(payload)):
                encoding, payload = "raw", content
        info = {"name": name, "sha256": digest, "size": len(content), "encoding": encoding}
        parts = [json_parts(info, f"blob {name!r}"), payload]
        self._known.add(digest)
        return parts


def unpack_blob(body: bytes) -> tuple[Blob, memoryview]:
    """What a body says of its payload, and the payload.

    Raises:
        ValueError: it is malformed.
    """
    values, end = split_json(body)
    get = values.get if isinstance(values, dict) else {}.get
    name, digest, size, encoding = get("name"), get("sha256"), get("size"), get("encoding")
    if not isinstance(name, str) or not isinstance(digest, str) or encoding not in ("raw", "zstd", "same"):
        raise ValueError(f"a blob with the encoding {encoding!r}")
    if type(size) is not int or not 0 <= size <= MAX_BLOB:
        raise ValueError(f"blob {name!r} of {size!r} bytes, at most {MAX_BLOB} are allowed")
    return Blob(name, digest, size, encoding), memoryview(body)[end:]


def content_of(blob: Blob, payload: memoryview) -> bytes:
    """The content, which has its sha256.

    Raises:
        ValueError: it has not.
    """
    content = bytes(payload)
    if blob.encoding == "same":
        raise ValueError(f"blob {blob.name!r} says that another one has its content, which is lost")
    if blob.encoding == "zstd":
        try:
            # It allocates what the frame says, whatever limit it is given.
            if zstandard.get_frame_parameters(content).content_size != blob.size:
                raise ValueError(f"blob {blob.name!r} has another size than it says")
            content = zstandard.ZstdDecompressor().decompress(content, max_output_size=blob.size)
        except zstandard.ZstdError as error:
            raise ValueError(f"blob {blob.name!r} cannot be decompressed ({error})") from error
    if len(content) != blob.size or hashlib.sha256(content).hexdigest() != blob.sha256:
        raise ValueError(f"blob {blob.name!r} has not the sha256 that it says")
    return content


class Blobs(Mapping[str, bytes]):
    """The payloads of a file by name; each is read from the file, and checked, when it is asked for.

    Args:
        stored: each blob, and where it is, in the order of the file.
        read: the content of the blob that is there.
    """

    def __init__(self, stored: Sequence[tuple[Blob, int]], read: Callable[[int], bytes]) -> None:
        self._stored = {blob.name: blob for blob, _ in stored}
        # Of several the one that has it.
        by_worth = sorted(stored, key=lambda each: each[0].encoding != "same")
        self._contents = {blob.sha256: at for blob, at in by_worth}
        self._read = read

    def __getitem__(self, name: str) -> bytes:
        """The content.

        Raises:
            UnknownNameError: no blob has that name.
            DamagedFileError: the content is damaged.
        """
        return self.by_sha256(self.info(name).sha256)

    def __contains__(self, name: object) -> bool:
        # That of a Mapping would read the content.
        return name in self._stored

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)

    def info(self, name: str) -> Blob:
        """What is known of a blob without reading it.

        Raises:
            UnknownNameError: no blob has that name.
        """
        if name not in self._stored:
            raise UnknownNameError("blob", name, self._stored)
        return self._stored[name]

    def by_sha256(self, digest: str) -> bytes:
        """The content with that sha256, in lower-case hex.

        Raises:
            UnknownNameError: no blob has it.
            DamagedFileError: the content is damaged.
        """
        if digest not in self._contents:
            raise UnknownNameError("blob content", digest, self._contents)
        return self._read(self._contents[digest])
