from __future__ import annotations

import importlib.util
from pathlib import Path

import mujoco
import numpy as np
import pytest

from simreel import models
from simreel.reel.codec import codec_for
from simreel.reel.mujoco import layout_from_mujoco

INTEGRATION = int(mujoco.mjtState.mjSTATE_INTEGRATION)

# Muscles with activations, a delay with a history, every kind of joint, mocap, equality, user data.
EVERYTHING = """
<mujoco>
  <option timestep="0.003"/>
  <size nuserdata="3"/>
  <worldbody>
    <geom type="plane" size="5 5 .1"/>
    <body name="target" mocap="true" pos="0 0 2"><geom size=".1" contype="0" conaffinity="0"/></body>
    <body name="ball" pos="0 0 .5"><freejoint/><geom size=".1"/></body>
    <body name="pendulum" pos="1 0 2">
      <joint type="ball" damping=".1"/><geom type="capsule" size=".05" fromto="0 0 0 .5 0 0"/>
      <body pos=".5 0 0">
        <joint name="hinge" axis="0 1 0"/><geom type="capsule" size=".05" fromto="0 0 0 .5 0 0"/>
        <site name="a" pos=".1 0 .1"/>
      </body>
      <site name="b" pos=".4 0 .1"/>
    </body>
    <body pos="-1 0 1"><joint name="slide" type="slide" axis="0 0 1" stiffness="50"/><geom size=".1"/></body>
  </worldbody>
  <equality><weld body1="ball" body2="target" active="false"/></equality>
  <tendon><spatial name="tendon"><site site="a"/><site site="b"/></spatial></tendon>
  <actuator>
    <muscle name="muscle" tendon="tendon" ctrlrange="0 1" lengthrange=".05 .3"/>
    <position name="position" joint="slide" kp="20"/>
    <general name="filtered" joint="hinge" dyntype="filter" dynprm=".1"/>
  </actuator>
</mujoco>
"""


def ours(name):
    return mujoco.MjModel.from_xml_path(str(models.path(name)))


def gymnasium_model(name):
    package = importlib.util.find_spec("gymnasium")
    if package is None:
        pytest.skip("gymnasium is not installed")
    return mujoco.MjModel.from_xml_path(str(Path(package.origin).parent / "envs" / "mujoco" / "assets" / f"{name}.xml"))


def everything(integrator):
    model = mujoco.MjModel.from_xml_string(EVERYTHING)
    model.opt.integrator = getattr(mujoco.mjtIntegrator, integrator)
    return model


def states(model, n, every=1, seed=0):
    """Rows of the integration state of a driven run."""
    layout = layout_from_mujoco(model)
    rng = np.random.default_rng(seed)
    data = mujoco.MjData(model)
    rows = np.zeros((n, layout.row_bytes // 8))
    for step in range(n * every):
        if step % 5 == 0:
            data.ctrl[:] = rng.uniform(-1, 1, model.nu)
        if step % 100 == 50:
            data.qfrc_applied[:] = rng.normal(size=model.nv) * 0.1
            data.userdata[:] = rng.normal(size=model.nuserdata)
            data.eq_active[:] = rng.integers(0, 2, model.neq)
            data.mocap_pos[:] = rng.normal(size=(model.nmocap, 3))
        if step % every == 0:
            mujoco.mj_getState(model, data, rows[step // every], INTEGRATION)
        mujoco.mj_step(model, data)
    return layout, rows.view(layout.row_dtype)[:, 0]


MODELS = {
    "arm": lambda: ours("arm"),
    "quadruped": lambda: ours("quadruped"),
    "cartpole": lambda: ours("cartpole"),
    "cloth": lambda: ours("cloth"),
    "ant": lambda: gymnasium_model("ant"),
    "humanoid": lambda: gymnasium_model("humanoid"),
    "half_cheetah": lambda: gymnasium_model("half_cheetah"),
    "Euler": lambda: everything("mjINT_EULER"),
    "RK4": lambda: everything("mjINT_RK4"),
    "implicit": lambda: everything("mjINT_IMPLICIT"),
    "implicitfast": lambda: everything("mjINT_IMPLICITFAST"),
}


@pytest.fixture(autouse=True)
def no_log():
    """Keeps MuJoCo from writing its warnings of a model to a file in the current folder."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: None)
    yield
    mujoco.set_mju_user_warning(before)


@pytest.mark.parametrize("every", [1, 10])
@pytest.mark.parametrize("name", MODELS)
def test_real_states_come_back_to_the_bit(check, name, every):
    model = MODELS[name]()
    layout, rows = states(model, 20 if name == "cloth" else 150, every)
    chunks = [rows[:64], rows[64:128], rows[128:]] if len(rows) > 64 else [rows[:16], rows[16:]]
    for codec in ("phys1", "diff1"):
        check(codec, layout, chunks, model.opt.timestep * every)


def test_the_physics_pays_for_a_semi_implicit_integrator():
    model = ours("quadruped")
    layout, rows = states(model, 256)
    streams = codec_for("phys1", layout, model.opt.timestep).encode(rows)
    raw = {field.name: 256 * field.nbytes for field in layout.fields}
    sizes = {field.name: len(stream) for field, stream in zip(layout.fields, streams, strict=True)}
    assert sizes["time"] < 32
    assert raw["qpos"] > 30 * sizes["qpos"]
    assert sum(raw.values()) > 4 * sum(sizes.values())
