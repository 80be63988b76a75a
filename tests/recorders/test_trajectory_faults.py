"""Trajectories that are cut short: by size, by the disk, by errors, Ctrl-C, or the end of the process."""

import errno
import gc
import os
import signal
import textwrap
import threading
import time

import numpy as np
import pytest

import simreel as sr
from simreel.errors import MaxSizeError, RecorderError, SimreelWarning, WriteError
from simreel.recorders import TrajectoryFile
from simreel.reel import Reel, ReelWriter
from simreel.reel.growing import GrowingFile
from simreel.testing import FakeEngine

SCENE = """
import mujoco
from simreel.recorders import TrajectoryFile

def swing(path, **options):
    model = mujoco.MjModel.from_xml_string('<mujoco><worldbody><body><joint axis="0 1 0"/>'
        '<geom size=".1" pos="0 0 -1"/></body></worldbody></mujoco>')
    scene = sr.Scene.from_mujoco(model)
    scene.data.qpos[0] = 1
    recorder = scene.start_recording(TrajectoryFile(path, **options))
    scene.build()
    return scene, recorder
"""
_names: dict = {"sr": sr}
exec(SCENE, _names)


@pytest.fixture
def noise():
    """A scene whose state cannot be compressed."""
    rng = np.random.default_rng(0)
    return sr.Scene(engine=FakeEngine(state=lambda step, world: rng.random(100)))


