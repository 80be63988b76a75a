"""Models, and runs of them that were recorded."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import mujoco
import numpy as np
import pytest

import simreel as sr
from simreel.reel import Reel, ReelWriter
from simreel.scene.messages import collected_messages

MUSCLE = """<mujoco><option timestep="0.002"/><worldbody><body><joint name="j" axis="0 1 0" damping="1"/>
<geom type="capsule" size="0.02" fromto="0 0 0 0 0 -.4"/><site name="a" pos="0.05 0 0"/></body>
<site name="b" pos="0.1 0 0.3"/></worldbody>
<tendon><spatial name="t"><site site="a"/><site site="b"/></spatial></tendon>
<actuator><muscle name="muscle" tendon="t" ctrllimited="true" ctrlrange="0 1"/></actuator></mujoco>"""

DELAYED = """<mujoco><option timestep="0.002"/><worldbody><body><joint name="j" axis="0 1 0" damping="1"/>
<geom type="capsule" size="0.02" fromto="0 0 0 0 0 -.4"/></body></worldbody>
<actuator><position joint="j" kp="20" delay="0.01" nsample="8"/></actuator>
<sensor><jointpos joint="j" delay="0.02" nsample="16"/></sensor></mujoco>"""

BOXES = '<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="2 2 .1"/>'
BOXES += "".join(
    f'<body pos="{0.03 * (i % 3)} {0.02 * (i % 2)} {0.06 + 0.11 * i}" euler="{10 * i} {7 * i} 0"><freejoint/>'
    '<geom type="box" size=".05 .05 .05" mass=".1"/></body>'
    for i in range(6)
)
BOXES += "</worldbody></mujoco>"

WELD = """<mujoco><option timestep="0.002"/><worldbody><body name="hand" mocap="true" pos="0 0 .5"/>
<body name="held" pos="0 0 .5"><freejoint/><geom size=".05" mass=".2"/>
<body pos="0 0 -.1"><joint type="ball" damping=".01"/><geom type="capsule" size=".02" fromto="0 0 0 0 0 -.2"/></body>
</body><geom type="plane" size="1 1 .1"/></worldbody>
<equality><weld name="grip" body1="hand" body2="held"/></equality></mujoco>"""

STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
TEXTS = {"muscle": MUSCLE, "delayed": DELAYED, "boxes": BOXES, "weld": WELD}


def _load(name: str) -> mujoco.MjModel:
    if name in TEXTS:
        return mujoco.MjModel.from_xml_string(TEXTS[name])
    if name in sr.models.names():
        return mujoco.MjModel.from_xml_path(str(sr.models.path(name)))
    spec = importlib.util.find_spec("gymnasium")
    if spec is None or spec.origin is None:
        pytest.skip("gymnasium is not installed: pip install 'simreel[demo]'")
    with collected_messages():
        return mujoco.MjModel.from_xml_path(str(Path(spec.origin).parent / "envs/mujoco/assets" / f"{name}.xml"))


@pytest.fixture(scope="session")
def load():
    """`load("humanoid")` compiles a model of the tests, of ours, or of Gymnasium's."""
    return _load


class Inputs:
    """Sets all inputs of a scene that its model has, at random, and the same again for the same seed."""

    def __init__(self, scene: sr.Scene, seed: int = 0) -> None:
        engine = scene.engine
        self.rng = np.random.default_rng(seed)
        self.ctrl, self.force = engine.array("ctrl"), engine.array("xfrc_applied")
        self.mocap, self.grip = engine.array("mocap_pos"), engine.array("eq_active")

    def set(self, step: int) -> None:
        self.ctrl[...] = self.rng.uniform(-1, 1, self.ctrl.shape)
        self.mocap[...] += self.rng.normal(0, 0.002, self.mocap.shape)
        if step % 20 == 0:
            self.force[..., 1, :3] = self.rng.normal(0, 0.1, 3)
            self.grip[...] = step % 80 != 60


@pytest.fixture(scope="session")
def inputs():
    """`inputs(scene).set(step)` moves everything that can be moved."""
    return Inputs


def _scene_of(name: str, n_envs: int = 0, **options: float) -> sr.Scene:
    scene = sr.Scene(sr.SimOptions(**options))
    scene.add_entity(sr.morphs.MJCF(file=TEXTS.get(name) or sr.models.path(name)), name=name)
    scene.build(n_envs)
    return scene


@pytest.fixture
def made():
    """`made("arm", n_envs)` is a built scene."""
    return _scene_of


@pytest.fixture
def record(tmp_path, inputs):
    """`record(scene, 30, 5)` records episodes of so many steps with random inputs; the path of the file."""

    def record(scene: sr.Scene, *episodes: int, name: str = "run.reel", **options: object) -> Path:
        path = tmp_path / name
        move = inputs(scene)
        scene.start_recording(sr.recorders.TrajectoryFile(filename=path, exact=True, **options))
        for number, steps in enumerate(episodes):
            if number:
                scene.reset()
            for step in range(steps):
                move.set(step)
                scene.step()
        scene.stop_recording()
        return path

    return record


def _state(scene: sr.Scene) -> np.ndarray:
    """The whole integration state, (width,), with worlds (n_envs, width)."""
    if scene.n_envs:
        return scene.engine.batch.state.copy()
    state = np.empty(mujoco.mj_stateSize(scene.model, STATE))
    mujoco.mj_getState(scene.model, scene.data, state, STATE)
    return state


@pytest.fixture(scope="session")
def state():
    """`state(scene)` is its whole integration state."""
    return _state


def _rewrite(path, target, *, rows=None, meta=None, blobs=None, notes=None, params=None):
    """A copy of a reel; each argument changes a part in place: rows, meta and blobs as dicts, sides as lists."""
    with Reel.open(path) as reel:
        values = reel.rows(0, len(reel))
        given = {
            "meta": dict(reel.meta),
            "blobs": {name: reel.blobs[name] for name in reel.blobs},
            "notes": list(reel.notes),
            "params": list(reel.params),
        }
        for part, change in (("meta", meta), ("blobs", blobs), ("notes", notes), ("params", params)):
            if change is not None:
                change(given[part])
        if rows is not None:
            rows(values)
        with ReelWriter(target, reel.layout, dt=reel.dt, meta=given["meta"], blobs=given["blobs"]) as writer:
            writer.append(values)
            for side in given["params"]:
                writer.param(side.arrays, frame=side.frame, value=side.value)
            for side in given["notes"]:
                writer.note(side.value, frame=side.frame, arrays=side.arrays)
    return target


@pytest.fixture(scope="session")
def rewrite():
    """`rewrite(path, target, rows=change)` writes a copy of a reel with some parts changed."""
    return _rewrite


def _spoil(path: Path, chunk: int) -> None:
    """Damages a chunk of a file."""
    with Reel.open(path) as reel:
        at = reel._frames.table.offsets[chunk]
    raw = bytearray(path.read_bytes())
    raw[at + 60] ^= 1
    path.write_bytes(raw)


@pytest.fixture(scope="session")
def spoil():
    """`spoil(path, 2)` damages the third chunk of a file, whose frames are lost then."""
    return _spoil


@pytest.fixture
def no_frame(made, record):
    """A run that was cut before its first frame, and before the scene in it."""
    path = record(made("arm"), 5)
    with Reel.open(path) as reel:
        first = next(int(entry["offset"]) for entry in reel.records.entries if entry["tag"] != b"HEAD")
    path.write_bytes(path.read_bytes()[:first])
    return path
