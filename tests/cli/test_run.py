import csv
import logging
import os
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import simreel
from simreel.cli import execute
from simreel.reel import Reel

# Stiff enough to blow up at its second step.
UNSTABLE = """
<mujoco>
  <option timestep="0.05" integrator="Euler"/>
  <worldbody>
    <body>
      <joint name="hinge" stiffness="1e7"/>
      <geom size="0.1" mass="1"/>
    </body>
  </worldbody>
  <actuator><motor joint="hinge" gear="100"/></actuator>
</mujoco>
"""


def test_a_run_writes_both_files_and_a_line_for_each(call, arm, tmp_path):
    npz, table = tmp_path / "arm.npz", tmp_path / "arm.csv"
    ended = call("run", arm, "--duration", "0.2", "--hz", "50", "--npz", npz, "--csv", table)
    assert ended.status == 0
    first, second, last = ended.out
    assert first.startswith(f"{npz}: 11 samples, 0 dropped, ")
    assert second.startswith(f"{table}: 11 samples, 0 dropped, ")
    assert last.startswith("100 steps of 0.002 s: ")
    assert last.endswith(" steps/s")
    assert len(ended.err) == 2
    assert all("11 samples, 0 dropped" in line for line in ended.err)
    with np.load(npz) as run:
        assert run["timestamp"].tolist() == [0.002 * 10 * k for k in range(11)]
        assert run["qpos"].shape == run["qvel"].shape == run["ctrl"].shape == (11, 7)
    with open(table, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert len(rows) == 12
    assert rows[0][:2] == ["timestamp", "qpos_0"]


def test_the_simulation_itself_is_recorded_with_reel(call, arm, tmp_path):
    ended = call("run", arm, "--duration", "0.2", "--reel", tmp_path / "arm.reel")
    assert ended.status == 0
    assert ended.out[0].startswith(f"{tmp_path / 'arm.reel'}: 101 samples, 0 dropped, ")
    with Reel.open(tmp_path / "arm.reel") as reel:
        assert len(reel) == 101
        assert reel.is_complete


def test_a_reel_needs_its_suffix(call, arm, here):
    ended = call("run", arm, "--reel", "arm.npz")
    assert ended.status == 2
    assert "--reel arm.npz: a name that ends in .reel is needed" in " ".join(ended.err)


def test_controls_stay_in_their_range_and_move(call, arm, tmp_path):
    call("run", arm, "--npz", tmp_path / "a.npz")
    model = simreel.scene.scene.mujoco.MjModel.from_xml_path(str(arm))
    low, high = model.actuator_ctrlrange.T
    with np.load(tmp_path / "a.npz") as run:
        ctrl = run["ctrl"]
    assert (ctrl >= low).all()
    assert (ctrl <= high).all()
    assert (np.ptp(ctrl, axis=0) > 0.3 * (high - low)).all()
    assert (np.abs(np.diff(ctrl[:-1], axis=0)) < 0.02 * (high - low)).all()


def test_equal_seeds_give_equal_runs_and_others_do_not(call, arm, tmp_path):
    for name, seed in [("a", 3), ("b", 3), ("c", 4)]:
        assert call("run", arm, "--duration", "0.1", "--seed", seed, "--npz", tmp_path / f"{name}.npz").status == 0
    a, b, c = (np.load(tmp_path / f"{name}.npz")["qpos"] for name in "abc")
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)


def test_zero_control_is_zero(call, arm, tmp_path):
    call("run", arm, "--duration", "0.1", "--control", "zero", "--npz", tmp_path / "a.npz")
    assert not np.load(tmp_path / "a.npz")["ctrl"].any()


def test_the_fields_that_are_named_are_recorded_as_they_belong_together(call, tmp_path):
    model = simreel.models.path("quadruped")
    names = ["xpos", "sensordata", "subtree_linvel", "energy", "qpos"]
    ended = call("run", model, "--duration", "0.1", "--record", ", ".join(names), "--npz", tmp_path / "a.npz")
    assert ended.status == 0
    with np.load(tmp_path / "a.npz") as run:
        assert set(run.files) == {"timestamp", "step", "episode", *names}
        assert np.array_equal(run["xpos"][:, 1], run["qpos"][:, :3])
        assert run["subtree_linvel"].any()
        assert run["energy"].any()


