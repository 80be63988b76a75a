"""Rays by MuJoCo as the oracle, small PNG files, and programs in new processes."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest

from simreel import models
from simreel.render.view import eye_of

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def build():
    """Model and data of an MJCF text, or of a model of ours by its name, in its first keyframe."""

    def make(source):
        if source.lstrip().startswith("<"):
            model = mujoco.MjModel.from_xml_string(source)
        else:
            model = mujoco.MjModel.from_xml_path(str(models.path(source)))
        data = mujoco.MjData(model)
        if model.nkey:
            mujoco.mj_resetDataKeyframe(model, data, 0)
        mujoco.mj_forward(model, data)
        return model, data

    return make


@pytest.fixture
def oracle():
    """What mj_multiRay says: geom ids (H, W), -1 where nothing is, and depth (H, W), the far plane there."""

    def cast(model, data, view, exclude=-1):
        eye = eye_of(model, data, view)
        width, height = view.size
        left, right, bottom, top = eye.span
        x = left + (np.arange(width) + 0.5) * (right - left) / width
        y = top - (np.arange(height) + 0.5) * (top - bottom) / height
        x, y = np.meshgrid(x, y)
        rays = (x[..., None] * eye.axes[0] + y[..., None] * eye.axes[1] + eye.axes[2]).reshape(-1, 3)
        length = np.linalg.norm(rays, axis=1)
        geoms, distance = np.empty(len(rays), np.int32), np.empty(len(rays))
        groups = np.array([1, 1, 1, 0, 0, 0], np.uint8)
        unit = (rays / length[:, None]).ravel()
        mujoco.mj_multiRay(
            model, data, eye.pos, unit, groups, True, exclude, geoms, distance, None, len(rays), mujoco.mjMAXVAL
        )
        depth = np.where(geoms >= 0, distance / length, eye.clip[1])
        geoms = np.where(depth < eye.clip[1], geoms, -1)
        return geoms.reshape(height, width), np.minimum(depth, eye.clip[1]).reshape(height, width)

    return cast


@pytest.fixture
def agree(oracle):
    """Checks a renderer against the oracle: the same geoms inside their outlines, the same depth there."""

    def check(renderer, data, view, exclude=-1):
        depth, seen = renderer.render(data, view, rgb=False, depth=True, segmentation=True)
        geoms, distance = oracle(renderer.model, data, view, exclude)
        assert depth.shape == geoms.shape
        assert seen.shape == (*geoms.shape, 2)
        found = seen[..., 0]
        inside = interior(geoms)
        np.testing.assert_array_equal(found[inside], geoms[inside])
        # Along the outlines a ray more or less may hit.
        assert (found != geoms).sum() <= 2 + 0.02 * (~inside).sum()
        both = inside & (found == geoms)
        np.testing.assert_allclose(depth[both], distance[both], rtol=2e-6, atol=1e-4)
        return SimpleNamespace(depth=depth, geoms=geoms, inside=inside)

    return check


def interior(geoms):
    padded = np.pad(geoms, 1, mode="edge")
    height, width = geoms.shape
    same = np.ones(geoms.shape, bool)
    for row in range(3):
        for column in range(3):
            same &= padded[row : row + height, column : column + width] == geoms
    return same


@pytest.fixture
def golden():
    """Checks a picture against the one that is kept under that name."""

    def check(name, picture):
        path = GOLDEN / f"{name}.png"
        if os.environ.get("SIMREEL_WRITE_GOLDEN"):
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(png(picture))
        kept = unpng(path.read_bytes())
        assert kept.shape == picture.shape
        apart = np.abs(kept.astype(int) - picture).max(axis=-1)
        # Another processor rounds a pixel of an outline to the other side.
        assert (apart > 8).mean() < 0.01
        assert apart.mean() < 0.5

    return check


def png(picture):
    """A PNG file (RFC 2083) of a picture (H, W, 3) uint8, without filters."""
    height, width, _ = picture.shape
    rows = b"".join(b"\0" + row.tobytes() for row in picture)

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def unpng(file):
    """The picture in a file that `png` made."""
    width, height = struct.unpack(">II", file[16:24])
    start = 8
    data = b""
    while start < len(file):
        (length,) = struct.unpack(">I", file[start : start + 4])
        if file[start + 4 : start + 8] == b"IDAT":
            data += file[start + 8 : start + 8 + length]
        start += length + 12
    rows = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + 3 * width)
    return rows[:, 1:].reshape(height, width, 3)


@pytest.fixture
def run():
    """Runs a program in a new process, with variables set (None: not set); returns what it printed.

    Its status must be 0 and its stderr empty.
    """

    def start(program, **variables):
        clean = {name: value for name, value in os.environ.items() if name not in ("SIMREEL_RENDERER", "MUJOCO_GL")}
        environment = clean | {name: value for name, value in variables.items() if value is not None}
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environment, timeout=50
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return done.stdout.split()

    return start


PACKAGES = {"egl": "libegl1 and libegl-mesa0", "osmesa": "libosmesa6"}


@pytest.fixture(scope="session")
def usable():
    """Skips where a backend of GL cannot be used here."""
    found = {}

    def works(backend):
        if backend not in found:
            # In a process of its own: each process can have one GL only.
            program = f"from simreel.render.gl.renderer import CONTEXTS; CONTEXTS[{backend!r}]().free()"
            done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
            found[backend] = done.returncode == 0
        return found[backend]

    def need(backend):
        if not works(backend):
            pytest.skip(f"{backend} cannot be used here: the Debian packages {PACKAGES[backend]} bring it")

    need.works = works
    return need
