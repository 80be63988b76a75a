"""Parameters that were changed in a run: which a file may give to a model."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import simreel as sr
from simreel.errors import NotATrajectoryError
from simreel.reel.side import Side

MODEL = """<mujoco>
<asset>
  <material name="red" rgba="1 0 0 1"/><material name="green" rgba="0 1 0 1"/>
  <mesh name="small" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1"/><mesh name="large" vertex="0 0 0 .2 0 0 0 .2 0 0 0 .2"/>
</asset>
<worldbody>
  <light name="sun" pos="0 0 3"/><camera name="eye" pos="0 -2 1"/>
  <geom name="floor" type="plane" size="2 2 .1"/>
  <body name="arm" pos="0 0 1"><joint name="swing" axis="0 1 0"/>
    <geom name="link" type="capsule" fromto="0 0 0 .3 0 0" size=".04"/><site name="tip" pos=".3 0 0"/></body>
  <body name="other" pos="0 1 1"><joint name="turn" axis="0 1 0"/><joint name="lift" type="slide"/>
    <geom name="rock" type="mesh" mesh="small" mass="1"/></body>
  <body name="third" pos="0 2 1"><joint name="ball" type="ball"/>
    <geom name="stone" type="mesh" mesh="large" mass="1"/></body>
</worldbody>
<equality>
  <weld name="grip" body1="arm" body2="other" active="false"/><joint name="gear" joint1="turn" joint2="lift"/>
</equality>
<actuator>
  <general name="motor" joint="swing"/><general name="slow" joint="turn" dyntype="filter" dynprm=".1"/>