def test_what_is_recorded_does_not_change_the_run(call, tmp_path):
    model = simreel.models.path("quadruped")
    for name, fields in [("a", "qpos"), ("b", "qpos,cacc,energy,subtree_angmom")]:
        call("run", model, "--duration", "0.5", "--record", fields, "--npz", tmp_path / f"{name}.npz")
    assert np.array_equal(np.load(tmp_path / "a.npz")["qpos"], np.load(tmp_path / "b.npz")["qpos"])


def test_a_model_without_actuators_has_no_ctrl(call, tmp_path):
    model = tmp_path / "ball.xml"
    model.write_text("<mujoco><worldbody><body><freejoint/><geom size='0.1'/></body></worldbody></mujoco>")
    assert call("run", model, "--duration", "0.1", "--csv", tmp_path / "a.csv").status == 0
    header = (tmp_path / "a.csv").read_text().splitlines()[0]
    assert "qvel_5" in header
    assert "ctrl" not in header


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ("qpoz", "--record qpoz: mujoco.MjData has no such array. Did you mean 'qpos'?"),
        ("qpos,sensor_data", "--record sensor_data: mujoco.MjData has no such array. Did you mean 'sensordata'?"),
        ("time", "--record time: mujoco.MjData has no such array"),
        ("efc_force", "--record efc_force: its length changes"),
        ("qpos,,qvel", "--record qpos,,qvel: names"),
        ("", "--record : names"),
    ],
)
def test_a_field_that_cannot_be_recorded_is_told_and_nothing_is_written(call, arm, here, fields, said):
    ended = call("run", arm, "--npz", "new/a.npz", "--record", fields)
    assert ended.status == 2
    (line,) = ended.err
    assert said in line
    assert not list(here.iterdir())


@pytest.mark.parametrize("file", ["a.npz", "./a.npz", "sub/../a.npz"])
def test_an_existing_file_is_told_as_it_was_written_and_kept(call, arm, here, file):
    (here / "sub").mkdir()
    (here / "a.npz").write_bytes(b"precious")
    ended = call("run", arm, "--npz", file)
    assert ended.status == 1
    assert ended.err == [f"error: {file} exists already: give another filename or --overwrite"]
    assert (here / "a.npz").read_bytes() == b"precious"
    assert call("run", arm, "--duration", "0.01", "--npz", file, "--overwrite").status == 0
    assert np.load("a.npz")["qpos"].shape == (6, 7)


def test_a_folder_that_cannot_be_made_is_told_as_it_was_written(call, arm, here):
    (here / "file").write_text("")
    ended = call("run", arm, "--csv", "./file/a.csv")
    assert ended.status == 1
    (line,) = ended.err
    assert line.startswith("error: ./file/a.csv: ")


@pytest.mark.parametrize(
    "text", [None, "", "no xml", "<mujoco><worldbody><body><geom mesh='x' type='mesh'/></body></worldbody></mujoco>"]
)
def test_a_missing_or_broken_model_is_one_line(call, here, text):
    if text is not None:
        (here / "model.xml").write_text(text)
    ended = call("run", "./model.xml", "--npz", "a.npz")
    assert (ended.status, ended.out) == (1, [])
    (line,) = ended.err
    assert "./model.xml" in line
    assert not (here / "a.npz").exists()


def test_more_steps_than_can_be_counted_are_refused(call, arm, here):
    ended = call("run", arm, "--npz", "a.npz", "--duration", "1e300")
    assert ended.status == 2
    assert "--duration 1e+300" in ended.err[0]


def test_an_unstable_run_keeps_its_files_and_is_told_in_one_line(call, here):
    (here / "model.xml").write_text(UNSTABLE)
    ended = call("run", "model.xml", "--npz", "a.npz", "--csv", "a.csv")
    assert ended.status == 1
    assert [line for line in ended.err if line.startswith("error")] == [ended.err[-1]]
    assert ended.err[-1].startswith("error: model.xml: unstable at step 1 (0.05 s): ")
    assert ended.out[0].startswith("a.npz: 2 samples, 0 dropped, ")
    assert np.load("a.npz")["step"].tolist() == [0, 1]
    assert len((here / "a.csv").read_text().splitlines()) == 3


