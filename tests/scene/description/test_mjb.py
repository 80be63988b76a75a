"""A compiled model in bytes: exact, without paths; damaged ones are refused and end no process."""

import os
import signal
import struct
import subprocess
import sys
import textwrap

import mujoco
import numpy as np
import pytest

from simreel import models
from simreel.errors import SceneFileError
from simreel.scene.description import digest
from simreel.scene.description.mjb import load_mjb, save_mjb

HEADER = 20


def load(name):
    return mujoco.MjModel.from_xml_path(str(models.path(name)))


def state_after(model, steps=50):
    data = mujoco.MjData(model)
    for _ in range(steps):
        mujoco.mj_step(model, data)
    state = np.empty(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_INTEGRATION))
    mujoco.mj_getState(model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
    return state.tobytes()


@pytest.mark.parametrize("name", models.names())
def test_a_model_comes_back_to_the_bit_and_steps_the_same(name):
    model = load(name)
    back = load_mjb(save_mjb(model))
    assert digest(back) == digest(model)
    assert state_after(back) == state_after(model)


def test_the_paths_of_assets_are_not_saved_and_the_model_steps_the_same(robot):
    model = mujoco.MjModel.from_xml_path(str(robot / "main.xml"))
    assert b"somebody" in model.paths
    raw = save_mjb(model)
    assert b"somebody" not in raw
    back = load_mjb(raw)
    assert not any(back.paths)
    assert digest(back) == digest(model)
    assert state_after(back) == state_after(model)


def test_a_text_like_a_path_is_kept(robot):
    text = (
        (robot / "main.xml")
        .read_text()
        .replace("</mujoco>", f'<custom><text name="t" data="{robot}"/></custom></mujoco>')
    )
    (robot / "main.xml").write_text(text)
    model = mujoco.MjModel.from_xml_path(str(robot / "main.xml"))
    assert digest(load_mjb(save_mjb(model))) == digest(model)


def test_a_file_of_that_name_in_the_current_folder_is_not_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.mjb").write_bytes(save_mjb(load("arm")))
    assert digest(load_mjb(save_mjb(load("cartpole")))) == digest(load("cartpole"))
    with pytest.raises(SceneFileError):
        load_mjb(b"")


def test_another_version_of_mujoco_is_named():
    raw = bytearray(save_mjb(load("arm")))
    struct.pack_into("<i", raw, 12, 3003000)
    with pytest.raises(SceneFileError, match=f"version 3003000, and this is {mujoco.mj_version()}"):
        load_mjb(bytes(raw))


def test_a_model_that_was_cut_is_refused_at_each_length_of_its_start_and_some_of_the_rest():
    raw = save_mjb(load("cartpole"))
    for length in [*range(0, 1000, 7), *range(1000, len(raw), 9973), len(raw) - 1]:
        with pytest.raises(SceneFileError):
            load_mjb(raw[:length])


@pytest.mark.parametrize("size", [-2, 2**31, 2**40, 2**62])
def test_a_size_that_cannot_be_is_refused(size):
    raw = save_mjb(load("cartpole"))
    sizes = struct.unpack_from("<5i", raw)[2]
    for position in range(sizes - 2):
        changed = bytearray(raw)
        struct.pack_into("<q", changed, HEADER + 8 * position, size)
        with pytest.raises(SceneFileError):
            load_mjb(bytes(changed))


@pytest.mark.parametrize(
    ("model", "field", "value"),
    [("quadruped", "geom_type", 99), ("quadruped", "body_treeid", 2**30), ("quadruped", "jnt_actuatorid", 2**30),
     ("cloth", "flex_dim", 9), ("cloth", "flex_vertbodyid", 2**30), ("cloth", "bvh_nodeid", 2**30)],
)  # fmt: skip
def test_what_mujoco_would_follow_out_of_its_memory_is_refused(model, field, value):
    model = load(model)
    getattr(model, field).reshape(-1)[0] = value
    with pytest.raises(SceneFileError, match=field):
        load_mjb(save_mjb(model))


def test_flipped_bytes_give_a_model_or_an_error():
    code = """
        import sys
        import numpy as np
        from simreel.errors import SceneFileError
        from simreel.scene.description.mjb import load_mjb

        raw = np.frombuffer(sys.stdin.buffer.read(), np.uint8)
        random = np.random.default_rng(int(sys.argv[1]))
        refused = 0
        for k in range(400):
            changed = raw.copy()
            where = random.integers(0, 1000 if k % 2 else len(raw))
            changed[where] ^= random.integers(1, 256)
            try:
                load_mjb(changed.tobytes())
            except SceneFileError:
                refused += 1
        print(refused)
    """
    command = [sys.executable, "-c", textwrap.dedent(code), "1"]
    run = subprocess.run(command, input=save_mjb(load("cartpole")), capture_output=True, check=False)
    assert run.returncode == 0, run.stderr.decode()
    assert int(run.stdout) > 100


@pytest.mark.slow
@pytest.mark.parametrize("name", ["quadruped", "cloth"])
def test_numbers_that_point_anywhere_end_no_process(name):
    model = load(name)
    raw, crashes = save_mjb(model), []
    fields = [field for field in dir(model) if not field.startswith("_")]
    fields = [field for field in fields if getattr(getattr(model, field), "dtype", None) == np.int32]
    for field in fields:
        for value in (-7, 1000, 2**30):
            if getattr(model, field).size and (child := os.fork()) == 0:
                signal.alarm(10)
                _step_changed(raw, field, value)
            elif getattr(model, field).size:
                _, status = os.waitpid(child, 0)
                if os.WIFSIGNALED(status) and os.WTERMSIG(status) != signal.SIGALRM:
                    crashes.append((field, value))
    assert not crashes


def _step_changed(raw, field, value):
    """Steps a model with a wrong number, and ends the process."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        model = load_mjb(raw)
        getattr(model, field).reshape(-1)[getattr(model, field).size // 2] = value
        state_after(load_mjb(save_mjb(model)), 2)
    finally:
        os._exit(0)
