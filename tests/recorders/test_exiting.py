"""However a process ends, what was recorded is complete, and the exit code is the user's."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from simreel.recorders import exiting

# A run of `n` steps that ends as ENDINGS say; the recorders dawdle, so that the end finds full queues.
RUN = """
import signal, threading
from simreel.recorders import npz
first = Path(sys.argv[1])
write = npz.NPZFileWriter.process_block

def slow(self, *block):
    time.sleep(.05)
    write(self, *block)

npz.NPZFileWriter.process_block = slow
scene = still_scene()
scene.start_recording(lambda: float(scene.step_count), NPZFile(first / "a.npz"))
scene.start_recording(lambda: float(scene.step_count), CSVFile(first / "b.csv"))
scene.start_recording(lambda: float(scene.step_count), CSVFile(first / "c.csv", save_every_write=True))

def go():
    scene.build()
    for _ in range(100):
        scene.step()
"""
ENDINGS = {
    "stop": ("go(); scene.stop_recording()", 0),
    "with": ("with scene:\n    go()\n    raise SystemError('mine')", 1),
    "exception": ("go(); raise SystemError('mine')", 1),
    "ctrl-c": ("go(); os.kill(os.getpid(), signal.SIGINT); time.sleep(9)", -signal.SIGINT),
    "sys.exit": ("go(); sys.exit(3)", 3),
    "sys.exit in with": ("with scene:\n    go()\n    sys.exit(3)", 3),
    "forgotten": ("go()", 0),
    "in a thread": ("t = threading.Thread(target=go); t.start(); t.join()", 0),
}


def check_files(folder, n=101):
    with np.load(folder / "a.npz") as archive:
        assert archive["data"].tolist() == list(range(n))
        assert archive["step"].tolist() == list(range(n))
    for name in ("b.csv", "c.csv"):
        lines = (folder / name).read_text().splitlines()
        assert lines == ["timestamp,data,episode", *(f"{k * 0.01!r},{float(k)!r},0" for k in range(n))]
    assert sorted(path.name for path in folder.iterdir()) == ["a.npz", "b.csv", "c.csv"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_each_way_to_end_leaves_complete_files_and_the_right_exit_code(script, folder, ending):
    code, status = ENDINGS[ending]
    process = script(RUN + code, folder)
    _, err = process.communicate(timeout=50)
    assert process.returncode == status, err
    assert ("mine" in err) == (status == 1)
    assert "atexit" not in err
    check_files(folder)


@pytest.mark.parametrize("during", ["exit", "stop"])
def test_a_second_ctrl_c_while_files_are_closed_costs_nothing(script, folder, during):
    code = (
        RUN.replace("time.sleep(.05)", "print('busy', flush=True); time.sleep(.5)")
        + {"exit": "go()", "stop": "go(); scene.stop_recording()"}[during]
    )
    process = script(code, folder)
    assert process.stdout.readline() == "busy\n"
    for _ in range(3):
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=50)
    assert process.returncode == {"exit": 0, "stop": -signal.SIGINT}[during], err
    assert "still writing" in err
    check_files(folder)


def test_ctrl_c_while_a_full_queue_blocks_loses_and_doubles_no_row(run_script, folder):
    """A real SIGINT; then the run goes on."""
    run_script(
        """
        import signal, threading, warnings
        from simreel.errors import SimreelWarning
        warnings.simplefilter("ignore", SimreelWarning)
        scene = still_scene()
        rows, gate = [], threading.Event()
        recorder = scene.start_recording(
            lambda: scene.step_count, CSVFile(Path(sys.argv[1]) / "a.csv", buffer_size=3, buffer_full_wait_time=.01)
        )
        other = scene.start_recording(lambda: scene.step_count, CSVFile(Path(sys.argv[1]) / "b.csv"))
        write = recorder.process_block

        def process_block(steps, times, columns):
            gate.wait()
            write(steps, times, columns)

        recorder.process_block = process_block
        scene.build()

        def interrupt():
            while not recorder._queue._warned:
                time.sleep(.001)
            for _ in range(3):
                time.sleep(.05)
                os.kill(os.getpid(), signal.SIGINT)
            time.sleep(.05)
            gate.set()

        thread = threading.Thread(target=interrupt)
        thread.start()
        interrupts = 0
        while scene.step_count < 50:
            try:
                scene.step()
            except KeyboardInterrupt:
                interrupts += 1
        scene.stop_recording()
        thread.join()
        assert interrupts == 3, interrupts
        for name in ("a", "b"):
            rows = Path(sys.argv[1], f"{name}.csv").read_text().splitlines()[1:]
            assert [int(row.split(",")[1]) for row in rows] == list(range(51)), rows
        assert recorder.status.received == recorder.status.written == 51
        """,
        folder,
    )


# Children. The parent's file must be whole, and a child may neither hang nor write.

FORKS = {
    "os._exit": "if pid == 0: os._exit(5)",
    "sys.exit": "if pid == 0: sys.exit(5)",
    "steps on": (
        "if pid == 0:\n"
        "    scene.step(3000)\n"
        "    recorder.sync(); recorder.pause(); recorder.resume(); recorder.stop()\n"
        "    scene.stop_recording(); scene.reset()\n"
        "    assert recorder.status.received == 0 and not recorder.is_alive\n"
        "    sys.exit(5)"
    ),
    "records its own": (
        "if pid == 0:\n"
        "    scene.start_recording(lambda: 7, CSVFile(folder / 'child.csv'))\n"
        "    scene.step(10)\n"
        "    scene.stop_recording()\n"
        "    assert len((folder / 'child.csv').read_text().splitlines()) == 12\n"
        "    os.unlink(folder / 'child.csv')\n"
        "    sys.exit(5)"
    ),
    "collects": "if pid == 0:\n    del scene\n    import gc; gc.collect()\n    sys.exit(5)",
}


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no fork on Windows")
@pytest.mark.parametrize("child", FORKS)
def test_a_forked_child_ends_and_leaves_the_files_of_its_parent(script, folder, child):
    code = f"""