def test_a_rate_that_does_not_fit_is_a_clean_warning(call, arm, here):
    ended = call("run", arm, "--npz", "a.npz", "--hz", "300", "--duration", "0.1")
    assert ended.status == 0
    assert ended.err[0].startswith("warning: NPZFile a.npz: hz=300 does not divide")
    assert ".py" not in ended.err[0]


def test_the_caller_s_log_and_warnings_are_left_as_they_were(call, arm, here):
    logger = logging.getLogger("simreel")
    before = (list(logger.handlers), logger.level, logger.propagate, list(warnings.filters), warnings.showwarning)
    call("run", arm, "--npz", "a.npz", "--duration", "0.1")
    call("run", arm, "--npz", "a.npz")
    assert (
        list(logger.handlers),
        logger.level,
        logger.propagate,
        list(warnings.filters),
        warnings.showwarning,
    ) == before


def test_a_piped_run_shows_no_bar_no_colour_and_unbroken_lines(call_piped, arm, tmp_path):
    name = "a folder/" + "long name " * 15 + ".npz"
    ended = call_piped("run", arm, "--npz", name, "--duration", "0.1")
    assert ended.status == 0
    assert ended.out[0].startswith(f"{name}: 51 samples, 0 dropped")
    again = call_piped("run", arm, "--npz", name)
    assert again.status == 1
    assert again.err == [f"error: {name} exists already: give another filename or --overwrite"]
    assert not any("\x1b" in line for line in ended.out + ended.err + again.err)


def test_on_a_terminal_a_bar_is_drawn_and_each_summary_is_shown_once(arm, tmp_path):
    pty = pytest.importorskip("pty")
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "simreel", "run", arm, "--npz", "a.npz", "--duration", "0.1"]
    with subprocess.Popen(command, stdin=follower, stdout=follower, stderr=follower, cwd=tmp_path) as running:
        os.close(follower)
        shown = b""
        try:
            while piece := os.read(leader, 4096):
                shown += piece
        except OSError:  # how Linux tells that the other end is closed
            pass
    os.close(leader)
    assert running.returncode == 0
    assert b"0%" in shown
    assert shown.count(b"51 samples") == 1


# A job that a shell runs in the background ignores the signal, and hands that on to its children.
INTERRUPTIBLE = """
import signal
from simreel.cli import main

signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""


def test_ctrl_c_leaves_complete_files_and_status_130(arm, tmp_path):
    words = ["run", arm, "--npz", "a.npz", "--csv", "a.csv", "--duration", "1e6"]
    command = [sys.executable, "-c", INTERRUPTIBLE, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as running:
        deadline = time.monotonic() + 30
        while not (tmp_path / "a.csv").exists() or (tmp_path / "a.csv").stat().st_size < 100_000:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=30)
    assert running.returncode == 130
    last = err.splitlines()[-1]
    assert last.startswith("error: interrupted at ")
    assert last.endswith("; the files are complete")
    assert "Traceback" not in err
    rows = len(np.load(tmp_path / "a.npz")["step"])
    assert out.splitlines()[0].startswith(f"a.npz: {rows} samples, 0 dropped, ")
    table = (tmp_path / "a.csv").read_text()
    assert table.endswith("\n")
    assert abs(table.count("\n") - 1 - rows) <= 1


def test_a_full_disk_is_one_line(here, arm, capsys, monkeypatch):
    from simreel.recorders.csvfile import CSVFileWriter

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(CSVFileWriter, "_append", full)
    status = execute(["run", str(arm), "--csv", "a.csv", "--duration", "1"])
    shown = capsys.readouterr()
    assert status == 1
    assert "Traceback" not in shown.err
    errors = [line for line in shown.err.splitlines() if line.startswith("error")]
    assert len(errors) == 1
    assert "No space left on device" in errors[0]


def test_a_tilde_that_the_shell_left_is_the_home_folder(call, arm, here, monkeypatch):
    monkeypatch.setenv("HOME", str(here))
    monkeypatch.setenv("USERPROFILE", str(here))
    ended = call("run", arm, "--npz=~/a.npz", "--duration", "0.01")
    assert ended.out[0].startswith("~/a.npz: 6 samples, 0 dropped, ")
    assert "no file" not in ended.out[0]
    assert call("run", arm, "--npz=~/a.npz").err == [
        "error: ~/a.npz exists already: give another filename or --overwrite"
    ]
