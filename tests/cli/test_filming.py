import pytest

import simreel as sr
from simreel.cli.filming import exact_hz, film_camera
from simreel.errors import UnknownNameError


@pytest.mark.parametrize(
    ("dt", "hz"), [(0.002, 1 / 0.034), (0.01, 1 / 0.03), (0.001, 1 / 0.033), (1 / 30, 30), (0.5, 2)]
)
def test_the_rate_is_near_30_and_divides_the_steps(dt, hz):
    assert exact_hz(dt) == pytest.approx(hz)
    assert 1 / exact_hz(dt) / dt == pytest.approx(round(1 / exact_hz(dt) / dt))


def scene_of(cameras):
    scene = sr.Scene()
    text = "<mujoco><worldbody><geom size='.1' pos='2 0 0'/><geom size='.1'/>{}</worldbody></mujoco>"
    scene.add_entity(sr.morphs.MJCF(file=text.format(cameras)))
    scene.build()
    return scene


def test_the_named_camera_films_else_the_first_of_the_model():
    scene = scene_of("<camera name='a'/><camera name='b'/>")
    for name, found in (("b", "b"), (None, "a")):
        camera = film_camera(scene, name, (32, 24))
        assert (camera.name, camera.view.camera, camera.res) == (found, found, (32, 24))
    with pytest.raises(UnknownNameError, match="no camera named 'c'"):
        film_camera(scene, "c", (32, 24))


def test_a_first_camera_without_a_name_films():
    scene = scene_of("<camera/><camera name='b'/>")
    camera = film_camera(scene, None, (32, 24))
    assert (camera.view.camera, camera.res) == (0, (32, 24))
    assert scene.cameras == ()
    assert film_camera(scene, "b", (32, 24)).view.camera == "b"
    with pytest.raises(UnknownNameError, match="no camera named ''"):
        film_camera(scene, "", (32, 24))


def test_a_model_without_cameras_is_seen_whole(monkeypatch):
    monkeypatch.setenv("SIMREEL_RENDERER", "schematic")
    monkeypatch.setattr("simreel.render.backend._chosen", None)
    scene = scene_of("")
    camera = film_camera(scene, None, (64, 48))
    seen = camera.render(rgb=False, segmentation=True)
    assert {0, 1} <= set(seen[..., 0].ravel().tolist())
    # No ball reaches the edge.
    edge = [*seen[0, :, 0], *seen[-1, :, 0], *seen[:, 0, 0], *seen[:, -1, 0]]
    assert {int(number) for number in edge} == {-1}
