"""What is seen and how far it is, against MuJoCo's rays."""

import mujoco
import numpy as np
import pytest

from simreel.render import View
from simreel.render.schematic.renderer import SchematicRenderer

RNG = np.random.default_rng(5)
HEIGHTS = " ".join(f"{value:.3f}" for value in RNG.random(80))
SHAPES = {
    "sphere": 'type="sphere" size="0.4"',
    "capsule": 'type="capsule" size="0.15 0.4"',
    "cylinder": 'type="cylinder" size="0.3 0.4"',
    "ellipsoid": 'type="ellipsoid" size="0.2 0.3 0.5"',
    "box": 'type="box" size="0.2 0.3 0.5"',
    "plane": 'type="plane" size="1 2 0.1"',
    "endless plane": 'type="plane" size="0 0 0.1"',
    "mesh": 'type="mesh" mesh="mesh"',
    "height field": 'type="hfield" hfield="field"',
}
ASSETS = f"""
  <asset>
    <mesh name="mesh" vertex="0 0 0  0.5 0 0  0 0.6 0  0 0 0.7  0.4 0.4 0.4"/>
    <hfield name="field" nrow="8" ncol="10" size="0.6 0.8 0.4 0.1" elevation="{HEIGHTS}"/>
  </asset>
"""
TURNS = {"upright": "1 0 0 0", "turned": "0.3 0.5 -0.4 0.7"}
FRONT = View((160, 120), pos=(2, -1.5, 1.2), lookat=(0, 0, 0.3))


def scene(*bodies, extent=1.0):
    # A near plane that is near enough for no test to feel it.
    visual = '<visual><map znear="0.0001"/></visual>'
    return f'<mujoco><statistic extent="{extent}"/>{visual}{ASSETS}<worldbody>{"".join(bodies)}</worldbody></mujoco>'


@pytest.fixture
def exact(build, agree):
    def check(source, view, **more):
        model, data = build(source)
        with SchematicRenderer(model) as renderer:
            return agree(renderer, data, view, **more)

    return check


