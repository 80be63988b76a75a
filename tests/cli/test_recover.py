import os
import subprocess
import sys

import numpy as np
import pytest

PROGRAM = """
import os, sys, time
import simreel as sr

scene = sr.Scene()
arm = scene.add_entity(sr.morphs.MJCF(file=str(sr.models.path("arm"))))
recorder = scene.start_recording(arm.get_qpos, sr.recorders.NPZFile("run.npz", overwrite=True))
scene.build()
scene.step(int(sys.argv[1]))
recorder.sync()
os._exit(9)
"""


def killed_run(folder, steps):
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(steps)], cwd=folder, check=False)
    assert done.returncode == 9
    return max(folder.glob("*.spool"), key=os.path.getmtime)


def test_a_killed_run_becomes_a_whole_file(call, here):
    spool = killed_run(here, 40)
    ended = call("recover", "./run.npz")
    assert ended.status == 0
    assert ended.out[0] == "./run.npz: 40 samples kept, 0 lost"
    assert ended.out[1] == "./run.npz.damaged: what was repaired, as it was"
    assert len(ended.out) == 2
    assert not spool.exists()
    assert np.load("run.npz")["data"].shape == (40, 7)
    told = call("info", "run.npz").out
    assert told[1].startswith("recovered from a run that was cut off, 0 samples lost")
    assert call("info", "run.npz.damaged").status == 0


@pytest.mark.leaves_spools
def test_an_earlier_file_and_other_spools_are_named(call, here):
    older = killed_run(here, 10)
    killed_run(here, 40)
    np.savez("run.npz", precious=np.ones(3))
    ended = call("recover", "run.npz")
    assert ended.status == 0
    assert ended.out[0] == "run.npz: 40 samples kept, 0 lost"
    assert "run.npz.old: the file that had this name before" in ended.out
    assert any(line.startswith(f"{older.name}: ") for line in ended.out)
    assert np.load("run.npz.old")["precious"].sum() == 3


def test_a_cut_table_loses_its_last_row_only(call, arm, here):
    call("run", arm, "--duration", "0.1", "--csv", "run.csv")
    os.truncate("run.csv", os.path.getsize("run.csv") - 5)
    ended = call("recover", "run.csv")
    assert ended.status == 0
    assert ended.out == ["run.csv: 50 samples kept, 1 lost", "run.csv.damaged: what was repaired, as it was"]


@pytest.mark.parametrize("name", ["missing.npz", "missing.csv", "text.txt", "folder"])
def test_what_cannot_be_recovered_is_one_line_with_its_name(call, here, name):
    (here / "text.txt").write_text("hello")
    (here / "folder").mkdir()
    ended = call("recover", name)
    assert (ended.status, ended.out) == (1, [])
    (line,) = ended.err
    assert name in line
