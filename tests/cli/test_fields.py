import numpy as np
import pytest
import typer

import simreel as sr
from simreel.cli.fields import DEFAULT_FIELDS, FieldSource


@pytest.fixture
def scene():
    """The quadruped, some steps after it was let go."""
    scene = sr.Scene()
    scene.add_entity(sr.morphs.MJCF(file=str(sr.models.path("quadruped"))))
    scene.build()
    scene.step(5)
    return scene


def test_fields_are_live_views_of_the_data(scene):
    source = FieldSource(["qpos", "xpos"])
    source.bind(scene)
    first = source()
    assert list(first) == ["qpos", "xpos"]
    before = first["qpos"].copy()
    scene.step(5)
    assert not np.array_equal(first["qpos"], before)
    assert np.array_equal(source()["qpos"], scene.data.qpos)


def test_what_a_step_does_not_compute_is_brought_up_to_date(scene):
    source = FieldSource(["subtree_linvel", "energy", "cacc"])
    source.bind(scene)
    assert not scene.data.subtree_linvel.any()
    fields = source()
    assert all(fields[name].any() for name in fields)


def test_default_fields_without_values_are_left_out_and_asked_ones_are_not():
    scene = sr.Scene()
    scene.add_entity(sr.morphs.Box(size=(1, 1, 1)))
    scene.build()
    for names, kept in ((DEFAULT_FIELDS, ["qpos", "qvel"]), (("qpos", "ctrl"), ["qpos", "ctrl"])):
        source = FieldSource(names)
        source.bind(scene)
        assert list(source()) == kept


def test_an_unknown_field_is_told_with_the_nearest():
    with pytest.raises(typer.BadParameter, match=r"--record qpo: .*no such array\. Did you mean 'qpos'\?"):
        FieldSource(["qpo"])


@pytest.mark.parametrize("name", ["efc_force", "dof_island"])
def test_a_field_whose_length_changes_is_refused(name):
    with pytest.raises(typer.BadParameter, match=f"--record {name}: its length changes"):
        FieldSource([name])
