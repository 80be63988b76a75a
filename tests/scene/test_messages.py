"""What MuJoCo says reaches who asked, and its handler is left as it was found."""

import gc
import logging
import threading
import warnings

import mujoco
import numpy as np
import pytest

from simreel.scene.messages import collected_messages, hold_messages, release_messages

ALONE = "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"


@pytest.fixture(autouse=True)
def _handler_is_put_back():
    gc.collect()  # scenes of other tests hold the messages until they are collected
    before = mujoco.get_mju_user_warning()
    yield
    assert mujoco.get_mju_user_warning() is before


def explode():
    model = mujoco.MjModel.from_xml_string(ALONE)
    data = mujoco.MjData(model)
    data.qvel[0] = np.nan
    mujoco.mj_step(model, data)


def conflict():
    root = mujoco.MjSpec()
    child = mujoco.MjSpec.from_string("<mujoco><option timestep='0.1'/></mujoco>")
    root.attach(child, frame=root.worldbody.add_frame(), prefix="a/")
    return root


@pytest.fixture
def users_handler():
    heard = []
    mujoco.set_mju_user_warning(heard.append)
    yield heard
    mujoco.set_mju_user_warning(None)


def test_messages_are_collected_and_nothing_is_printed_or_written(capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with collected_messages() as messages:
        explode()
    assert "unstable" in messages[0]
    assert capfd.readouterr() == ("", "")
    assert list(tmp_path.iterdir()) == []


def test_the_list_is_there_after_an_error():
    kept = []

    def fail():
        with collected_messages() as messages:
            kept.append(messages)
            explode()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert len(kept[0]) == 1


def test_a_python_warning_of_another_origin_passes():
    with pytest.warns(UserWarning, match="mine"), collected_messages() as messages:
        warnings.warn("mine", UserWarning, stacklevel=1)
    assert messages == []


def test_held_messages_go_to_the_logger(caplog, capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    caplog.set_level(logging.INFO, "simreel")
    hold_messages()
    explode()
    release_messages()
    (record,) = caplog.records
    assert record.levelno == logging.INFO
    assert "unstable" in record.getMessage()
    assert capfd.readouterr() == ("", "")
    assert list(tmp_path.iterdir()) == []


def test_the_handler_stays_until_the_last_release(caplog):
    caplog.set_level(logging.INFO, "simreel")
    hold_messages()
    hold_messages()
    release_messages()
    explode()
    assert len(caplog.records) == 1
    release_messages()
    assert mujoco.get_mju_user_warning() is None


def test_one_release_too_many_does_no_harm():
    release_messages()
    hold_messages()
    assert mujoco.get_mju_user_warning() is not None
    release_messages()


def test_the_users_handler_is_called_instead_and_put_back(users_handler, caplog):
    caplog.set_level(logging.INFO, "simreel")
    ours = mujoco.get_mju_user_warning()
    hold_messages()
    explode()
    release_messages()
    assert len(users_handler) == 1
    assert caplog.records == []
    assert mujoco.get_mju_user_warning() is ours


def test_a_handler_set_meanwhile_is_left_alone():
    heard = []
    hold_messages()
    mujoco.set_mju_user_warning(heard.append)
    explode()
    release_messages()
    assert len(heard) == 1
    assert mujoco.get_mju_user_warning() is not None
    mujoco.set_mju_user_warning(None)


def test_a_handler_set_meanwhile_that_calls_the_one_it_found_does_not_loop(caplog):
    caplog.set_level(logging.INFO, "simreel")
    heard = []
    hold_messages()
    found = mujoco.get_mju_user_warning()

    def chained(message):
        heard.append(message)
        found(message)

    mujoco.set_mju_user_warning(chained)
    with collected_messages():
        pass
    hold_messages()
    explode()
    release_messages()
    release_messages()
    assert len(heard) == 1
    assert len(caplog.records) == 1
    mujoco.set_mju_user_warning(None)


def test_collecting_inside_a_hold_keeps_the_two_apart(caplog):
    caplog.set_level(logging.INFO, "simreel")
    hold_messages()
    with collected_messages() as messages:
        explode()
        other = threading.Thread(target=explode)
        other.start()
        other.join()
    release_messages()
    assert len(messages) == 1
    assert len(caplog.records) == 1


def test_nested_collectors_give_to_the_inner_one():
    with collected_messages() as outer:
        with collected_messages() as inner:
            explode()
        explode()
    assert len(outer) == len(inner) == 1


def test_many_threads_leave_handler_and_filters_as_they_were():
    filters = list(warnings.filters)
    show = warnings.showwarning
    found = []

    def work():
        for _ in range(20):
            hold_messages()
            with collected_messages() as messages:
                explode()
            release_messages()
            found.append(len(messages))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1] * 120
    assert warnings.filters == filters
    assert warnings.showwarning is show
    gc.collect()


def test_compile_warnings_outside_of_the_package_still_pass():
    with pytest.warns(UserWarning, match="conflict"), collected_messages():
        conflict().compile()
