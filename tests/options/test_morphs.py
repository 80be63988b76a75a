"""What the morphs accept and refuse; no file is opened and no model compiled."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from simreel.errors import OptionsError
from simreel.options import morphs
from simreel.options.morphs import MJCF, URDF, Box, Capsule, Cylinder, PlanarArm, PlanarLink, Plane, Sphere

ALL = [
    Plane(),
    Plane((2, 3), rgba=(1, 0, 0, 1)),
    Box((1, 2, 3), mass=2.0, fixed=True, name="kiste"),
    Sphere(0.1, density=500),
    Capsule(0.1, 0.4, pos=(1, 2, 3)),
    Cylinder(0.1, 0.4, quat=(0, 1, 0, 0)),
    MJCF("arm.xml", "left/"),
    MJCF("<mujoco/>"),
    URDF("a b/ü.urdf", fixed=False),
    PlanarArm([PlanarLink(0.3, 1.0, inertia=0.01)], 0.1),
]


@pytest.mark.parametrize("morph", ALL, ids=lambda morph: type(morph).__name__)
def test_a_morph_survives_json(morph):
    assert type(morph).model_validate_json(morph.model_dump_json()) == morph


@pytest.mark.parametrize("name", morphs.__all__)
def test_every_field_tells_what_it_is(name):
    for field, info in getattr(morphs, name).model_fields.items():
        assert info.description, field


def test_options_of_morphs_load_neither_numpy_nor_mujoco():
    check = (
        "import sys, simreel.options.morphs as m; m.Box((1, 1, 1)); assert not {'numpy', 'mujoco'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", check], check=True, timeout=60)


def test_numpy_values_paths_and_lists_are_accepted(tmp_path):
    box = Box(np.array([1.0, 2.0, 3.0]), pos=np.zeros(3), mass=np.float32(2))
    assert box.size == (1.0, 2.0, 3.0)
    assert box.mass == 2.0
    assert MJCF(tmp_path / "a.xml").file == str(tmp_path / "a.xml")
    assert PlanarArm([{"length": 1, "mass": 1, "inertia": 0}]).links[0].limits == (-math.pi, math.pi)


def test_the_middle_of_a_link_is_its_centre_of_mass_unless_given():
    assert PlanarLink(1, 1, inertia=0).com is None
    assert PlanarLink(1, 1, inertia=0, com=[0.1, 0.2]).com == (0.1, 0.2)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Box((1, 2)), "size"),
        (lambda: Box((1, 2, 0)), "size"),
        (lambda: Box(), "size is missing"),
        (lambda: Box((1, 2, math.nan)), "size"),
        (lambda: Sphere(-1), "radius"),
        (lambda: Sphere(1, 2), "allowed without: radius"),
        (lambda: Sphere(1, radius=2), "radius: given twice"),
        (lambda: Sphere(1, radus=2), "radus is not an option. Did you mean 'radius'"),
        (lambda: Sphere(1, mass=1, density=3), "mass = 1 and density = 3: give one of them"),
        (lambda: Sphere(1, mass=0), "mass"),
        (lambda: Sphere(1, density=0), "density"),
        (lambda: Sphere(1, rgba=(0, 0, 0, 1.5)), "rgba"),
        (lambda: Sphere(1, rgba=(0, 0, 0)), "rgba"),
        (lambda: Sphere(1, quat=(0, 0, 0, 0)), "quat = (0.0, 0.0, 0.0, 0.0)"),
        (lambda: Sphere(1, name=""), "name"),
        (lambda: Sphere(1, pos=(0, 0, math.inf)), "pos"),
        (lambda: Capsule(0.1), "length is missing"),
        (lambda: Plane(fixed=False), "fixed = False: a plane is always fixed"),
        (lambda: Plane((1, -1)), "size"),
        (lambda: MJCF(), "file is missing"),
        (lambda: MJCF(""), "file"),
        (lambda: MJCF("a\0.xml"), "NUL"),
        (lambda: MJCF(3), "file"),
        (lambda: MJCF("a.xml", fixed=True), "fixed is not an option"),
        (lambda: PlanarArm([]), "at least one link"),
        (lambda: PlanarArm([PlanarLink(1, 1, inertia=1)], -1), "base_length"),
        (lambda: PlanarLink(1, 0, inertia=1), "mass"),
        (lambda: PlanarLink(0, 1, inertia=1), "length"),
        (lambda: PlanarLink(1, 1, inertia=-1), "inertia"),
        (lambda: PlanarLink(1, 1, inertia=1, limits=(1, 1)), "limits"),
    ],
)
def test_a_mistake_names_the_field(make, words):
    with pytest.raises(OptionsError) as caught:
        make()
    assert words in str(caught.value)


def test_a_quaternion_of_any_length_is_kept_as_it_was_given():
    assert Sphere(1, quat=(2, 0, 0, 0)).quat == (2.0, 0.0, 0.0, 0.0)


def test_morphs_are_frozen():
    with pytest.raises(OptionsError, match="frozen"):
        Sphere(1).radius = 2


def test_a_path_is_kept_as_text_of_the_platform():
    assert MJCF(Path("models") / "a.xml").file == str(Path("models") / "a.xml")
