import mujoco
import numpy as np
import pytest

from simreel.render.schematic.hulls import MAX_PLANES, mesh_hulls


def mesh_of(vertices, faces=None):
    spec = mujoco.MjSpec()
    mesh = spec.add_mesh(name="mesh", uservert=np.ravel(vertices))
    if faces is not None:
        mesh.userface = np.ravel(faces)
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="mesh")
    return spec.compile()


def vertices_of(model):
    return model.mesh_vert.reshape(-1, 3).astype(float)


def test_a_convex_mesh_of_few_faces_is_bounded_by_its_faces():
    model = mesh_of([(x, y, z) for x in (0, 1) for y in (0, 2) for z in (0, 3)])
    (hull,) = mesh_hulls(model, 0)
    assert len(hull.heights) == 6
    reach = vertices_of(model) @ hull.normals.T
    np.testing.assert_allclose(reach.max(axis=0), hull.heights)
    assert (np.isclose(reach, hull.heights, atol=1e-6).sum(axis=0) == 4).all()
    np.testing.assert_allclose(hull.bounds[1], np.sort([0.5, 1, 1.5])[np.argsort(np.argsort(hull.bounds[1]))])


def test_a_round_mesh_is_held_by_planes_that_touch_it_and_is_lit_round():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(400, 3))
    model = mesh_of(points / np.linalg.norm(points, axis=1)[:, None])
    (hull,) = mesh_hulls(model, 0)
    assert len(hull.heights) <= MAX_PLANES
    reach = vertices_of(model) @ hull.normals.T
    np.testing.assert_allclose(reach.max(axis=0), hull.heights)
    # The corners of the hull are not far outside: within a seventh of the radius.
    directions = rng.normal(size=(500, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    facing = directions @ hull.normals.T
    assert np.nanmin(hull.heights / np.where(facing > 0, facing, np.nan), axis=1).max() < 1.15
    point = np.concatenate([hull.normals * hull.heights[:, None], np.ones((len(hull.heights), 1))], axis=1)
    lit = np.einsum("nij,nj->ni", hull.bend, point)
    assert (np.einsum("ni,ni->n", lit, hull.normals) / np.linalg.norm(lit, axis=1) > 0.95).all()


def test_a_hollow_mesh_is_cut_into_slices():
    # A tube bent to a right angle: its hull fills the corner.
    angle = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    ring = np.array([np.cos(angle), np.sin(angle)]).T * 0.1
    rings = [[(a, b, z) for a, b in ring] for z in np.linspace(0, 1, 6)]
    rings += [[(x, b, 1.1 + a) for a, b in ring] for x in np.linspace(0.1, 1, 6)]
    faces = []
    for level in range(len(rings) - 1):
        for k in range(12):
            one, two = 12 * level + k, 12 * level + (k + 1) % 12
            faces += [(one, two, one + 12), (two, two + 12, one + 12)]
    spec_faces = np.array(faces)
    model = mesh_of(np.array(rings).reshape(-1, 3), spec_faces)
    hulls = mesh_hulls(model, 0)
    assert len(hulls) > 1
    for vertex in vertices_of(model):
        assert any((hull.normals @ vertex <= hull.heights + 1e-6).all() for hull in hulls)


@pytest.mark.parametrize("count", [4, 5, 8, 30])
def test_hulls_hold_all_vertices(count):
    model = mesh_of(np.random.default_rng(count).normal(size=(count, 3)))
    (hull,) = mesh_hulls(model, 0)
    assert (vertices_of(model) @ hull.normals.T <= hull.heights + 1e-9).all()
