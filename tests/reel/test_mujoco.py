from __future__ import annotations

import mujoco
import numpy as np
import pytest

from simreel import models
from simreel.errors import UnknownNameError
from simreel.reel.mujoco import layout_from_mujoco

INTEGRATION = int(mujoco.mjtState.mjSTATE_INTEGRATION)

XML = """
<mujoco>
  <size nuserdata="3"/>
  <worldbody>
    <body name="target" mocap="true"><geom size=".1"/></body>
    <body name="ball"><freejoint/><geom size=".1"/></body>
    <body pos="1 0 2">
      <joint type="ball"/><geom type="capsule" size=".05" fromto="0 0 0 .5 0 0"/>
      <body pos=".5 0 0">
        <joint name="hinge" axis="0 1 0"/><geom type="capsule" size=".05" fromto="0 0 0 .5 0 0"/>
      </body>
    </body>
    <body pos="-1 0 1"><joint name="slide" type="slide" axis="0 0 1"/><geom size=".1"/></body>
  </worldbody>
  <equality><weld body1="ball" body2="target"/></equality>
  <actuator>
    <position joint="slide" kp="20"/>
    <general joint="hinge" dyntype="filter" dynprm=".1"/>
  </actuator>
</mujoco>
"""


@pytest.fixture
def model():
    return mujoco.MjModel.from_xml_string(XML)


def test_the_layout_has_the_parts_of_the_state_in_the_order_of_mujoco(model):
    layout = layout_from_mujoco(model)
    data = mujoco.MjData(model)
    data.ctrl[:] = 0.5
    mujoco.mj_step(model, data, 20)
    state = np.zeros(mujoco.mj_stateSize(model, INTEGRATION))
    mujoco.mj_getState(model, data, state, INTEGRATION)
    row = state.view(layout.row_dtype)[0]
    for field, values in [("qpos", data.qpos), ("qvel", data.qvel), ("act", data.act), ("ctrl", data.ctrl)]:
        assert values.any()
        assert (row[field] == values).all()
    assert row["time"] == data.time
    assert (row["warmstart"] == data.qacc_warmstart).all()
    assert (row["mocap_quat"] == data.mocap_quat.ravel()).all()
    assert layout.row_bytes == 8 * mujoco.mj_stateSize(model, INTEGRATION)


def test_parts_without_values_are_left_out():
    names = [field.name for field in layout_from_mujoco(mujoco.MjModel.from_xml_path(str(models.path("arm")))).fields]
    assert names == ["time", "qpos", "qvel", "warmstart", "ctrl", "qfrc_applied", "xfrc_applied"]


def test_parts_can_be_chosen_in_any_order(model):
    layout = layout_from_mujoco(model, ["qvel", "time", "qpos"])
    assert [field.name for field in layout.fields] == ["time", "qpos", "qvel"]
    assert [joint.type for joint in layout.joints] == ["free", "ball", "hinge", "slide"]
    signature = mujoco.mjtState.mjSTATE_TIME | mujoco.mjtState.mjSTATE_QPOS | mujoco.mjtState.mjSTATE_QVEL
    assert layout.row_bytes == 8 * mujoco.mj_stateSize(model, int(signature))


def test_joints_are_left_out_where_their_fields_are(model):
    assert layout_from_mujoco(model, ["qpos"]).joints == ()


@pytest.mark.parametrize("part", ["quel", "integration", "QPOS", "mjSTATE_QPOS"])
def test_an_unknown_part_names_those_that_there_are(model, part):
    with pytest.raises(UnknownNameError, match=r"state part.*'qvel'"):
        layout_from_mujoco(model, [part])


def test_a_field_says_what_it_is_for(model):
    layout = layout_from_mujoco(model)
    assert layout["time"].unit == "s"
    assert {layout[name].kind for name in ("time", "qpos", "qvel", "act")} == {"state"}
    assert {layout[name].kind for name in ("ctrl", "xfrc_applied", "mocap_pos", "eq_active", "userdata")} == {"input"}
    assert layout["warmstart"].kind == "warmstart"
