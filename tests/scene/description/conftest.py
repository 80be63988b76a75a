"""Models with includes, meshes and pictures in folders of their own."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest

CHILD = """<mujoco><compiler meshdir="parts/meshes"/><asset><mesh file="c.stl"/></asset>
<worldbody><body name="tail"><geom type="mesh" mesh="c"/></body></worldbody></mujoco>"""
INNER = """<mujoco><asset><texture name="skin" type="2d" file="t.png"/><material name="skin" texture="skin"/>
<texture name="sky" type="cube" fileright="sides/r.png"/>
<hfield name="ground" file="../../tex/h.png" size="1 1 1 1"/></asset></mujoco>"""
OUTER = """<mujoco><!-- -- no -- XML -- at -- all -- --><include file="inner.xml"/>
<asset><mesh file="a.stl"/><mesh name="b" file="../../../shared/b.stl"/></asset></mujoco>"""
MAIN = """<mujoco><compiler meshdir="parts/meshes" texturedir="tex"/><include file="parts/outer.xml"/>
<asset><model name="child" file="child.xml"/></asset>
<worldbody><geom name="floor" type="hfield" hfield="ground"/>
<body name="trunk" pos="0 0 3"><freejoint/><geom type="mesh" mesh="a" material="skin"/><geom type="mesh" mesh="b"/>
<attach model="child" body="tail" prefix="rear/"/></body></worldbody></mujoco>"""

URDF = """<robot name="r"><mujoco><compiler meshdir="meshes"/></mujoco><link name="base"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><mesh filename="sub/c.stl"/></geometry></collision></link></robot>"""


def stl(scale):
    """A tetrahedron."""
    corners = scale * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
    faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    return (
        b"\0" * 80
        + struct.pack("<I", 4)
        + b"".join(struct.pack("<12f", 0, 0, 0, *corners[face].ravel()) + b"\0\0" for face in faces)
    )


def png(shade):
    """8 x 8 pixels."""
    rows = b"".join(b"\0" + bytes([16 * i, 16 * j, shade][k] for j in range(8) for k in range(3)) for i in range(8))

    def chunk(tag, data):
        return struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))

    header = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def write(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


@pytest.fixture
def robot(tmp_path):
    """The folder of main.xml, whose files lie below, beside and above it."""
    folder = tmp_path / "somebody" / "robot"
    write(
        folder,
        {
            "main.xml": MAIN,
            "child.xml": CHILD,
            "parts/outer.xml": OUTER,
            "parts/inner.xml": INNER,
            "parts/meshes/a.stl": stl(1),
            "parts/meshes/c.stl": stl(3),
            "../shared/b.stl": stl(2),
            "tex/t.png": png(1),
            "tex/h.png": png(2),
            "parts/../../tex/h.png": png(2),
            "tex/sides/r.png": png(3),
            "urdf/r.urdf": URDF,
            "urdf/meshes/sub/c.stl": stl(3),
        },
    )
    return folder
