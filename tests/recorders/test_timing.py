"""Rates in simulated time become strides of steps."""

import warnings

import pytest

from simreel.errors import SimreelWarning
from simreel.recorders import Timing


@pytest.mark.parametrize(
    ("hz", "dt", "stride"),
    [
        (None, 0.01, 1),
        (50, 0.01, 2),
        (100, 0.01, 1),
        (60, 1 / 60, 1),
        (1000, 0.001, 1),
        (1, 0.002, 500),
        (0.1, 0.002, 5000),
        (100 / 3, 0.002, 15),
        (1 / 3, 0.1, 30),
    ],
)
def test_a_rate_that_divides_the_steps_is_kept_in_silence(hz, dt, stride):
    timing = Timing.at(hz, dt, 0, "Fake")
    assert timing == Timing(dt, stride, 0)
    assert timing.hz == pytest.approx(1 / dt if hz is None else hz)


@pytest.mark.parametrize(
    ("hz", "dt", "stride", "text"),
    [
        (30, 0.01, 3, "33.3333 Hz, each 3rd step"),
        (30, 0.002, 17, "29.4118 Hz, each 17th step"),
        (90, 0.01, 1, "100 Hz, each 1st step"),
        (1000, 0.01, 1, "100 Hz"),
        (1e9, 0.01, 1, "100 Hz"),
        (4.5, 0.01, 22, "each 22nd step"),
        (9, 0.01, 11, "each 11th step"),
        (0.9, 0.01, 111, "each 111th step"),
        (33.3, 0.01, 3, "33.3333"),
        (1e-300, 0.01, 2**53, "Hz"),
        (5e-324, 0.01, 2**53, "Hz"),
    ],
)
def test_another_rate_is_told_once_with_the_rate_that_results(hz, dt, stride, text):
    with pytest.warns(SimreelWarning, match=text) as caught:
        timing = Timing.at(hz, dt, 4, "Fake run")
    assert timing == Timing(dt, stride, 4)
    assert len(caught) == 1
    assert str(caught[0].message).startswith(f"Fake run: hz={hz:g}")


def test_one_warning_for_a_start_before_build_that_points_at_the_caller(still_scene, fake):
    scene = still_scene(0.01)
    with pytest.warns(SimreelWarning, match=r"33\.3333 Hz") as caught:
        scene.start_recording(lambda: 0, fake(hz=30))
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scene.build()
        scene.step(4)
        scene.stop_recording()
    assert len(caught) == 1


def test_a_step_that_changes_until_the_build_changes_the_stride(fake, tmp_path):
    import simreel as sr

    scene = sr.Scene()
    recorder = scene.start_recording(lambda: scene.step_count, fake(hz=50))
    scene.add_entity(sr.morphs.MJCF("<mujoco><option timestep='.01'/><worldbody/></mujoco>"))
    assert recorder.timing.stride == 10
    scene.build()
    assert (recorder.timing.dt, recorder.timing.stride) == (0.01, 2)
    scene.step(4)
    scene.stop_recording()
    assert recorder.rows == [0, 2, 4]
