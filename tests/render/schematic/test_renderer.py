from itertools import pairwise

import mujoco
import numpy as np
import pytest

from simreel.errors import OptionsError
from simreel.render import RenderError, View
from simreel.render.schematic.renderer import SchematicRenderer

SIDE = View((160, 120), camera="side")


def settled_cloth(build):
    model, data = build("cloth")
    for _ in range(250):
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    return model, data


@pytest.mark.parametrize("name", ["arm", "cartpole", "cloth", "quadruped"])
def test_the_models_of_ours_look_as_they_did(build, golden, name):
    model, data = settled_cloth(build) if name == "cloth" else build(name)
    golden(name, SchematicRenderer(model).render(data, SIDE))


@pytest.mark.parametrize("name", ["arm", "cartpole", "cloth", "quadruped"])
def test_nothing_that_is_given_is_changed(build, name):
    model, data = build(name)
    before = [np.empty(mujoco.mj_sizeModel(model), np.uint8) for _ in range(2)]
    mujoco.mj_saveModel(model, None, before[0])
    kept = {
        field: np.array(getattr(data, field)) for field in dir(data) if isinstance(getattr(data, field), np.ndarray)
    }
    renderer = SchematicRenderer(model)
    for _ in range(3):
        renderer.render(data, SIDE, depth=True, segmentation=True)
    mujoco.mj_saveModel(model, None, before[1])
    np.testing.assert_array_equal(before[0], before[1])
    for field, value in kept.items():
        np.testing.assert_array_equal(getattr(data, field), value, err_msg=field)


@pytest.mark.parametrize("name", ["arm", "cartpole", "cloth", "quadruped"])
def test_a_kept_picture_is_the_same_as_a_new_one(build, name):
    model, data = build(name)
    renderer = SchematicRenderer(model)
    for _ in range(5):
        for _ in range(20):
            mujoco.mj_step(model, data)
        mujoco.mj_forward(model, data)
        kept = renderer.render(data, SIDE, depth=True, segmentation=True)
        new = SchematicRenderer(model).render(data, SIDE, depth=True, segmentation=True)
        for one, other in zip(kept, new, strict=True):
            np.testing.assert_array_equal(one, other)


def test_each_call_returns_a_new_picture_that_is_the_callers(build):
    model, data = build("arm")
    renderer = SchematicRenderer(model)
    first = [renderer.render(data, SIDE) for _ in range(3)]
    kept = first[2].copy()
    first[2][:] = 0
    np.testing.assert_array_equal(renderer.render(data, SIDE), kept)


@pytest.mark.parametrize(
    ("asked", "shapes"),
    [
        ({}, [(120, 160, 3)]),
        ({"depth": True}, [(120, 160, 3), (120, 160)]),
        ({"segmentation": True}, [(120, 160, 3), (120, 160, 2)]),
        ({"rgb": False, "depth": True}, [(120, 160)]),
        ({"rgb": False, "depth": True, "segmentation": True}, [(120, 160), (120, 160, 2)]),
        ({"depth": True, "segmentation": True}, [(120, 160, 3), (120, 160), (120, 160, 2)]),
    ],
)
def test_what_is_asked_for_comes_in_order(build, asked, shapes):
    model, data = build("arm")
    pictures = SchematicRenderer(model).render(data, SIDE, **asked)
    pictures = [pictures] if isinstance(pictures, np.ndarray) else list(pictures)
    types = {3: np.uint8, 2: np.int32}
    assert [picture.shape for picture in pictures] == shapes
    for picture in pictures:
        assert picture.dtype == (types[picture.shape[-1]] if picture.ndim == 3 else np.float32)
        assert picture.flags.c_contiguous


def test_to_ask_for_nothing_is_refused(build):
    model, data = build("arm")
    with pytest.raises(OptionsError, match="one at least"):
        SchematicRenderer(model).render(data, SIDE, rgb=False)