</actuator></mujoco>"""


def model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(MODEL)


BIAS, GAIN, DYN, GEOM, EQ = mujoco.mjtBias, mujoco.mjtGain, mujoco.mjtDyn, mujoco.mjtGeom, mujoco.mjtEq
ALLOWED = {
    "geom_matid": [-1, -1, 1, -1],
    "light_mode": [3],
    "cam_projection": [1],
    "actuator_biastype": [int(BIAS.mjBIAS_AFFINE), 0],
    "actuator_gaintype": [int(GAIN.mjGAIN_AFFINE), 0],
    "actuator_dyntype": [0, int(DYN.mjDYN_INTEGRATOR)],
    "geom_type": [0, int(GEOM.mjGEOM_BOX), 7, 7],
    "geom_dataid": [-1, -1, 1, 0],
    "geom_condim": [3, 1, 4, 6],
    "geom_sameframe": [0, 0, 0, 0],
    "body_sameframe": [0, 0, 0, 0],
    "eq_obj2id": [3, -1],
    "eq_type": [int(EQ.mjEQ_CONNECT), int(EQ.mjEQ_JOINT)],
    "eq_active0": [True, True],
    "geom_group": [5, 99, -7, 0],
    "jnt_group": [5] * 4,
}
"""Values that are other ones than those of the model, each by itself. A light that aims has its aim with it."""


def edit(model: mujoco.MjModel, name: str, value: list[int]) -> None:
    if name == "light_mode":
        model.light_targetbodyid[:] = 1
    getattr(model, name)[:] = value


@pytest.mark.parametrize("name", ALLOWED)
def test_a_run_goes_on_to_be_of_use_after_an_edit_that_mujoco_allows(tmp_path, name):
    scene = sr.Scene.from_mujoco(model())
    scene.start_recording(sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel"))
    scene.build()
    scene.step(10)
    before = getattr(scene.model, name).copy()
    with scene.edit_model() as edited:
        edit(edited, name, ALLOWED[name])
    scene.step(10)
    scene.stop_recording()
    with sr.Scene.load_trajectory(tmp_path / "run.reel") as traj:
        for frame, expected in ((15, ALLOWED[name]), (3, before), (-1, ALLOWED[name])):
            traj.seek(frame)
            assert np.array_equal(getattr(traj.scene.model, name), expected)
        report = traj.verify()
        assert (report.ok, report.steps) == (True, 20)


REFUSED = {
    "geom_matid": [-1, -1, 2, -1],
    "light_mode": [3],
    "light_targetbodyid": [4],
    "cam_bodyid": [-1],
    "cam_projection": [2],
    "actuator_biastype": [int(BIAS.mjBIAS_DCMOTOR), 0],
    "actuator_dyntype": [int(DYN.mjDYN_INTEGRATOR), int(DYN.mjDYN_FILTER)],
    "geom_type": [0, int(GEOM.mjGEOM_MESH), 7, 7],
    "geom_dataid": [-1, -1, -1, 0],
    "geom_condim": [3, 2, 3, 3],
    "eq_obj1id": [0, -1],
    "eq_obj2id": [-1, 0],
    "eq_type": [int(EQ.mjEQ_WELD), int(EQ.mjEQ_WELD)],
    "jnt_type": [3, 0, 2, 1],
    "body_parentid": [0, 0, 1, 0],
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_value_that_leads_out_of_the_model_is_refused_and_the_scene_stays_where_it_is(tmp_path, name, rewrite):
    scene = sr.Scene.from_mujoco(model())
    with scene.recording(sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel")):
        scene.build()
        scene.step(10)
    value = np.array(REFUSED[name], getattr(scene.model, name).dtype)
    side = Side(5, {"from": 5, "uncertain": None}, {name: value})
    rewrite(tmp_path / "run.reel", tmp_path / "evil.reel", params=lambda params: params.append(side))
    with sr.Scene.load_trajectory(tmp_path / "evil.reel") as traj:
        traj.seek(3)
        traj.scene.step()
        with pytest.raises(NotATrajectoryError, match=rf"{name}' is .* at \[\d\], which is not allowed"):
            traj.seek(7)
        assert traj.scene.step_count == 4
        assert traj.scene.data.time == pytest.approx(4 * traj.dt)
        assert not np.array_equal(getattr(traj.scene.model, name), value)


def test_a_shape_goes_with_the_mesh_that_it_is_given_at_the_same_frame(tmp_path):
    scene = sr.Scene.from_mujoco(model())
    scene.start_recording(sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel"))
    scene.build()
    scene.step(3)
    with scene.edit_model() as edited:
        edited.geom_type[1], edited.geom_dataid[1] = int(GEOM.mjGEOM_MESH), 1
        edited.geom_type[2] = int(GEOM.mjGEOM_SPHERE)
    scene.step(3)
    scene.stop_recording()
    with sr.Scene.load_trajectory(tmp_path / "run.reel") as traj:
        traj.seek(5)
        assert traj.scene.model.geom_type.tolist() == [0, 7, 2, 7]
        assert traj.verify().ok


def test_numbers_with_a_point_are_no_integers(tmp_path, rewrite):
    scene = sr.Scene.from_mujoco(model())
    with scene.recording(sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel")):
        scene.build()
        scene.step(2)
    side = Side(0, None, {"geom_group": np.full(4, np.inf)})
    rewrite(tmp_path / "run.reel", tmp_path / "evil.reel", params=lambda params: params.append(side))
    with (
        sr.Scene.load_trajectory(tmp_path / "evil.reel") as traj,
        pytest.raises(NotATrajectoryError, match="geom_group' is of float64, in the model of int32"),
    ):
        traj.seek(0)


def test_a_scene_that_stands_at_an_edited_frame_is_the_recorded_one(made, tmp_path):
    scene = made("arm")
    scene.start_recording(sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel"))
    scene.step(5)
    with scene.edit_model() as edited:
        edited.opt.gravity[2] = -5
        edited.body_mass[3] *= 2
    scene.step(5)
    scene.stop_recording()
    heavy = scene.model.body_mass[3]
    with sr.Scene.load_trajectory(tmp_path / "run.reel") as traj:
        traj.seek(8)
        for each in (scene, traj.scene):
            with sr.Scene.load_trajectory(tmp_path / "run.reel", each) as again:
                assert (each.model.opt.gravity[2], each.model.body_mass[3]) == (-5, heavy)
                again.seek(2)
                assert (each.model.opt.gravity[2], each.model.body_mass[3]) == (-9.81, heavy / 2)
                again.seek(8)
                assert (each.model.opt.gravity[2], each.model.body_mass[3]) == (-5, heavy)
                assert again.verify().ok


@pytest.mark.parametrize(("name", "told"), [("body_mass", "body_mass"), ("body_ipos", "body_ipos")])
def test_a_scene_that_was_edited_otherwise_differs(made, tmp_path, name, told):
    scene = made("arm")
    scene.start_recording(sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel"))
    scene.step(5)
    with scene.edit_model() as edited:
        edited.body_mass[3] *= 2
    scene.step(5)
    scene.stop_recording()
    getattr(scene.model, name)[3] += 1
    with pytest.raises(sr.errors.SceneDiffersError, match=told):
        sr.Scene.load_trajectory(tmp_path / "run.reel", scene)
