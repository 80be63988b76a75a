"""Chunks with every bit pattern, their way through a codec, and a processor that flushes subnormals to zero."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import platform
import sys

import numpy as np
import pytest

from simreel.reel.codec import codec_for
from simreel.reel.layout import Field, Joint, Layout

SPECIAL = np.array(
    [
        0.0,
        -0.0,
        5e-324,
        -5e-324,
        2.0**-1022,
        1e-300,
        -1e-291,
        1e-290,
        2.0**-300,
        2.0**300,
        1e308,
        np.inf,
        -np.inf,
        np.nan,
    ]
)
SIGNALLING = np.array([0x7FF0000000000001, 0xFFF8DEADBEEF0001], np.uint64).view(np.float64)

# Every joint, and all that the physics asks for.
BODY = Layout(
    tuple(
        Field(name, np.dtype("f8"), width)
        for name, width in [("time", 1), ("qpos", 13), ("qvel", 11), ("act", 2), ("warmstart", 11), ("ctrl", 3)]
    ),
    (Joint("free", 0, 0), Joint("ball", 7, 6), Joint("slide", 11, 9), Joint("hinge", 12, 10)),
)


@pytest.fixture(scope="session")
def body():
    return BODY


@pytest.fixture(scope="session")
def wild():
    """Rows of a layout, some columns of which are smooth, constant, full of special values, or plain noise."""

    def make(layout, n, seed):
        rng = np.random.default_rng(seed)
        rows = np.ndarray(n, layout.row_dtype, bytearray(rng.bytes(n * layout.row_bytes)))
        for field in layout.fields:
            if field.ragged or not field.width:
                continue
            values = rows[field.name]
            if field.dtype == bool:
                values[:] = rng.integers(0, 2, values.shape)
            for column in range(field.width):
                kind = rng.integers(6)
                if kind == 0:
                    values[:, column] = values[0, column]
                elif kind == 1 and field.dtype.kind == "f":
                    with np.errstate(all="ignore"):
                        values[:, column] = rng.choice(np.concatenate([SPECIAL, SIGNALLING]), n)
                elif kind == 2 and field.dtype.kind == "f":
                    values[:, column] = rng.normal() + np.cumsum(rng.normal(size=n)) * 0.01
                elif kind == 3 and field.dtype.kind == "f":
                    values[:, column] = rng.normal(size=n) * 10.0 ** rng.integers(-300, -280)
                elif kind == 4 and field.dtype.kind in "iu":
                    values[:, column] = np.arange(n).astype(field.dtype)
        return rows

    return make


@pytest.fixture(scope="session")
def moved():
    """Rows of the body, moved by its velocities as an integrator does, with a bit of noise in the last places."""

    def make(n, seed, dt, noise=0):
        rng = np.random.default_rng(seed)
        rows = np.zeros(n, BODY.row_dtype)
        rows["ctrl"] = np.repeat(rng.normal(size=(-(-n // 5), 3)), 5, axis=0)[:n]
        rows["warmstart"] = np.cumsum(rng.normal(size=(n, 11)), axis=0)
        rows["time"][:, 0] = np.add.accumulate(np.r_[3.0, np.full(n - 1, dt)])
        rows["qpos"][0] = [1, 2, 3, 0.5, 0.5, -0.5, 0.5, 0.6, 0.0, 0.8, 0.0, 4, 5]
        rows["qvel"][0] = rng.normal(size=11)
        for t in range(1, n):
            before, row = rows[t - 1], rows[t]
            row["qvel"] = before["qvel"] + dt * row["warmstart"]
            for q, v in [(0, 0), (1, 1), (2, 2), (11, 9), (12, 10)]:
                row["qpos"][q] = before["qpos"][q] + dt * row["qvel"][v]
            for q, v in [(3, 3), (7, 6)]:
                row["qpos"][q : q + 4] = _turned(before["qpos"][q : q + 4], dt * row["qvel"][v : v + 3])
        if noise:
            for name in ("qpos", "qvel"):
                rows[name].view(np.int64)[:] += rng.integers(-noise, noise + 1, rows[name].shape)
        return rows

    return make


def _turned(quaternion, angle):
    half = np.sqrt((angle**2).sum()) / 2
    w, (x, y, z) = np.cos(half), angle / 2 * np.sin(half) / half
    a, b, c, d = quaternion
    turned = np.array(
        [
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        ]
    )
    return turned / np.sqrt((turned**2).sum())


@pytest.fixture(scope="session")
def check():
    """Encodes chunks and decodes each again, all fields at once and each alone; gives the streams."""

    def through(name, layout, chunks, dt=0.01):
        codec, reader = codec_for(name, layout, dt), codec_for(name, layout, dt)
        encoded = [codec.encode(rows) for rows in chunks]
        fixed = [index for index, field in enumerate(layout.fields) if not field.ragged]
        for rows, streams in zip(chunks, encoded, strict=True):
            assert len(streams) == len(fixed)
            views = {index: memoryview(stream) for index, stream in zip(fixed, streams, strict=True)}
            decoded = reader.decode(views, len(rows), fixed)
            for index in fixed:
                few = {place: views[place] for place in (index, *reader.needs(index))}
                alone = reader.decode(few, len(rows), [index])
                assert list(alone) == [index]
                field = layout.fields[index]
                for values in (decoded[index], alone[index]):
                    assert values.dtype == field.dtype
                    assert values.shape == (len(rows), field.width)
                    assert values.tobytes() == rows[field.name].tobytes(), field.name
        return encoded

    return through


@pytest.fixture(scope="session")
def flushing_to_zero():
    """A context in which the processor takes subnormals for zero, as some libraries leave it."""
    if platform.machine() not in ("x86_64", "AMD64") or sys.platform == "win32":
        pytest.skip("the mode is set by machine code for x86-64 with the calling convention of Unix")
    try:
        load = _machine_code(b"\x0f\xae\x17\xc3")  # ldmxcsr [rdi]; ret
        store = _machine_code(b"\x0f\xae\x1f\xc3")  # stmxcsr [rdi]; ret
    except OSError as error:
        pytest.skip(f"the system does not run code from a new page ({error})")

    @contextlib.contextmanager
    def mode():
        before = ctypes.c_uint32()
        store(before)
        load(ctypes.c_uint32(before.value | 0x8040))  # flush to zero, denormals are zero
        try:
            assert (np.array([1e-310]) * 1.0 == 0.0).all()
            assert (np.array([1e-200]) * 1e-110 == 0.0).all()
            yield
        finally:
            load(before)

    return mode


def _machine_code(code):
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    function = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_uint32))(address)
    function.page = page  # which is to live as long
    return function
