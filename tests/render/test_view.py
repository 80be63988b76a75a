import mujoco
import numpy as np
import pytest

from simreel.errors import OptionsError, UnknownNameError
from simreel.render import View
from simreel.render.view import eye_of

MODEL = """
<mujoco>
  <worldbody>
    <geom type="sphere" size="0.1"/>
    <camera name="plain" pos="1 2 3" xyaxes="0.8 0.6 0 -0.36 0.48 0.8" fovy="30"/>
    <camera name="sensor" resolution="640 480" sensorsize="0.01 0.006" focal="0.012 0.011" principal="0.001 0.0005"/>
    <camera name="parallel" projection="orthographic" fovy="2"/>
    <body name="arm" pos="0.5 0 1" euler="0 0 90"><freejoint/><geom type="box" size="0.1 0.2 0.3"/></body>
  </worldbody>
</mujoco>
"""


@pytest.fixture
def model_and_data(build):
    return build(MODEL)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"size": (0, 10)}, "size"),
        ({"size": (10.5, 10)}, "size"),
        ({"size": 10}, "size"),
        ({"fov": 0}, "fov"),
        ({"fov": 180}, "fov"),
        ({"fov": float("nan")}, "fov"),
        ({"fov": "x"}, "fov"),
        ({"camera": 1.5}, "camera"),
        ({"body": ["arm"]}, "body"),
        ({"pos": (1, 2)}, "pos"),
        ({"pos": (1, 2, float("inf"))}, "pos"),
        ({"lookat": "here"}, "lookat"),
        ({"pos": (1, 2, 3), "lookat": (1, 2, 3)}, "lookat"),
        ({"up": (0, 0, 0)}, "up"),
    ],
)
def test_a_wrong_value_is_refused_by_its_name(values, field):
    with pytest.raises(OptionsError, match=f"View: {field} = "):
        View(**values)


def test_arrays_and_lists_become_tuples_and_equal_views_are_one_key():
    one = View(np.array([320, 240]), pos=np.array([1, 2, 3]), lookat=[0, 0, 1], fov=np.float32(60))
    assert one == View((320, 240), pos=(1.0, 2.0, 3.0), lookat=(0.0, 0.0, 1.0), fov=60.0)
    assert hash(one) == hash(View((320, 240), pos=(1, 2, 3), lookat=(0, 0, 1), fov=60))


def test_the_eye_looks_at_its_point_and_stands_upright(model_and_data):
    eye = eye_of(*model_and_data, View((200, 100), pos=(3, 0, 0), lookat=(0, 0, 0), fov=90))
    np.testing.assert_allclose(eye.axes, [[0, 1, 0], [0, 0, 1], [-1, 0, 0]], atol=1e-12)
    np.testing.assert_allclose(eye.span, (-2, 2, -1, 1))


@pytest.mark.parametrize("up", [(0, 0, 1), (0, 0, -5), (0, 0, 1 + 1e-9)])
def test_up_along_the_line_of_sight_gives_an_orthonormal_eye(model_and_data, up):
    eye = eye_of(*model_and_data, View(pos=(0, 0, 3), lookat=(0, 0, 0), up=up))
    np.testing.assert_allclose(eye.axes @ eye.axes.T, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(np.linalg.det(eye.axes), -1, atol=1e-9)  # right, up, forward
    np.testing.assert_allclose(eye.axes[2], (0, 0, -1))


def test_a_view_fixed_to_a_body_moves_and_turns_with_it(model_and_data):
    model, data = model_and_data
    eye = eye_of(model, data, View(pos=(1, 0, 0), lookat=(2, 0, 0), body="arm"))
    np.testing.assert_allclose(eye.pos, (0.5, 1, 1), atol=1e-12)
    np.testing.assert_allclose(eye.axes[2], (0, 1, 0), atol=1e-12)
    np.testing.assert_allclose(eye_of(model, data, View(pos=(1, 0, 0), lookat=(2, 0, 0), body=1)).pos, eye.pos)


@pytest.mark.parametrize("name", ["plain", "sensor", "parallel"])
def test_a_camera_of_the_model_is_the_one_that_mujoco_makes(model_and_data, name):
    model, data = model_and_data
    eye = eye_of(model, data, View((640, 480), camera=name))
    camera, scene = mujoco.MjvCamera(), mujoco.MjvScene(model, 100)
    camera.type, camera.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, model.camera(name).id
    model.cam_ipd[:] = 0  # the two eyes of MuJoCo in one place
    mujoco.mjv_updateCamera(model, data, camera, scene)
    theirs = scene.camera[0]
    near = 1.0 if theirs.orthographic else theirs.frustum_near
    np.testing.assert_allclose(eye.pos, theirs.pos, atol=1e-6)
    np.testing.assert_allclose(eye.axes[1:], [theirs.up, theirs.forward], atol=1e-6)
    np.testing.assert_allclose(eye.span[2:], (theirs.frustum_bottom / near, theirs.frustum_top / near), rtol=1e-5)
    np.testing.assert_allclose(sum(eye.span[:2]) / 2, theirs.frustum_center / near, atol=1e-6)
    if theirs.frustum_width:
        np.testing.assert_allclose(np.diff(eye.span[:2]) / 2, theirs.frustum_width / near, rtol=1e-5)
    np.testing.assert_allclose(eye.clip, (theirs.frustum_near, theirs.frustum_far), rtol=1e-6)
    assert eye.orthographic == bool(theirs.orthographic)


@pytest.mark.parametrize(
    ("view", "told"),
    [
        (View(camera="plane"), "no camera named 'plane'.*Did you mean 'plain'"),
        (View(camera=3), "no camera named 3"),
        (View(camera=-1), "no camera named -1"),
        (View(body="armm"), "no body named 'armm'.*Did you mean 'arm'"),
    ],
)
def test_an_unknown_name_is_told_with_those_there_are(model_and_data, view, told):
    with pytest.raises(UnknownNameError, match=told):
        eye_of(*model_and_data, view)
