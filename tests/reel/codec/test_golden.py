"""Streams of this contract version, kept for ever: NAME.json with what they are, NAME.bin with rows and then streams.

Files are only added. `python tests/reel/codec/test_golden.py` makes those that are not there.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import zstandard

from simreel.reel.codec import codec_for
from simreel.reel.layout import Field, Joint, Layout

FOLDER = Path(__file__).parent.parent / "golden" / "codec"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))

BODY = Layout(
    tuple(
        Field(name, np.dtype("f8"), width)
        for name, width in [("time", 1), ("qpos", 13), ("qvel", 11), ("warmstart", 11), ("ctrl", 2)]
    ),
    (Joint("free", 0, 0), Joint("ball", 7, 6), Joint("slide", 11, 9), Joint("hinge", 12, 10)),
)
KINDS = Layout(tuple(Field(f"a {dtype}", np.dtype(dtype), 3) for dtype in ("f8", "f4", "i8", "i4", "u1", "bool")))


MOVED = ("time", "qpos", "qvel")


class Golden:
    """One pair of files."""

    def __init__(self, name):
        self.about = json.loads((FOLDER / f"{name}.json").read_text())
        data = (FOLDER / f"{name}.bin").read_bytes()
        self.layout = Layout.from_json(self.about["layout"])
        self.n = self.about["frames"]
        at = self.n * self.layout.row_bytes
        self.rows = np.frombuffer(data[:at], self.layout.row_dtype)
        self.streams = []
        for size in self.about["streams"]:
            self.streams.append(data[at : at + size])
            at += size
        assert at == len(data)

    def codec(self):
        return codec_for(self.about["codec"], self.layout, self.about["dt"])


@pytest.fixture(params=NAMES)
def golden(request):
    return Golden(request.param)


class Given:
    """A choice that is made already."""

    def __init__(self, predictors):
        self._predictors = np.array(predictors, np.uint8)

    def of(self, columns, *_):
        chosen = np.zeros_like(self._predictors)
        chosen[columns] = self._predictors[columns]
        return chosen


def choose(codec, predictors):
    """Takes the choice, which is the writer's own business, from a codec: predictors by the place of a field."""
    for index, some in predictors.items():
        codec.coders[index]._choice = Given(some)
    return codec


def inside(stream):
    return zstandard.ZstdDecompressor().decompress(stream)


def test_a_golden_stream_gives_its_rows(golden):
    views = {index: memoryview(stream) for index, stream in enumerate(golden.streams)}
    decoded = golden.codec().decode(views, golden.n, range(len(views)))
    for index, field in enumerate(golden.layout.fields):
        assert decoded[index].tobytes() == golden.rows[field.name].tobytes(), field.name


def test_golden_rows_give_their_streams(golden):
    widths = [field.width for field in golden.layout.fields]
    predictors = {index: list(inside(golden.streams[index])[:width]) for index, width in enumerate(widths)}
    streams = choose(golden.codec(), predictors).encode(golden.rows)
    assert [inside(stream) for stream in streams] == [inside(stream) for stream in golden.streams]
    # What zstd makes of the content depends on its version.
    assert [inside(stream) for stream in streams] == [inside(stream) for stream in golden.streams]
    if golden.about["zstd"] == list(zstandard.ZSTD_VERSION):
        assert streams == golden.streams


def test_every_predictor_has_a_golden_stream():
    used = set()
    for name in NAMES:
        golden = Golden(name)
        for stream, field in zip(golden.streams, golden.layout.fields, strict=True):
            used |= set(inside(stream)[: field.width])
    assert used == set(range(10))


def make():
    """Rows of noise that look like a moving body, full of edge cases, and of all dtypes."""
    rng = np.random.default_rng(2025)
    moving = np.zeros(35, BODY.row_dtype)
    moving["time"][:, 0] = np.add.accumulate(np.full(35, 0.005))
    moving["ctrl"] = np.repeat(rng.normal(size=(7, 2)), 5, axis=0)
    moving["warmstart"] = np.cumsum(rng.normal(size=(35, 11)), axis=0)
    moving["qvel"] = rng.normal(size=11) + np.cumsum(0.005 * moving["warmstart"], axis=0)
    moving["qpos"][:, [0, 1, 2, 11, 12]] = np.cumsum(0.005 * moving["qvel"][:, [0, 1, 2, 9, 10]], axis=0) + 1
    moving["qpos"][:, 3:11] = 0.5 + np.cumsum(0.002 * moving["qvel"][:, :8], axis=0)
    edges = moving[:20].copy()
    special = np.array([0.0, -0.0, 5e-324, -1e-310, 1e-291, 2.0**-300, 1e300, np.inf, -np.inf, np.nan])
    for name in BODY.row_dtype.names:
        hit = rng.random(edges[name].shape) < 0.2
        edges[name][hit] = rng.choice(special, hit.sum())
    edges["qvel"].view(np.uint64)[5, 3] = 0x7FF0000000000001
    kinds = np.ndarray(19, KINDS.row_dtype, bytearray(rng.bytes(19 * KINDS.row_bytes)))
    kinds["a bool"] = rng.integers(0, 2, (19, 3))
    kinds["a i8"][:, 0] = np.arange(19) ** 2
    kinds["a i4"][:, 1] = 7
    kinds["a f4"][:, 2] = np.linspace(0, 1, 19)
    for name, codec, layout, rows in [
        ("moving", "phys1", BODY, moving),
        ("edges", "phys1", BODY, edges),
        ("archive", "archive", BODY, moving[:18]),
        ("differences", "diff1", BODY, moving[:18]),
        ("kinds", "diff1", KINDS, kinds),
        ("one_frame", "phys1", BODY, moving[:1]),
    ]:
        _write(name, codec, layout, rows, {})
    for predictors in [(1, 1, 7), (2, 5, 8), (3, 6, 9)]:
        chosen = {BODY.index(name): [p] * BODY[name].width for name, p in zip(MOVED, predictors, strict=True)}
        label = "".join(map(str, predictors))
        _write(f"moving_{label}", "phys1", BODY, moving, chosen)
        _write(f"edges_{label}", "phys1", BODY, edges, chosen)


def _write(name, codec, layout, rows, chosen):
    if (FOLDER / f"{name}.json").exists():
        return
    streams = choose(codec_for(codec, layout, 0.005), chosen).encode(rows)
    about = {
        "codec": codec,
        "dt": 0.005,
        "frames": len(rows),
        "streams": [len(stream) for stream in streams],
        "zstd": zstandard.ZSTD_VERSION,
        "layout": layout.to_json(),
    }
    (FOLDER / f"{name}.json").write_text(json.dumps(about, indent=1) + "\n")
    (FOLDER / f"{name}.bin").write_bytes(rows.tobytes() + b"".join(streams))


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    make()
