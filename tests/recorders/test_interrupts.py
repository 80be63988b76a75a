"""Ctrl-C within a step or a stop; the run goes on after it, with no row lost or doubled."""

import pytest


def run(scene, n):
    for _ in range(n):
        scene.step()


def test_ctrl_c_in_a_data_function_costs_no_row_and_doubles_none(still_scene, fake):
    scene = still_scene()
    interrupts = [2, 2, 5]

    def interrupted():
        if scene.step_count in interrupts:
            interrupts.remove(scene.step_count)
            raise KeyboardInterrupt
        return scene.step_count

    before = scene.start_recording(lambda: scene.step_count, fake())
    recorder = scene.start_recording(interrupted, fake())
    after = scene.start_recording(lambda: scene.step_count, fake())
    scene.build()
    caught = 0
    while scene.step_count < 8:
        try:
            scene.step()
        except KeyboardInterrupt:
            caught += 1
    scene.stop_recording()
    assert caught == 3
    for each in (before, recorder, after):
        assert each.rows == list(range(9))


def test_ctrl_c_in_the_only_data_function_repeats_the_step(still_scene, fake):
    scene = still_scene()
    interrupts = [0, 4]

    def interrupted():
        if scene.step_count in interrupts:
            interrupts.remove(scene.step_count)
            raise KeyboardInterrupt
        return scene.step_count

    recorder = scene.start_recording(interrupted, fake(hz=50))
    scene.build()
    while scene.step_count < 6:
        try:
            scene.step()
        except KeyboardInterrupt:
            continue
    scene.stop_recording()
    assert recorder.rows == [0, 2, 4, 6]


def test_ctrl_c_while_the_last_state_is_taken_still_closes(still_scene, fake):
    scene = still_scene()

    def interrupted():
        if scene.step_count == 2:
            raise KeyboardInterrupt
        return scene.step_count

    recorder = scene.start_recording(interrupted, fake())
    scene.build()
    run(scene, 2)
    with pytest.raises(KeyboardInterrupt):
        scene.stop_recording()
    scene.stop_recording()
    assert recorder.rows == [0, 1]
    assert recorder.calls == ["build", "cleanup"]
    assert scene.recorders == ()