def test_the_picture_does_not_depend_on_what_else_is_asked_for(build):
    model, data = build("quadruped")
    model.geom_rgba[1, 3] = 0.5
    renderer = SchematicRenderer(model)
    rgb, depth, seen = renderer.render(data, SIDE, depth=True, segmentation=True)
    np.testing.assert_array_equal(renderer.render(data, SIDE), rgb)
    np.testing.assert_array_equal(renderer.render(data, SIDE, rgb=False, depth=True), depth)
    np.testing.assert_array_equal(renderer.render(data, SIDE, rgb=False, segmentation=True), seen)


def test_a_closed_renderer_says_so(build):
    model, data = build("arm")
    with SchematicRenderer(model) as renderer:
        renderer.render(data, SIDE)
    renderer.close()
    with pytest.raises(RenderError, match="closed"):
        renderer.render(data, SIDE)


def test_a_colour_or_height_that_is_changed_is_seen(build):
    model, data = build("""
        <mujoco><asset><hfield name="h" nrow="4" ncol="4" size="1 1 1 0.1"/></asset><worldbody>
          <geom name="ball" type="sphere" size="0.3" pos="0 0 1" rgba="1 0 0 1"/><geom type="hfield" hfield="h"/>
          <light name="sun" dir="0 0 -1" type="directional"/>
        </worldbody></mujoco>""")
    view = View((80, 60), pos=(3, 0, 2), lookat=(0, 0, 0.5))
    renderer = SchematicRenderer(model)
    pictures = [renderer.render(data, view) for _ in range(3)]
    model.geom("ball").rgba = (0, 1, 0, 1)
    pictures.append(renderer.render(data, view))
    model.hfield_data[:] = np.linspace(0, 1, 16)
    pictures.append(renderer.render(data, view))
    model.light("sun").diffuse = 0
    pictures.append(renderer.render(data, view))
    np.testing.assert_array_equal(pictures[1], pictures[2])
    for one, other in pairwise(pictures[2:]):
        assert (one != other).any()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300])
