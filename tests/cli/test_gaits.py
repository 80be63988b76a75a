import mujoco
import numpy as np
import pytest

from simreel.cli import gaits
from simreel.cli.gaits import Walker, walker


def test_a_gait_is_a_sine_for_each_motor(tmp_path):
    law = Walker("x", tmp_path, hz=2.0, amplitudes=(0.5, 1.0), phases=(0.0, 0.25)).law()
    assert law(np.array([0.0, 0.125])) == pytest.approx(np.array([[0, 1], [0.5, 0]]), abs=1e-12)


@pytest.mark.parametrize("ant", [True, False])
def test_each_walker_has_a_model_with_as_many_motors(monkeypatch, ant):
    if ant:
        pytest.importorskip("gymnasium")
    else:
        monkeypatch.setattr(gaits, "_ant_file", lambda: None)
    robot = walker()
    model = mujoco.MjModel.from_xml_path(str(robot.file))
    assert ("ant" in robot.name) == ant
    assert len(robot.amplitudes) == len(robot.phases) == model.nu
    assert model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE
    assert np.abs(robot.law()(np.arange(0, 2, 0.01))).max() <= 1