@pytest.mark.parametrize("turn", TURNS.values(), ids=TURNS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_every_kind_of_geom_is_exact(exact, shape, turn):
    found = exact(scene(f'<geom {shape} quat="{turn}" pos="0.1 0 0.3"/>'), FRONT)
    assert (found.geoms == 0).any()


@pytest.mark.parametrize("shape", [*SHAPES.values()][:5], ids=[*SHAPES][:5])
@pytest.mark.parametrize("place", ["0 0 0", "0.35 0.2 0", "-0.3 0.5 0.25"])
def test_from_within_a_geom_the_rest_is_seen_through_it(exact, shape, place):
    around = f'<body name="around" pos="{place}"><geom {shape}/></body>' if place == "0 0 0" else ""
    rest = '<geom type="plane" size="0 0 1" pos="0 0 -1"/><geom type="box" size="0.2 0.2 0.2" pos="2 0 0"/>'
    beside = "" if around else f'<geom {shape} pos="{place}"/>'
    view = View((96, 72), pos=(0, 0, 0), lookat=(1, 0.1, -0.2), fov=80)
    found = exact(scene(rest, around, beside), view, exclude=1 if around else -1)
    assert (found.geoms >= 0).any()


@pytest.mark.parametrize("size", [(1, 1), (2, 1), (641, 481), (400, 3), (3, 400), (17, 64)])
def test_every_size_is_exact(exact, size):
    bodies = (f'<geom {shape} pos="{0.7 * i - 1.4} {0.2 * i} 0.5"/>' for i, shape in enumerate([*SHAPES.values()][:5]))
    exact(scene(*bodies, f"<geom {SHAPES['endless plane']}/>"), View(size, pos=(0, -3, 2), lookat=(0, 0, 0.5)))


@pytest.mark.parametrize("shape", [*SHAPES.values()][:5], ids=[*SHAPES][:5])
@pytest.mark.parametrize("turn", TURNS.values(), ids=TURNS)
def test_geoms_behind_and_partly_behind_the_eye(exact, shape, turn):
    places = ["-2 0 0", "0 0.8 0", "0 -0.9 0.3", "0.21 0.04 -0.83", "1.5 0.4 0", "-0.1 0.33 0.9"]
    bodies = (f'<geom {shape} pos="{place}" quat="{turn}"/>' for place in places)
    view = View((120, 90), pos=(0, 0, 0), lookat=(1, 0, 0), fov=120)
    exact(scene(*bodies), view)


def test_an_eye_in_the_plane_of_a_face_sees_the_other_faces(exact):
    body = '<geom type="box" size="0.2 0.3 0.5" pos="2 0.3 0"/>'
    found = exact(scene(body), View((60, 41), pos=(0, 0, 0), lookat=(1, 0, 0)))
    assert (found.geoms == 0).sum() > 100


def test_a_huge_scene_far_from_the_origin(exact):
    bodies = [
        f'<geom {SHAPES["sphere"]} pos="100000 0.5 100000"/>',
        '<geom type="capsule" size="2000 3000" pos="115000 4000 99000" euler="40 0 0"/>',
        '<geom type="box" size="2 300 200" pos="101000 -300 100000"/>',
    ]
    view = View((160, 120), pos=(99990, 0, 100000), lookat=(100000, 0, 100000))
    found = exact(scene(*bodies, extent=10000), view)
    assert set(np.unique(found.geoms)) == {-1, 0, 1, 2}


def test_a_tiny_scene(exact):
    exact(
        scene('<geom type="sphere" size="0.0004"/>', extent=0.001), View((64, 48), pos=(2e-3, 0, 0), lookat=(0, 0, 0))
    )


def test_an_empty_scene_is_sky_at_the_far_plane(build):
    model, data = build("<mujoco/>")
    rgb, depth, seen = SchematicRenderer(model).render(data, View((40, 30)), depth=True, segmentation=True)
    assert rgb.shape == (30, 40, 3)
    assert rgb.dtype == np.uint8
    np.testing.assert_allclose(depth, model.vis.map.zfar * model.stat.extent, rtol=1e-6)
    assert (seen == -1).all()


def test_many_geoms(exact):
    kinds = [*SHAPES.values()][:5]
    bodies = [
        f'<geom {kinds[i % 5]} pos="{RNG.uniform(-9, 9)} {RNG.uniform(-9, 9)} {RNG.uniform(0, 3)}" '
        f'quat="{" ".join(map(str, RNG.normal(size=4)))}"/>'
        for i in range(300)
    ]
    found = exact(scene(*bodies, f"<geom {SHAPES['endless plane']}/>"), View((160, 120), pos=(-12, -9, 6)))
    assert len(np.unique(found.geoms)) > 50


@pytest.mark.parametrize("name", ["arm", "cartpole", "quadruped"])
def test_the_models_of_ours_are_exact(build, agree, name):
    model, data = build(name)
    model.site_group[:] = 5  # no geoms to the rays
    with SchematicRenderer(model) as renderer:
        agree(renderer, data, View((160, 120), camera="side"))


def test_hidden_groups_and_invisible_geoms_are_not_drawn(exact):
    bodies = [
        '<geom type="sphere" size="0.2" group="3"/>',
        '<geom type="sphere" size="0.2" pos="0 0.5 0" rgba="1 0 0 0"/>',
        '<geom type="sphere" size="0.2" pos="0 -0.5 0" group="2"/>',
    ]
    assert set(np.unique(exact(scene(*bodies), FRONT).geoms)) == {-1, 2}


def test_a_transparent_geom_counts_in_depth_and_segmentation(exact):
    bodies = ['<geom type="sphere" size="0.2" rgba="1 0 0 0.3"/>', '<geom type="plane" size="0 0 1"/>']
    assert set(np.unique(exact(scene(*bodies), FRONT).geoms)) == {-1, 0, 1}


def test_the_near_plane_opens_what_it_cuts(build):
    source = '<mujoco><statistic extent="1"/><visual><map znear="0.5"/></visual><worldbody>{}</worldbody></mujoco>'
    wall = '<geom type="box" size="0.1 5 5" pos="0.4 0 0"/><geom type="box" size="0.1 5 5" pos="3 0 0"/>'
    model, data = build(source.format(wall))
    view = View((20, 20), pos=(0, 0, 0), lookat=(1, 0, 0))
    depth = SchematicRenderer(model).render(data, view, rgb=False, depth=True)
    np.testing.assert_allclose(depth, 2.9, rtol=1e-6)


def test_an_orthographic_camera_sees_along_parallel_rays(build):
    model, data = build("""
        <mujoco><statistic extent="1"/><worldbody>
          <geom type="box" size="0.25 0.25 0.1" pos="0 0 0"/><geom type="box" size="0.25 0.25 0.1" pos="0.5 0 -5"/>
          <camera name="down" pos="0 0 2" projection="orthographic" fovy="2"/>
        </worldbody></mujoco>""")
    view = View((80, 80), camera="down")
    depth, seen = SchematicRenderer(model).render(data, view, rgb=False, depth=True, segmentation=True)
    np.testing.assert_allclose(depth[40, 40], 1.9, atol=1e-3)
    np.testing.assert_allclose(depth[40, 60], 6.9, atol=1e-3)
    assert abs(int((seen[..., 0] == 0).sum()) - 400) <= 40  # 20 x 20 pixels, at any distance
    assert abs(int((seen[..., 0] == 1).sum()) - 400) <= 40


def test_cloth_is_where_mujocos_rays_meet_its_faces(build):
    model, data = build("cloth")
    for _ in range(150):
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    view = View((48, 36), camera="side")
    with SchematicRenderer(model) as renderer:
        depth, seen = renderer.render(data, view, rgb=False, depth=True, segmentation=True)
    from simreel.render.view import eye_of

    eye = eye_of(model, data, view)
    rows, columns = np.nonzero(seen[..., 1] == mujoco.mjtObj.mjOBJ_FLEX)
    assert len(rows) > 100
    width, height = view.size
    left, right, bottom, top = eye.span
    for row, column in zip(rows, columns, strict=True):
        x, y = left + (column + 0.5) * (right - left) / width, top - (row + 0.5) * (top - bottom) / height
        ray = np.array([x, y, 1]) @ eye.axes
        # Its faces are as thick as the cloth, and stand that far before the middle that is drawn.
        met = mujoco.mj_rayFlex(model, data, 0, False, False, True, False, 0, eye.pos, ray)
        assert met < 0 or abs(met - depth[row, column]) < 0.2