def keep_stepping(scene, many=1):
    for _ in range(5000 // many):
        scene.step(many)


def steps_of(path):
    with Reel.open(path) as reel:
        return reel.field("step")[:].ravel().tolist(), reel.is_complete


@pytest.mark.parametrize("many", [1, 50])
def test_max_size_ends_the_recording_with_the_number_of_frames_that_are_kept(tmp_path, noise, many):
    path = tmp_path / "run.reel"
    recorder = noise.start_recording(TrajectoryFile(path, max_size=100_000, chunk_size=16))
    noise.build()
    told = r"max_size=100000 bytes is reached; the first \d+ frames are kept"
    with pytest.raises(MaxSizeError, match=told) as caught:
        keep_stepping(noise, many)
    assert path.stat().st_size <= 100_000
    kept, is_complete = steps_of(path)
    assert kept == list(range(caught.value.kept))
    assert len(kept) > 80
    assert not is_complete
    status = recorder.status
    assert (status.written, status.written + status.dropped) == (len(kept), status.received)
    assert "max_size" in status.error
    noise.step(5)
    noise.stop_recording()
    assert recorder.status == status


def test_max_size_that_the_last_chunk_reaches_is_raised_by_the_stop(tmp_path, noise):
    path = tmp_path / "run.reel"
    noise.start_recording(TrajectoryFile(path, max_size=16_000, chunk_size=16))
    noise.build()
    for _ in range(19):
        noise.step()
    with pytest.raises(MaxSizeError, match="the first 16 frames are kept"):
        noise.stop_recording()
    assert steps_of(path) == (list(range(16)), False)


def test_max_size_without_room_for_a_frame_leaves_no_file(tmp_path, noise):
    noise.start_recording(TrajectoryFile(tmp_path / "run.reel", max_size=100))
    noise.build()
    with pytest.raises(MaxSizeError, match="no frame is kept"):
        noise.step()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_ends_the_recording_with_its_reason(tmp_path, noise, monkeypatch):
    path = tmp_path / "run.reel"
    append = GrowingFile.append

    def full(self, parts):
        if self.size > 50_000:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        append(self, parts)

    monkeypatch.setattr(GrowingFile, "append", full)
    noise.start_recording(TrajectoryFile(path, chunk_size=16))
    noise.build()
    with pytest.raises(WriteError, match=r"No space left on device; the first \d+ frames are kept") as caught:
        keep_stepping(noise)
    monkeypatch.undo()
    kept, _ = steps_of(path)
    assert kept == list(range(caught.value.kept))
    noise.stop_recording()


def test_an_error_of_the_writer_is_raised_once_by_sync(tmp_path, noise):
    recorder = noise.start_recording(TrajectoryFile(tmp_path / "run.reel", max_size=16_000, chunk_size=16))
    noise.build()
    for _ in range(30):
        noise.step()
    with pytest.raises(MaxSizeError):
        recorder.sync()
    recorder.sync()
    noise.step()
    noise.stop_recording()


def test_an_error_in_a_channel_ends_the_trajectory_and_no_other_recorder(tmp_path, noise):
    noise.add_channel("c", lambda: 1 / (noise.step_count - 5))
    noise.start_recording(TrajectoryFile(tmp_path / "run.reel"))
    noise.start_recording(lambda: noise.step_count, sr.recorders.NPZFile(tmp_path / "n.npz"))
    noise.build()
    with pytest.raises(RecorderError, match="ended while taking the sample of step 5: ZeroDivisionError"):
        keep_stepping(noise)
    assert noise.step_count == 6
    noise.step(4)
    noise.stop_recording()
    assert steps_of(tmp_path / "run.reel") == (list(range(5)), True)
    with np.load(tmp_path / "n.npz") as file:
        assert file["step"].tolist() == list(range(11))


def test_an_old_file_stays_until_the_new_one_is_closed(tmp_path, noise):
    path = tmp_path / "run.reel"
    path.write_bytes(b"old")
    noise.start_recording(TrajectoryFile(path, overwrite=True))
    noise.build()
    assert path.read_bytes() == b"old"
    noise.step()
    assert (tmp_path / "run.reel.old").read_bytes() == b"old"
    noise.stop_recording()
    assert [each.name for each in tmp_path.iterdir()] == ["run.reel"]


def test_a_scene_that_is_forgotten_leaves_a_whole_file(tmp_path):
    def forget():
        scene, _ = _names["swing"](tmp_path / "run.reel")
        scene.step(5)

    forget()
    with pytest.warns(SimreelWarning, match=r"collected while it recorded; closed: TrajectoryFile run\.reel"):
        gc.collect()
    assert steps_of(tmp_path / "run.reel") == (list(range(5)), True)


def wait_until_closed(recorder, is_forgotten):
    is_forgotten.set()
    deadline = time.monotonic() + 20
    while recorder.is_alive and time.monotonic() < deadline:
        time.sleep(0.01)
    recorder._wait_closed()


def test_a_scene_that_the_writing_thread_collects_is_closed_by_another(tmp_path, monkeypatch):
    scene, recorder = _names["swing"](tmp_path / "run.reel", chunk_size=4)
    scene.step()
    encoder = type(recorder._reels[0]._worker._encoder)
    encode, is_forgotten = encoder.encode, threading.Event()

    def collect(self, *args):
        is_forgotten.wait()
        gc.collect()
        return encode(self, *args)

    monkeypatch.setattr(encoder, "encode", collect)
    scene.step(3)
    del scene
    with pytest.warns(SimreelWarning, match="collected while it recorded"):
        wait_until_closed(recorder, is_forgotten)
    assert steps_of(tmp_path / "run.reel") == (list(range(4)), True)


@pytest.mark.parametrize("call", ["next_part", "commit", "read_state"])
@pytest.mark.parametrize("is_done", [False, True])
def test_ctrl_c_at_a_call_within_a_frame_loses_none_and_doubles_none(tmp_path, call, is_done):
    scene, _ = _names["swing"](tmp_path / "run.reel")
    scene.step()
    take = scene._manager._samplers[0].take
    cell = dict(zip(take.__code__.co_freevars, take.__closure__, strict=True))[call]
    real = cell.cell_contents

    def interrupted(*args):
        cell.cell_contents = real
        if is_done:
            real(*args)
        raise KeyboardInterrupt

    cell.cell_contents = interrupted
    with pytest.raises(KeyboardInterrupt):
        scene.step()
    scene.step()
    scene.step()
    scene.stop_recording()
    assert steps_of(tmp_path / "run.reel") == (list(range(scene.step_count + 1)), True)


@pytest.mark.parametrize("is_done", [False, True])
def test_ctrl_c_before_a_stop_takes_the_last_state_once(tmp_path, is_done):
    scene, recorder = _names["swing"](tmp_path / "run.reel")
    scene.step()
    writer = recorder._reels[0]
    real = writer.commit

    def interrupted():
        if is_done:
            real()
        raise KeyboardInterrupt

    take = scene._manager._samplers[0].take
    cell = dict(zip(take.__code__.co_freevars, take.__closure__, strict=True))["commit"]
    cell.cell_contents = interrupted
    with pytest.raises(KeyboardInterrupt):
        scene.step()
    cell.cell_contents = real
    scene.stop_recording()
    assert steps_of(tmp_path / "run.reel") == ([0, 1], True)


@pytest.mark.parametrize("many", [1, 20])
@pytest.mark.parametrize("place", ["append", "_count"])
@pytest.mark.parametrize("is_done", [False, True])
def test_ctrl_c_within_a_block_loses_none_and_doubles_none(tmp_path, monkeypatch, many, place, is_done):
    scene, recorder = _names["swing"](tmp_path / "run.reel", chunk_size=8)
    scene.step(2)
    owner = recorder._reels[0] if place == "append" else scene._manager._samplers[0]
    real, done = getattr(owner, place), []

    def interrupted(*args):
        if is_done or done:
            real(*args)
        if not done:
            done.append(True)
            raise KeyboardInterrupt

    monkeypatch.setattr(owner, place, interrupted)
    with pytest.raises(KeyboardInterrupt):
        scene.step(100)
    assert 2 <= scene.step_count < 102
    scene.step(many)
    scene.stop_recording()
    assert steps_of(tmp_path / "run.reel") == (list(range(scene.step_count + 1)), True)
    with sr.Scene.load_trajectory(tmp_path / "run.reel") as trajectory:
        report = trajectory.verify()
    assert (report.ok, report.steps, report.unchecked) == (True, scene.step_count, ())


def notes_of(path):
    with Reel.open(path) as reel:
        return [(note.frame, note.value["reason"]) for note in reel.notes if note.value["type"] == "segment"]


@pytest.mark.parametrize("what", ["nothing", "input", "parameter", "edit that fails"])
def test_what_is_set_between_a_frame_and_its_step_breaks_the_run_there(tmp_path, what):
    path = tmp_path / "run.reel"
    scene, _ = _names["swing"](path)
    interrupts = [5]

    def interrupted():
        if scene.step_count in interrupts:
            interrupts.clear()
            raise KeyboardInterrupt
        return scene.step_count

    scene.start_recording(interrupted, sr.recorders.NPZFile(tmp_path / "n.npz"))
    with pytest.raises(KeyboardInterrupt):
        scene.step(10)
    assert scene.step_count == 5
    if what == "input":
        scene.data.qfrc_applied[0] = 3
    elif what == "parameter":
        with scene.edit_model() as model:
            model.opt.gravity[2] = 0
    elif what == "edit that fails":
        with pytest.raises(ZeroDivisionError), scene.edit_model() as model:
            model.opt.gravity[2] = 1 / 0
    scene.step(10)
    scene.stop_recording()
    assert steps_of(path) == (list(range(16)), True)
    assert notes_of(path) == ([] if what == "nothing" else [(6, "interrupt")])
    with sr.Scene.load_trajectory(path) as trajectory:
        assert trajectory.verify().ok


def test_parameters_that_change_before_a_frame_was_committed_are_those_of_the_frame(tmp_path, monkeypatch):
    path = tmp_path / "run.reel"
    scene, _ = _names["swing"](path)
    scene.step(5)
    take = scene._manager._samplers[0].take
    cell = dict(zip(take.__code__.co_freevars, take.__closure__, strict=True))["commit"]
    real = cell.cell_contents

    def interrupted():
        raise KeyboardInterrupt

    cell.cell_contents = interrupted
    with pytest.raises(KeyboardInterrupt):
        scene.step()
    cell.cell_contents = real
    with scene.edit_model() as model:
        model.opt.gravity[2] = 0
    scene.step(5)
    scene.stop_recording()
    with Reel.open(path) as reel:
        assert [(each.frame, each.value["uncertain"]) for each in reel.params] == [(5, None)]
    assert steps_of(path)[0] == list(range(11))


def test_ctrl_c_in_a_reset_that_is_not_repeated_leaves_the_episode(tmp_path, monkeypatch):
    path = tmp_path / "run.reel"
    scene, recorder = _names["swing"](path)
    scene.step(5)

    def interrupt(mark):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(recorder, "_wait", interrupt)
        with pytest.raises(KeyboardInterrupt):
            scene.reset()
    scene.step(5)
    scene.reset()
    scene.step(2)
    scene.stop_recording()
    assert steps_of(path) == ([*range(11), 0, 1, 2], True)
    with sr.Scene.load_trajectory(path) as trajectory:
        assert trajectory.episodes == [(0, 11), (11, 14)]
        assert (trajectory.verify().ok, trajectory.verify().steps) == (True, 12)


@pytest.mark.parametrize("save_on_reset", [False, True])
def test_ctrl_c_in_a_reset_that_is_repeated_ends_the_episode_once(tmp_path, monkeypatch, save_on_reset):
    scene, recorder = _names["swing"](tmp_path / "run.reel", save_on_reset=save_on_reset)
    scene.step(5)

    def interrupt(mark):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(recorder, "_wait", interrupt)
        with pytest.raises(KeyboardInterrupt):
            scene.reset()
    scene.reset()
    scene.step(2)
    scene.stop_recording()
    files = [steps_of(path)[0] for path in sorted(tmp_path.iterdir())]
    assert files == ([[*range(6)], [0, 1, 2]] if save_on_reset else [[*range(6), 0, 1, 2]])


def test_a_file_that_got_no_frame_leaves_nothing_behind(tmp_path):
    path = tmp_path / "run.reel"
    scene, _ = _names["swing"](path)
    scene.add_state("rng", lambda: 1 / 0, lambda value: None)
    with pytest.raises(RecorderError, match="ended while taking the sample of step 0: ZeroDivisionError"):
        scene.step()
    assert list(tmp_path.iterdir()) == []


def test_a_file_whose_first_chunk_could_not_be_written_leaves_the_old_one(tmp_path, noise):
    path = tmp_path / "run.reel"
    path.write_bytes(b"old")
    noise.start_recording(TrajectoryFile(path, overwrite=True, max_size=8000, chunk_size=64))
    noise.build()
    noise.step(30)
    with pytest.raises(MaxSizeError, match="no frame is kept"):
        noise.stop_recording()
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("place", ["channel", "state", "open", "opened"])
def test_ctrl_c_in_the_first_step_costs_no_frame(tmp_path, monkeypatch, place):
    path = tmp_path / "run.reel"
    scene, recorder = _names["swing"](path)
    interrupts = [place]

    def interrupt(here):
        if here in interrupts:
            interrupts.clear()
            raise KeyboardInterrupt
        return 1

    scene.add_channel("c", lambda: interrupt("channel"))
    scene.add_state("s", lambda: interrupt("state"), lambda value: None)
    make = ReelWriter.__init__

    def opened(*args, **kwargs):
        make(*args, **kwargs)
        interrupt("open")

    monkeypatch.setattr(ReelWriter, "__init__", opened)
    begin = recorder.begin
    monkeypatch.setattr(recorder, "begin", lambda *args: (begin(*args), interrupt("opened"))[0])
    with pytest.raises(KeyboardInterrupt):
        scene.step()
    assert list(tmp_path.iterdir()) == []
    scene.step(5)
    scene.stop_recording()
    assert steps_of(path) == ([*range(6)], True)


@pytest.mark.parametrize("end", ["sys.exit()", "1 / 0", "raise KeyboardInterrupt", "pass"])
def test_the_end_of_the_program_takes_the_last_state_and_closes(tmp_path, script, end):
    path = tmp_path / "run.reel"
    process = script(SCENE + f"scene, _ = swing(sys.argv[1])\nfor _ in range(10): scene.step()\n{end}", path)
    process.communicate(timeout=50)
    assert steps_of(path) == (list(range(11)), True)


def test_a_forked_child_leaves_the_file_to_its_parent(tmp_path, run_script):
    path = tmp_path / "run.reel"
    code = """
        scene, _ = swing(sys.argv[1])
        scene.step(5)
        child = os.fork()
        if not child:
            scene.step(50)
            os._exit(len(scene.recorders))
        print(os.waitpid(child, 0)[1])
        scene.step(5)
        scene.stop_recording()
        """
    assert run_script(SCENE + textwrap.dedent(code), path).split() == ["0"]
    assert steps_of(path) == (list(range(11)), True)


def test_a_kill_costs_less_than_a_second(tmp_path, script):
    path = tmp_path / "run.reel"
    code = """
scene, recorder = swing(sys.argv[1])
start = time.monotonic()
while True:
    scene.step()
    time.sleep(0.001)
    if time.monotonic() - start > 1:
        print(scene.step_count, flush=True)
        start = time.monotonic()
"""
    process = script(SCENE + code, path)
    before = int(process.stdout.readline())
    later = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    process.wait()
    steps, is_complete = steps_of(path)
    assert steps == list(range(len(steps)))
    assert not is_complete
    assert len(steps) >= before
    assert later > before


def test_memory_does_not_grow_with_the_run(run_script, tmp_path):
    code = """
import resource
scene, recorder = swing(sys.argv[1])
peaks = []
for n in (4, 4, 40):
    for _ in range(n):
        for _ in range(1000):
            scene.step()
        recorder.sync()
    peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
scene.stop_recording()
print(peaks[2] - peaks[1])
"""
    assert int(run_script(SCENE + code, tmp_path / "run.reel")) < 2048