@pytest.mark.parametrize("name", ["arm", "cloth", "quadruped"])
def test_a_state_that_blew_up_gives_a_picture_all_the_same(build, name, value):
    model, data = build(name)
    for field in (data.geom_xpos, data.geom_xmat, data.flexvert_xpos, data.site_xpos):
        field[len(field) // 2 :] = value
    rgb = SchematicRenderer(model).render(data, SIDE)
    assert rgb.shape == (120, 160, 3)


def test_many_views_do_not_pile_up(build):
    model, data = build("cartpole")
    renderer = SchematicRenderer(model)
    for number in range(30):
        renderer.render(data, View((20, 20), pos=(3, number, 2)))
    assert len(renderer._layers) == 8


def test_shadows_fall_away_from_the_light_and_on_the_ground_only(build):
    model, data = build("""
        <mujoco><visual><headlight active="0"/></visual><worldbody><light type="directional" dir="1 0 -1"/>
          <geom type="plane" size="5 5 1" rgba="1 1 1 1"/><geom type="sphere" size="0.3" pos="0 0 1"/>
        </worldbody></mujoco>""")
    view = View((100, 100), pos=(0, 0, 8), lookat=(0, 0, 0), up=(0, 1, 0))
    rgb, seen = SchematicRenderer(model).render(data, view, segmentation=True)
    dark = (rgb.max(axis=-1) == 0) & (seen[..., 0] == 0)
    rows, columns = np.nonzero(dark)
    assert len(rows) > 20
    half = np.tan(np.radians(22.5)) * 8
    x, y = (columns + 0.5) / 50 * half - half, half - (rows + 0.5) / 50 * half
    np.testing.assert_allclose((x.mean(), y.mean()), (1, 0), atol=0.1)  # from 1 m up, 1 m along
    assert np.hypot((x - 1) / np.sqrt(2), y).max() < 0.32  # the ellipse that a ball throws at 45 degrees


@pytest.mark.parametrize(
    "shape",
    [
        'type="box" size="0.3 0.2 0.1"',
        'type="cylinder" size="0.2 0.3"',
        'type="capsule" size="0.1 0.3"',
        'type="ellipsoid" size="0.1 0.2 0.3"',
    ],
)
def test_a_shadow_is_where_a_ray_to_the_light_is_stopped(build, shape):
    model, data = build(f"""
        <mujoco><visual><headlight active="0"/></visual><worldbody><light type="directional" dir="0.5 0.3 -1"/>
          <geom type="plane" size="5 5 1" rgba="1 1 1 1"/>
          <body pos="0 0 0.8" euler="30 40 10"><geom {shape}/></body>
        </worldbody></mujoco>""")
    view = View((90, 90), pos=(-1, 1, 4), lookat=(0.3, 0.2, 0))
    rgb, depth, seen = SchematicRenderer(model).render(data, view, depth=True, segmentation=True)
    ground = seen[..., 0] == 0
    dark = rgb.max(axis=-1) == 0
    from simreel.render.view import eye_of

    eye = eye_of(model, data, view)
    left, right, bottom, top = eye.span
    wrong = 0
    light = np.array([0.5, 0.3, -1])
    for row, column in np.argwhere(ground):
        x, y = left + (column + 0.5) * (right - left) / 90, top - (row + 0.5) * (top - bottom) / 90
        point = eye.pos + depth[row, column] * (np.array([x, y, 1]) @ eye.axes)
        met = mujoco.mj_ray(model, data, point - 1e-4 * light, -light, None, True, 0, np.zeros(1, np.int32))
        wrong += (met > 0) != dark[row, column]
    assert dark[ground].sum() > 50
    assert wrong <= 3


def test_what_is_transparent_is_blended_over_the_rest(build):
    model, data = build("""
        <mujoco><visual><headlight ambient="1 1 1" diffuse="0 0 0" specular="0 0 0"/></visual><worldbody>
          <light diffuse="0 0 0" specular="0 0 0" castshadow="false"/>
          <geom type="box" size="0.1 3 3" pos="-1 0 0" rgba="0 0 1 1"/>
          <geom type="box" size="0.1 3 3" pos="0 0 0" rgba="1 0 0 0.25"/>
        </worldbody></mujoco>""")
    rgb = SchematicRenderer(model).render(data, View((10, 10), pos=(2, 0, 0), lookat=(0, 0, 0)))
    np.testing.assert_allclose(rgb[5, 5], (0.25 * 255, 0, 0.75 * 255), atol=2)


def test_tendons_sites_and_mocap_bodies_are_drawn_where_they_are(build):
    model, data = build("""
        <mujoco><worldbody>
          <body name="m" mocap="true" pos="0 0 1"><geom type="sphere" size="0.1"/><site name="a" size="0.05"/></body>
          <body pos="0 1 1"><freejoint/><geom type="sphere" size="0.1"/><site name="b" size="0.12"/></body>
        </worldbody><tendon><spatial width="0.02"><site site="a"/><site site="b"/></spatial></tendon></mujoco>""")
    view = View((120, 90), pos=(4, 0.5, 1), lookat=(0, 0.5, 1))
    renderer = SchematicRenderer(model)
    pictures = []
    for z in (1.0, 1.5):
        data.mocap_pos[0, 2] = z
        mujoco.mj_forward(model, data)
        pictures.append(renderer.render(data, view, rgb=False, segmentation=True))
    for seen in pictures:
        kinds = (mujoco.mjtObj.mjOBJ_GEOM, mujoco.mjtObj.mjOBJ_SITE, mujoco.mjtObj.mjOBJ_TENDON)
        assert set(np.unique(seen[..., 1]).tolist()) == {-1, *map(int, kinds)}
    assert (pictures[0] != pictures[1]).any()


def test_cloth_is_lit_from_both_sides_and_throws_a_shadow(build):
    model, data = build("cloth")
    model.vis.headlight.ambient[:] = 0
    for height in (1.5, 0.3):
        rgb, seen = SchematicRenderer(model).render(
            data, View((80, 60), pos=(1, -1, height), lookat=(0, 0, 0.75)), segmentation=True
        )
        cloth = rgb[seen[..., 1] == mujoco.mjtObj.mjOBJ_FLEX]
        assert len(cloth) > 100
        assert cloth.max(axis=-1).mean() > 15
