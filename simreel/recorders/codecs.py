"""How frames become a video file: which container and codec, what both are told, and whether they work here."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from simreel.errors import OptionsError, nearest

if TYPE_CHECKING:
    import av

__all__ = ["CONTAINERS", "Recipe", "add_stream", "encode", "fitting_size", "growing_options", "padding", "recipe_for"]

Size = tuple[int, int]
"""Width and height [px]."""

# The container that a file with a suffix grows in, by suffix.
CONTAINERS = {".mp4": "mp4", ".mkv": "matroska", ".webm": "webm", ".gif": "matroska"}
# A gif needs the colours of all frames before its first: until then they wait in a file without loss.
_DEFAULT_CODECS = {".mp4": "libx264", ".mkv": "libx264", ".webm": "libvpx-vp9", ".gif": "libx264rgb"}
# What is named where a codec does not work; each is tried first. None that writes to stderr.
_CANDIDATES = {
    "mp4": ("libx264", "libx265", "mpeg4", "libvpx-vp9"),
    "matroska": ("libx264", "libx265", "libvpx-vp9", "mpeg4", "ffv1", "libx264rgb"),
    "webm": ("libvpx-vp9", "libvpx"),
}
# A codec that keeps up with a simulation and gives its packets early: what it holds back is lost by a kill.
_LIVE = {"deadline": "realtime", "cpu-used": "8", "lag-in-frames": "0"}
_CODEC_OPTIONS: dict[str, dict[str, str]] = {
    "libx264": {"preset": "veryfast"},
    "libx264rgb": {"preset": "ultrafast", "qp": "0", "tune": "zerolatency"},
    "libx265": {"preset": "veryfast", "x265-params": "log-level=none"},
    "libvpx-vp9": {**_LIVE, "row-mt": "1"},
    "libvpx": _LIVE,
    "libaom-av1": {"usage": "realtime", "cpu-used": "8", "lag-in-frames": "0"},
    "libsvtav1": {"preset": "10"},
}
_LOSSLESS = {"libx264rgb", "ffv1", "png", "rawvideo", "utvideo", "huffyuv", "ffvhuff"}
_GOOGLE = {"libvpx-vp9", "libvpx", "libaom-av1"}
# Options by which a user sets the rate himself.
_RATE_OPTIONS = {"b", "crf", "qp", "cq", "q", "qscale", "global_quality", "maxrate", "minrate"}
_DEFAULT_BITRATE = 1.0
# The first of these that a codec takes. 4:2:0 is what every player shows.
_FORMATS_OF = {"mjpeg": "yuvj420p"}  # takes others only as a favour
_PIXEL_FORMATS = ("yuv420p", "yuvj420p", "yuv422p", "yuv444p", "nv12", "rgb24", "bgr0", "gbrp", "bgr24", "rgba")
# A fragment is what a kill costs: a second, and for high rates so many frames.
_FRAGMENT_FRAMES = 16
# Each thread of x264 holds a frame back; beyond these it gains little.
_MAX_THREADS = 8
# Frames that no codec shows a packet later than it decodes it.
_MAX_DELAY = 1000


@dataclass(frozen=True)
class Recipe:
    """Container, codec and what the codec is told."""

    container: str
    codec: str
    pixel_format: str
    codec_options: tuple[tuple[str, str], ...]
    asked: frozenset[str] = frozenset()
    """Names of the options that the user has given; one that the codec does not know is an error."""
    rate: tuple[float | None, float | None] = (None, None)
    """Bitrate and crf as the user has given them."""
    given: tuple[tuple[str, str], ...] = ()
    """What the codec is told besides, as the user has given it."""


def recipe_for(
    suffix: str,
    *,
    codec: str = "",
    bitrate: float | None = None,
    crf: float | None = None,
    codec_options: Mapping[str, str] | None = None,
) -> Recipe:
    """The recipe of a file with that suffix.

    Args:
        suffix: of its name; one of .mp4, .mkv, .webm, .gif.
        codec: the name of an encoder, or of a format that some encoder makes; empty for the default.
        bitrate: at most this many bits a second [Mbit/s].
        crf: quality instead of a rate; smaller is better.
        codec_options: what the codec is told besides, over our defaults.

    Raises:
        OptionsError: there is no such codec.
    """
    import av

    suffix = suffix.lower()
    try:
        found = av.codec.Codec(_DEFAULT_CODECS[suffix] if suffix == ".gif" or not codec else codec, "w")
    except av.codec.codec.UnknownCodecError:
        if suffix != ".gif":
            reason = f"no such encoder{_works(CONTAINERS[suffix], codec)}"
            raise OptionsError("VideoFile", [f"codec = {codec!r}: {reason}"]) from None
        found = av.codec.Codec("ffv1", "w")
    name, given = found.name, dict(codec_options or {})
    if name == "libsvtav1":
        # It prints a page for each file.
        os.environ.setdefault("SVT_LOG", "1")
    pixel_format = given.pop("pix_fmt", "") or _pixel_format(found)
    if "x265-params" in given:
        given["x265-params"] = f"log-level=none:{given['x265-params']}"
    has_rate = bool(_RATE_OPTIONS & given.keys())
    options = _CODEC_OPTIONS.get(name, {}) | _rate(name, bitrate, crf, has_rate=has_rate) | given
    asked = frozenset(given) | ({"crf"} if crf is not None else set())
    rate, besides = (bitrate, crf), tuple((codec_options or {}).items())
    return Recipe(CONTAINERS[suffix], name, pixel_format, tuple(options.items()), asked, rate, besides)


def _pixel_format(codec: av.codec.Codec) -> str:
    if codec.name in _FORMATS_OF:
        return _FORMATS_OF[codec.name]
    known = [each.name for each in codec.video_formats or []]
    return next((each for each in _PIXEL_FORMATS if each in known), known[0] if known else _PIXEL_FORMATS[0])


def _rate(codec: str, bitrate: float | None, crf: float | None, *, has_rate: bool) -> dict[str, str]:
    if crf is not None:
        return {"crf": f"{crf:g}"} | ({"b": "0"} if codec in _GOOGLE else {})
    if codec in _LOSSLESS or (bitrate is None and has_rate):
        return {}
    bits = round((bitrate or _DEFAULT_BITRATE) * 1e6)
    if codec == "libsvtav1":
        return {"b": str(bits)}
    # A buffer of half a second, 60 % full at the start: noise of one second ends within some per cent of the rate. With
    # a smaller one 0.5 Mbit/s falls short, with a fuller one 1 s overshoots.
    rate = {"b": bits, "maxrate": bits, "bufsize": bits // 2, "rc_init_occupancy": bits * 3 // 10}
    if codec in _GOOGLE:
        # Equal rates ask for a constant one; a lower maximum alone is not kept to.
        rate |= {"minrate": bits}
    return {key: str(value) for key, value in rate.items()}


def add_stream(container: av.container.OutputContainer, recipe: Recipe, size: Size, fps: Fraction) -> Any:
    """The stream of a recipe, an av.VideoStream, added to a container; the pts of frame i is i.

    Raises:
        ValueError: the container does not hold such a codec.
    """
    stream: Any = container.add_stream(recipe.codec, rate=fps, options=dict(recipe.codec_options))
    context = stream.codec_context
    stream.time_base = context.time_base = 1 / fps
    stream.width, stream.height = size
    stream.pix_fmt = recipe.pixel_format
    # Within a frame, PyAV's default, costs x264 half its speed.
    context.thread_type = "FRAME"
    context.thread_count = min(_MAX_THREADS, _cores() * 3 // 2 + 1)
    if recipe.pixel_format.startswith(("yuv", "nv12")):
        # ITU-R 601, the one that readers who ignore the tag take it for.
        context.color_range = 2 if recipe.pixel_format.startswith("yuvj") else 1
        context.colorspace = 6
    return stream


def encode(stream: Any, frame: av.VideoFrame | None) -> list[av.Packet[Any]]:
    """The packets that a frame brings; with None those that were held back."""
    packets: list[av.Packet[Any]] = stream.encode(frame)
    for packet in packets:
        # x265 gives no dts to the packet of a video of one frame; what stands there is by chance.
        if packet.pts is not None and packet.dts is not None and not 0 <= packet.pts - packet.dts < _MAX_DELAY:
            packet.dts = packet.pts
        # Without one the last frame of an .mp4 would last no time, and not be shown.
        packet.duration = packet.duration or 1
    return packets


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def growing_options(recipe: Recipe, fps: Fraction) -> dict[str, str]:
    """What the container is told while it grows: what a kill leaves must play."""
    seconds = min(Fraction(1), _FRAGMENT_FRAMES / fps)
    if recipe.container == "mp4":
        movflags = "delay_moov+default_base_moof"
        return {"movflags": movflags, "frag_duration": str(max(1, int(seconds * 10**6))), "flush_packets": "1"}
    return {"cluster_time_limit": str(max(1, int(seconds * 1000))), "flush_packets": "1"}


def fitting_size(recipe: Recipe, size: Size, fps: Fraction) -> Size:
    """The size that the codec takes frames of `size` in: itself, or where it needs even ones, a pixel more.

    A frame is encoded into memory to find out.

    Raises:
        OptionsError: the codec does not work for these frames, or not at all. It names those that do.
    """
    width, height = size
    padded = (width + width % 2, height + height % 2)
    reason = _refusal(recipe, size, fps)
    if reason is None:
        return size
    if padded != size and _refusal(recipe, padded, fps) is None:
        return padded
    if isinstance(reason, str):
        raise OptionsError("VideoFile", [reason])
    if (blamed := _blamed(recipe, padded, fps, reason[0])) is not None:
        raise OptionsError("VideoFile", [blamed])
    works = _works(recipe.container, recipe.codec, padded, fps)
    shown = f"frames of {width} x {height} at {float(fps):.6g} per second"
    raise OptionsError("VideoFile", [f"codec = {recipe.codec!r}: cannot encode {shown} here ({reason[0]}){works}"])


def padding(recipe: Recipe, size: Size, padded: Size) -> str:
    """How frames of a size become those that the codec takes."""
    pair = f"{size[0]} x {size[1]} are padded to {padded[0]} x {padded[1]}"
    return f"{recipe.codec} takes even sizes only: frames of {pair}, at the right and the bottom"


def _blamed(recipe: Recipe, size: Size, fps: Fraction, reason: str) -> str | None:
    """What of that the user has given keeps the codec from working; None where it does not work without it either."""
    import av

    codec, (bitrate, crf), given = recipe.codec, recipe.rate, dict(recipe.given)

    def works(**asked: Any) -> bool:
        return _refusal(recipe_for(_suffix(recipe.container), codec=codec, **asked), size, fps) is None

    if not works():
        return None
    for name, value in (("bitrate", bitrate), ("crf", crf)):
        if value is not None and not works(**{name: value}):
            return f"{name} = {value:g}: {codec} cannot encode with it ({reason})"
    # One by one; where each works alone it is all of them together.
    wrong = {name: value for name, value in given.items() if not works(codec_options={name: value})} or given
    takes = ""
    if "pix_fmt" in wrong:
        formats = [each.name for each in av.codec.Codec(codec, "w").video_formats or []]
        takes = f". Its pix_fmt are: {', '.join(formats)}.{nearest(wrong['pix_fmt'], formats)}"
    return (
        f"codec_options = {wrong}: {codec} cannot encode with {'it' if len(wrong) == 1 else 'them'} ({reason}){takes}"
    )


def _suffix(container: str) -> str:
    return next(key for key, value in CONTAINERS.items() if value == container)


def _works(container: str, codec: str = "", size: Size = (64, 64), fps: Fraction = Fraction(25)) -> str:
    """The end of a message: the codecs that work, and the nearest."""
    suffix = _suffix(container)
    recipes = []
    for name in _CANDIDATES[container]:
        try:
            recipes.append(recipe_for(suffix, codec=name))
        except OptionsError:
            continue
    works = [each.codec for each in recipes if each.codec != codec and _refusal(each, size, fps) is None]
    if not works:
        return ""
    return f". These work for {suffix}: {', '.join(works)}.{nearest(codec, works)}"


@lru_cache(64)
def _refusal(recipe: Recipe, size: Size, fps: Fraction) -> str | tuple[str] | None:
    """None where a frame can be encoded; a whole message, or the reason in a tuple."""
    import av

    told = growing_options(recipe, fps)
    try:
        with av.open(io.BytesIO(), "w", format=recipe.container, container_options=told) as container:
            stream = add_stream(container, recipe, size, fps)
            frame = av.VideoFrame(*size, recipe.pixel_format)
            for plane in frame.planes:
                plane.update(bytes(plane.buffer_size))
            frame.pts, frame.time_base = 0, 1 / fps
            container.mux([*encode(stream, frame), *encode(stream, None)])
            unknown = sorted(recipe.asked & stream.codec_context.options.keys())
    except (av.FFmpegError, ValueError, OverflowError) as error:
        return (getattr(error, "strerror", None) or str(error),)
    if not unknown:
        return None
    if unknown == ["crf"]:
        return f"crf: {recipe.codec} has none; give bitrate"
    known = _option_names(recipe.codec)
    return f"codec_options: {recipe.codec} has no option {unknown[0]!r}.{nearest(unknown[0], known)}"


def _option_names(codec: str) -> list[str]:
    import av

    supported = getattr(av.codec.CodecContext.create(codec, "w"), "supported_options", None)
    return [option.name for option in (*supported.private, *supported.generic)] if supported else []
