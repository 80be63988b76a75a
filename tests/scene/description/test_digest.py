"""The identity of a model is the same wherever it is compiled, and another one for another model."""

import subprocess
import sys

import mujoco
import numpy as np
import pytest

from simreel import models
from simreel.scene.description import digest
from simreel.scene.description.digest import model_values

SCRIPT = """
import sys, simreel as sr
from simreel.options.morphs import MJCF, Box
from simreel.scene.description import digest
scene = sr.Scene()
scene.add_entity(MJCF(sys.argv[1]))
scene.add_entity(Box(size=(1, 2, 3), pos=(0, 0, 9)))
scene.build()
print(digest(scene.model))
"""


def load(name):
    return mujoco.MjModel.from_xml_path(str(models.path(name)))


@pytest.mark.parametrize("name", models.names())
def test_a_model_compiled_twice_has_one_digest(name):
    assert digest(load(name)) == digest(load(name))


def test_two_models_have_two_digests():
    assert len({digest(load(name)) for name in models.names()}) == len(models.names())


def test_the_same_script_in_two_processes_gives_one_digest(robot):
    command = [sys.executable, "-W", "error", "-c", SCRIPT, robot / "main.xml"]
    runs = [subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(2)]
    assert runs[0] == runs[1]
    assert len(runs[0].strip()) == 64


def test_the_folder_of_the_files_does_not_count(robot):
    first = mujoco.MjModel.from_xml_path(str(robot / "main.xml"))
    robot.parent.rename(robot.parent.with_name("a longer name"))
    moved = robot.parent.with_name("a longer name") / robot.name / "main.xml"
    second = mujoco.MjModel.from_xml_path(str(moved))
    assert first.paths != second.paths
    assert digest(first) == digest(second)


def test_each_value_counts():
    model = load("quadruped")
    seen = {digest(model)}
    arrays = [(name, value) for name, value in model_values(model) if isinstance(value, np.ndarray) and value.size]
    for _, value in arrays:
        raw = value.reshape(-1).view(np.uint8)
        raw[-1] ^= 1
        seen.add(digest(model))
        raw[-1] ^= 1
    assert len(arrays) > 200
    assert len(seen) == len(arrays) + 1


@pytest.mark.parametrize("name", ["opt.timestep", "opt.gravity", "opt.disableflags", "stat.extent", "qpos0", "nq"])
def test_options_statistics_and_sizes_are_among_the_values(name):
    assert name in dict(model_values(load("arm")))


def test_what_depends_on_the_machine_is_not_among_the_values():
    names = list(dict(model_values(load("arm"))))
    assert not [name for name in names if "path" in name or "bvh" in name or name in ("signature", "nbuffer")]
