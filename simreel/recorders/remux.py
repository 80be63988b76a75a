"""Moves the packets of a video into a file that starts at once in any player; nothing is encoded again."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simreel._version import __version__
from simreel.recorders.target import free_name, lock

if TYPE_CHECKING:
    import av

__all__ = ["Survey", "metadata", "provisional", "read_comment", "remux", "survey", "sync"]

# Where the index stands at the front, players start before they have the rest.
_FINAL = {"mp4": {"movflags": "faststart"}, "matroska": {"cues_to_front": "1"}, "webm": {"cues_to_front": "1"}}
_READ_SIZE = 2**20
# A positive fraction as `str` writes it. Others could be numbers that take for ever, such as 1e999999999.
_RATE = re.compile(r"[1-9]\d{0,18}(/[1-9]\d{0,18})?", re.ASCII)


def metadata(title: str, comment: Mapping[str, Any]) -> dict[str, str]:
    """What a video tells of itself: its title, and a comment of JSON."""
    # A name of a file may be no text.
    title = title.encode("utf-8", "replace").decode()
    return {"title": title, "comment": json.dumps({"simreel": __version__, **comment})}


@dataclass(frozen=True)
class Survey:
    """What a video tells of itself, and what stands in it; it may have been cut."""

    title: str

    comment: dict[str, Any]
    """What the comment says; empty where it is none of ours."""

    codec: str
    """The name of the format of its packets, such as h264."""

    size: tuple[int, int]
    """Width and height [px]."""

    rate: Fraction | None
    """Frames a second; None where nothing tells it."""

    promised: int
    """Frames that the container says it has; 0 where it says nothing."""

    packets: int
    """Packets that can be read."""

    whole: int
    """The first of them, in order of decoding, that are all frames up to some time: none of them is missing one."""


def read_comment(source: Any) -> dict[str, Any]:
    """What the comment of a video says; empty where it is none of ours. Its packets are not looked at.

    Raises:
        av.FFmpegError: it is none, or not even its start is left.
    """
    import av

    source.seek(0)
    with av.open(source, "r", buffer_size=_READ_SIZE) as container:
        return _comment(_tags(container))


def survey(source: Any) -> Survey:
    """Reads through a video.

    Raises:
        av.FFmpegError: it is none, or not even its start is left.
        IndexError: there are no pictures in it.
    """
    import av

    source.seek(0)
    with av.open(source, "r", buffer_size=_READ_SIZE) as container:
        tags = _tags(container)
        comment = _comment(tags)
        stream = container.streams.video[0]
        rate = Fraction(comment["fps"]) if comment else stream.average_rate
        packets = whole = 0
        latest = -1.0
        for packet in _packets(container, stream):
            packets += 1
            # Packets come in order of decoding: so many frames are whole when none is later than their number.
            if rate and packet.pts is not None:
                latest = max(latest, float(packet.pts * stream.time_base * rate))
            if latest < packets - 0.5:
                whole = packets
        # None for a codec that no decoder is there for.
        context = stream.codec_context
        codec, size = (context.name, (context.width, context.height)) if context else ("unknown", (0, 0))
        return Survey(tags.get("title", ""), comment, codec, size, rate, stream.frames, packets, whole)


def _tags(container: av.container.InputContainer) -> dict[str, str]:
    return {key.lower(): value for key, value in container.metadata.items()}


def _comment(tags: Mapping[str, str]) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        comment = json.loads(tags.get("comment", ""))
        if isinstance(comment, dict) and "simreel" in comment and _RATE.fullmatch(str(comment.get("fps"))):
            return comment
    return {}


def remux(
    source: Any,
    target: Path,
    container: str,
    fps: Fraction,
    tags: Mapping[str, str],
    limit: int | None = None,
    *,
    was: Fraction | None = None,
) -> int:
    """Writes the packets of a video to a new file; the number of them.

    Args:
        source: the video, read from its start.
        target: the new file; what is there is replaced.
        container: its format.
        fps: frames a second.
        tags: its metadata.
        limit: how many packets are taken; None for all.
        was: frames a second of the video, where the new file is to have others.

    Raises:
        av.FFmpegError: the disk is full.
    """
    import av

    source.seek(0)
    with ExitStack() as opened:
        given = opened.enter_context(av.open(source, "r", buffer_size=_READ_SIZE))
        stream = given.streams.video[0]
        told = dict(_FINAL[container])
        tick = stream.time_base * (1 if was is None else was / fps)
        if container == "mp4":
            # The length of the whole is told in these units, by default milliseconds.
            told["movie_timescale"] = str(tick.denominator)
        # By its name: the index is moved to the front by reading the file again.
        made = opened.enter_context(av.open(str(target), "w", format=container, container_options=told))
        # Opaque: the decoder at hand may make no such packets, as that of AV1.
        copy = made.add_stream_from_template(stream, opaque=True)
        copy.time_base = tick
        made.metadata.update(tags)
        count = 0
        for packet in _packets(given, stream):
            if count == limit:
                break
            packet.stream, packet.time_base = copy, tick
            packet.duration = packet.duration or round(1 / (fps * tick))
            made.mux(packet)
            count += 1
    return count


def _packets(container: av.container.InputContainer, stream: av.VideoStream) -> Iterator[av.Packet[av.VideoStream]]:
    """The packets up to the end, or to where the file was cut."""
    import av

    with suppress(av.FFmpegError):
        for packet in container.demux(stream):
            # One that was cut is the last that there is.
            if packet.is_corrupt:
                return
            # The end is an empty one: it tells a decoder to give what it holds back.
            if packet.size:
                yield packet


@contextmanager
def provisional(target: Path) -> Iterator[Path]:
    """A new empty file beside a target, to be filled and renamed; removed where it was not."""
    path = free_name(target.with_name(f"{target.name}.{os.getpid()}.tmp"))
    with open(path, "xb") as file:
        # Whoever looks for what killed runs left leaves it alone.
        lock(file.fileno())
        try:
            yield path
        finally:
            with suppress(FileNotFoundError):
                if os.path.samestat(os.stat(path), os.fstat(file.fileno())):
                    path.unlink()


def sync(path: Path) -> None:
    """Returns when a file is on the disk."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