import warnings
warnings.simplefilter("ignore", DeprecationWarning)
folder = Path(sys.argv[1])
scene = still_scene()
recorder = scene.start_recording(lambda: 1.0, NPZFile(folder / "a.npz"))
scene.start_recording(lambda: 1.0, CSVFile(folder / "b.csv"))
scene.build()
scene.step(2000)
pid = os.fork()
{FORKS[child]}
scene.step(2000)
_, status = os.waitpid(pid, 0)
assert os.waitstatus_to_exitcode(status) == 5, status
scene.step(100)
scene.stop_recording()
"""
    process = script(code, folder)
    _, err = process.communicate(timeout=50)
    assert process.returncode == 0, err
    assert err == ""
    with np.load(folder / "a.npz") as archive:
        assert archive["step"].tolist() == list(range(4101))
    assert len((folder / "b.csv").read_text().splitlines()) == 4102
    assert sorted(path.name for path in folder.iterdir()) == ["a.npz", "b.csv"]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no fork on Windows")
def test_forks_while_workers_are_busy_never_hang(script, folder):
    """Many forks: some meet a lock that a worker holds. One is made in a data function."""
    code = """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)
folder = Path(sys.argv[1])
scene = still_scene()
children = []

def fork():
    if scene.step_count % 50 == 49:
        pid = os.fork()
        if pid:
            children.append(pid)
        else:
            scene.parent = False
    return scene.step_count

scene.parent = True
scene.start_recording(lambda: scene.step_count, CSVFile(folder / "b.csv", buffer_size=20, buffer_full_wait_time=1))
scene.start_recording(fork, CSVFile(folder / "a.csv", buffer_size=1, buffer_full_wait_time=1))
scene.build()
while scene.step_count < 1000 and scene.parent:
    scene.step()
if not scene.parent:
    scene.step(50)
    scene.stop_recording()
    sys.exit(0)
scene.stop_recording()
codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
assert codes == [0] * 20, codes
"""
    process = script(code, folder, start_new_session=True)
    _, err = process.communicate(timeout=50)
    assert process.returncode == 0, err
    for name in ("a.csv", "b.csv"):
        assert len((folder / name).read_text().splitlines()) == 1002


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no fork on Windows")
def test_processes_of_multiprocessing_leave_the_files_of_their_parent(run_script, folder):
    run_script(
        """
        import multiprocessing, warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        folder = Path(sys.argv[1])
        scene = still_scene()
        scene.start_recording(lambda: 1.0, NPZFile(folder / "a.npz"))
        scene.build()
        scene.step(500)

        def work(n):
            scene.step(10)
            return n * 2

        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(work, range(6)) == [0, 2, 4, 6, 8, 10]
            scene.step(500)
        scene.stop_recording()
        with np.load(folder / "a.npz") as archive:
            assert archive["step"].tolist() == list(range(1001))
        assert [path.name for path in folder.iterdir()] == ["a.npz"]
        """,
        folder,
    )


def test_a_collection_on_a_worker_at_the_end_still_closes_the_file(run_script, folder):
    """The worker finds the forgotten scene; the exit waits for it."""
    run_script(
        """
        import gc, threading, warnings
        warnings.simplefilter("ignore")
        folder = Path(sys.argv[1])
        scene = still_scene()
        recorder = scene.start_recording(lambda: float(scene.step_count), CSVFile(folder / "a.csv"))
        write, go, collected = recorder.process_block, threading.Event(), threading.Event()

        def process_block(*block):
            go.wait()
            gc.collect()
            collected.set()
            time.sleep(.2)
            write(*block)

        recorder.process_block = process_block
        scene.build()
        gc.disable()
        scene.step(100)
        del scene, recorder
        go.set()
        collected.wait()
        """,
        folder,
    )
    assert len((folder / "a.csv").read_text().splitlines()) == 101


def test_errors_at_the_exit_are_told_each_and_every_recorder_is_closed(script, folder):
    process = script(
        """
        folder = Path(sys.argv[1])
        scenes = [still_scene(), still_scene()]
        for name in "abcd":
            scene = scenes[name > "b"]
            recorder = scene.start_recording(lambda: 1.0, CSVFile(folder / f"{name}.csv"))
            if name != "b":
                def cleanup(cleanup=recorder.cleanup, name=name):
                    cleanup()
                    raise OSError(f"disk {name} is gone")
                recorder.cleanup = cleanup
        for scene in scenes:
            scene.build()
            scene.step(5)
        """,
        folder,
    )
    _, err = process.communicate(timeout=50)
    assert process.returncode == 0, err
    for name in "acd":
        assert err.count(f"when the program ended: CSVFile {name}.csv") == 1, err
        assert f"OSError: disk {name} is gone" in err
    for name in "abcd":
        assert len((folder / f"{name}.csv").read_text().splitlines()) == 7


def test_managers_that_are_gone_are_not_kept(still_scene, fake):
    import gc

    gc.collect()
    before = len(exiting._managers)
    scene = still_scene()
    assert len(exiting._managers) == before + 1
    del scene
    gc.collect()
    assert len(exiting._managers) == before


def test_importing_simreel_starts_nothing():
    code = "import threading, simreel.recorders.manager; assert threading.active_count() == 1"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
