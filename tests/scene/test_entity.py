from __future__ import annotations

import numpy as np
import pytest

import simreel as sr
from simreel.errors import FieldError, UnknownNameError


@pytest.fixture
def two_arms() -> tuple[sr.Scene, object, object]:
    scene = sr.Scene()
    first = scene.add_entity(sr.morphs.MJCF(sr.models.path("arm")))
    second = scene.add_entity(sr.morphs.MJCF(sr.models.path("arm"), pos=(0, 1, 0)), name="right")
    scene.build()
    return scene, first, second


def test_getters_give_the_part_of_the_entity(two_arms: tuple) -> None:
    scene, first, second = two_arms
    scene.data.qpos[:] = np.arange(14)
    scene.data.qvel[:] = np.arange(14) + 100
    scene.data.ctrl[:] = np.arange(14) + 200
    np.testing.assert_array_equal(first.get_qpos(), np.arange(7))
    np.testing.assert_array_equal(second.get_qpos(), np.arange(7, 14))
    np.testing.assert_array_equal(second.get_qvel(), np.arange(107, 114))
    np.testing.assert_array_equal(second.get_ctrl(), np.arange(207, 214))
    np.testing.assert_array_equal(second.get_pos() - first.get_pos(), [0, 1, 0])
    np.testing.assert_array_equal(second.get_quat(), [1, 0, 0, 0])


def test_getters_return_copies(two_arms: tuple) -> None:
    scene, _, second = two_arms
    for get in (second.get_qpos, second.get_qvel, second.get_ctrl, second.get_pos, second.get_quat):
        before = get()
        get()[:] = 7
        np.testing.assert_array_equal(get(), before)
    assert scene.step_count == 0


def test_setters_change_the_part_of_the_entity_and_nothing_else(two_arms: tuple) -> None:
    scene, first, second = two_arms
    second.set_qpos([1, 2, 3, 4, 5, 6, 7])
    second.set_qvel(np.full(7, 8, np.float32))
    second.set_ctrl(np.full(7, 9))
    np.testing.assert_array_equal(scene.data.qpos, [0] * 7 + [1, 2, 3, 4, 5, 6, 7])
    np.testing.assert_array_equal(scene.data.qvel, [0] * 7 + [8] * 7)
    np.testing.assert_array_equal(scene.data.ctrl, [0] * 7 + [9] * 7)
    np.testing.assert_array_equal(first.get_qpos(), np.zeros(7))


def test_setting_qpos_leaves_qvel(two_arms: tuple) -> None:
    _, first, _ = two_arms
    first.set_qvel(np.ones(7))
    first.set_qpos(np.ones(7))
    np.testing.assert_array_equal(first.get_qvel(), np.ones(7))


def test_poses_follow_a_set_state_at_refresh() -> None:
    scene = sr.Scene()
    box = scene.add_entity(sr.morphs.Box((1, 1, 1), pos=(0, 0, 2)))
    scene.build()
    np.testing.assert_array_equal(box.get_pos(), [0, 0, 2])
    box.set_qpos([0, 0, 5, 0, 1, 0, 0])
    scene.refresh()
    np.testing.assert_array_equal(box.get_pos(), [0, 0, 5])
    np.testing.assert_array_equal(box.get_quat(), [0, 1, 0, 0])


@pytest.mark.parametrize("values", [np.zeros(6), np.zeros((1, 7)), 3.0, []])
@pytest.mark.parametrize("setter", ["set_qpos", "set_qvel", "set_ctrl"])
def test_a_wrong_shape_is_told_with_both_shapes(two_arms: tuple, setter: str, values: object) -> None:
    _, _, second = two_arms
    with pytest.raises(FieldError, match=rf"right\.{setter}: shape .* \(7,\) needed"):
        getattr(second, setter)(values)


@pytest.mark.parametrize("values", ["abc", None, [None] * 7, [[1], [2, 3]]])
def test_values_that_are_no_numbers_are_told(two_arms: tuple, values: object) -> None:
    _, first, _ = two_arms
    with pytest.raises(sr.errors.SimreelError, match=r"mjcf\.set_qpos"):
        first.set_qpos(values)


def test_worlds_of_a_scene_with_one_world_are_refused(two_arms: tuple) -> None:
    _, first, _ = two_arms
    with pytest.raises(FieldError, match=r"envs_idx: .* the scene has one world"):
        first.set_qpos(np.zeros(7), envs_idx=[0])


def test_names_are_those_of_the_model(two_arms: tuple) -> None:
    scene, first, second = two_arms
    assert second.joint_names == tuple(f"right/{name}" for name in first.joint_names)
    assert [scene.model.joint(name).qposadr[0] for name in second.joint_names] == list(range(7, 14))
    assert len(second.actuator_names) == 7
    assert all(name.startswith("right/") for name in (*second.body_names, *second.actuator_names))


def test_a_sensor_is_found_by_its_name_with_or_without_prefix(two_arms: tuple) -> None:
    scene, first, second = two_arms
    scene.refresh()
    name = next(scene.model.sensor(i).name for i in range(scene.model.nsensor) if "pos" in scene.model.sensor(i).name)
    expected = scene.data.sensor(f"right/{name}").data
    np.testing.assert_array_equal(second.sensor(name), expected)
    np.testing.assert_array_equal(second.sensor(f"right/{name}"), expected)
    np.testing.assert_array_equal(first.sensor(name), scene.data.sensor(name).data)


def test_an_unknown_sensor_is_told_with_the_nearest(two_arms: tuple) -> None:
    scene, first, _ = two_arms
    name = scene.model.sensor(0).name
    with pytest.raises(UnknownNameError, match=f"Did you mean '{name}'"):
        first.sensor(name + "x")


def test_an_entity_without_joints_has_empty_parts() -> None:
    scene = sr.Scene()
    floor = scene.add_entity(sr.morphs.Plane())
    block = scene.add_entity(sr.morphs.Box((1, 1, 1), fixed=True, pos=(1, 2, 3)))
    scene.build()
    assert block.get_qpos().shape == floor.get_qpos().shape == (0,)
    np.testing.assert_array_equal(block.get_pos(), [1, 2, 3])
    assert block.joint_names == ()
