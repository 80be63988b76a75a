import os
import shutil
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import simreel as sr


@pytest.fixture
def recorded(call, arm, here):
    """run.npz and run.csv of 21 rows at 100 Hz."""
    assert call("run", arm, "--duration", "0.2", "--hz", "100", "--npz", "run.npz", "--csv", "run.csv").status == 0
    return here


def scene_recording(file, **options):
    scene = sr.Scene()
    arm = scene.add_entity(sr.morphs.MJCF(file=str(sr.models.path("arm"))))
    recorder = scene.start_recording(arm.get_qpos, sr.recorders.NPZFile(filename=file, **options))
    scene.build()
    return scene, recorder


def test_an_archive_shows_its_arrays_rows_times_and_end(call, recorded):
    ended = call("info", "run.npz")
    assert ended.status == 0
    assert ended.out[0].startswith(f"run.npz: NumPy archive by simreel {sr.__version__}, ")
    assert ended.out[1] == "complete, 0 samples dropped"
    assert ended.out[2] == "21 rows, 0 to 0.2 s at 100 Hz, 1 episode"
    assert ended.out[3:] == [
        "  timestamp  float64  (21,)",
        "  step       int64    (21,)",
        "  episode    int32    (21,)",
        "  qpos       float64  (21, 7)",
        "  qvel       float64  (21, 7)",
        "  ctrl       float64  (21, 7)",
    ]


def test_a_table_shows_its_columns_rows_times_and_last_row(call, recorded):
    ended = call("info", "./run.csv")
    assert ended.status == 0
    assert ended.out[0].startswith("./run.csv: CSV, ")
    assert ended.out[1:3] == ["21 rows, 0 to 0.2 s at 100 Hz, 1 episode", "the last row is whole"]
    assert ended.out[3].startswith("23 columns: timestamp, qpos_0, ")


def test_episodes_are_counted_and_the_rate_is_that_of_one(call, here):
    scene, _ = scene_recording("a.npz")
    for _ in range(3):
        scene.step(10)
        scene.reset()
    scene.stop_recording()
    assert "33 rows, 0 to 0.02 s at 500 Hz, 3 episodes" in call("info", "a.npz").out


def test_a_cut_last_row_is_told_and_not_counted(call, recorded):
    os.truncate("run.csv", os.path.getsize("run.csv") - 3)
    ended = call("info", "run.csv")
    assert ended.status == 0
    assert ended.out[1].startswith("20 rows, 0 to 0.19 s")
    assert ended.out[2] == "the last row is cut: simreel recover run.csv"


def test_text_with_commas_quotes_and_line_ends_is_one_value(call, here):
    (here / "a.csv").write_text('name,"odd ""name"", and\nmore"\n1,"two\nlines"\n2,x\n')
    ended = call("info", "a.csv")
    assert ended.out[1] == "2 rows"
    assert ended.out[3].startswith("2 columns: name, ")
    (here / "a.csv").write_text('a,b\n1,"two\nlin')
    assert call("info", "a.csv").out[1:3] == ["0 rows", "the last row is cut: simreel recover a.csv"]


def test_a_spool_that_is_written_is_told_apart_from_one_that_was_left(call, here):
    scene, recorder = scene_recording("a.npz")
    scene.step(25)
    recorder.sync()
    (spool,) = here.glob("*.spool")
    shutil.copy(spool, "left")
    ended = call("info", spool)
    assert ended.status == 0
    assert ended.out[1:] == [
        "a running process writes it",
        "25 rows, 0 to 0.048 s at 500 Hz, 1 episode",
        "  data  float64  (7,)",
    ]
    assert call("info", "left").out[1] == "its run was cut off: simreel recover left"
    missing = call("info", "a.npz")
    assert missing.status == 1
    assert spool.name in missing.err[0]
    scene.stop_recording()


def test_lost_rows_of_a_spool_are_told(call, here):
    scene, recorder = scene_recording("a.npz")
    for _ in range(3):
        scene.step(25)
        recorder.sync()
    (spool,) = here.glob("*.spool")
    data = bytearray(spool.read_bytes())
    scene.stop_recording()
    data[-700] ^= 1
    (here / "left").write_bytes(data)
    ended = call("info", "left")
    assert ended.status == 0
    assert "50 rows" in "\n".join(ended.out)
    assert any(line.startswith("damaged: ") for line in ended.out)


@pytest.mark.leaves_spools
def test_a_spool_beside_an_archive_is_told(call, recorded):
    shutil.copy("run.npz", "run.npz.77.spool")
    assert (
        call("info", "run.npz").out[-1] == "beside it run.npz.77.spool: of a run that was cut off, see simreel recover"
    )


def test_a_foreign_archive_shows_its_arrays(call, here):
    np.savez("a.npz", left=np.zeros((2, 3), np.float32), flags=np.ones(4, bool), name=np.array(["x", "yz"]))
    np.savez_compressed("b.npz", timestamp=np.arange(5) / 8, empty=np.zeros((0, 3)), record=np.zeros(2, [("ü", "i4")]))
    assert call("info", "b.npz").out[1] == "5 rows, 0 to 0.5 s at 8 Hz"
    ended = call("info", "a.npz")
    assert ended.status == 0
    assert ended.out[0].startswith("a.npz: NumPy archive, not by simreel, ")
    assert ended.out[1:] == ["  left   float32  (2, 3)", "  flags  bool     (4,)", "  name   <U2      (2,)"]
    with pytest.warns(UserWarning, match="format 3.0"):
        np.savez("c.npz", record=np.zeros(2, [("Ω", "i4")]))
    assert call("info", "c.npz").out[1:] == ["  record  [('Ω', '<i4')]  (2,)"]


def test_a_name_that_would_colour_the_terminal_is_quoted(call, here):
    np.savez("a.npz", **{"\x1b[31mred": np.zeros(2)})
    ended = call("info", "a.npz")
    assert ended.out[1:] == ["  '\\x1b[31mred'  float64  (2,)"]


def test_a_pickle_in_an_archive_is_refused_unread(call, here):
    class Bomb:
        def __reduce__(self):
            return (os.mkdir, (str(here / "exploded"),))

    np.savez("a.npz", good=np.zeros(2), bad=np.array([Bomb()], dtype=object))
    ended = call("info", "a.npz")
    assert (ended.status, ended.out) == (1, [])
    (line,) = ended.err
    assert "a.npz" in line
    assert "bad.npy holds pickled Python objects" in line
    assert not (here / "exploded").exists()


def test_a_header_that_promises_more_than_there_is_reserves_no_memory(call, here):
    with zipfile.ZipFile("a.npz", "w") as archive, archive.open("timestamp.npy", "w") as member:
        np.lib.format.write_array_header_1_0(member, {"descr": "<f8", "fortran_order": False, "shape": (10**15,)})
    ended = call("info", "a.npz")
    assert ended.status == 1
    assert "timestamp.npy is shorter or longer than its header says" in ended.err[0]


@pytest.mark.parametrize(
    "name",
    [
        *("missing.npz", "folder.npz", "empty.npz", "empty.csv", "empty", "noise.npz", "noise.csv", "noise"),
        *("member.npz", "missing.mp4", "empty.mp4", "empty.gif", "noise.mkv", "noise.webm"),
    ],
)
def test_what_is_no_recording_is_one_line_with_its_name(call, here, name):
    noise = np.random.default_rng(0).bytes(500)
    if name.startswith("folder"):
        (here / name).mkdir()
    elif name.startswith("member"):
        with zipfile.ZipFile(name, "w") as archive:
            archive.writestr("notes.txt", noise)
    elif not name.startswith("missing"):
        (here / name).write_bytes(noise if name.startswith("noise") else b"")
    ended = call("info", f"./{name}")
    assert (ended.status, ended.out) == (1, [])
    (line,) = ended.err
    assert f"./{name}" in line


@pytest.mark.parametrize("name", ["run.npz", "run.csv"])
def test_a_cut_at_any_byte_gives_lines_or_one_error(call, recorded, name):
    data = (recorded / name).read_bytes()
    cut = f"cut{name[3:]}"
    for size in range(0, len(data), 31):
        (recorded / cut).write_bytes(data[:size])
        ended = call("info", cut)
        # What remains of a table is a table; of an archive nothing does, since its list of members stands at the end.
        assert ended.status == 1 or (ended.status == 0 and name.endswith("csv"))
        assert len(ended.err) == ended.status
        assert bool(ended.out) != bool(ended.err)


def test_an_altered_byte_gives_lines_or_one_error(call, recorded):
    for name in ("run.npz", "run.csv"):
        data = (recorded / name).read_bytes()
        for at in range(0, len(data), 41):
            (recorded / f"x{name}").write_bytes(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
            ended = call("info", f"x{name}")
            assert ended.status in {0, 1}
            assert len(ended.err) == ended.status


def test_a_row_of_another_length_is_told_with_its_line(call, here):
    (here / "a.csv").write_text("timestamp,a\n0,1\n1,2,3\n2,3\n")
    ended = call("info", "a.csv")
    assert ended.status == 1
    assert "line 3 has 3 values, the header names 2" in ended.err[0]


PEAK = """
import sys
from simreel.cli import execute

assert execute(["info", sys.argv[1]]) == 0
with open("/proc/self/status") as status:
    print(*[line.split()[1] for line in status if line.startswith("VmHWM:")])
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="asks Linux for the peak of the memory")
@pytest.mark.parametrize("suffix", ["npz", "csv"])
def test_a_large_file_takes_no_more_memory_than_a_small_one(here, suffix):
    peaks = []
    for rows in (10, 1_000_000):
        if suffix == "npz":
            np.savez("a.npz", timestamp=np.arange(rows) / 500, big=np.zeros((rows, 8)))
        else:
            (here / "a.csv").write_text("timestamp,a,b\n" + "0.125,some text,more text\n" * rows)
        done = subprocess.run([sys.executable, "-c", PEAK, f"a.{suffix}"], capture_output=True, text=True, check=True)
        assert f"{rows} rows" in done.stdout
        peaks.append(int(done.stdout.split()[-1]))
    assert peaks[1] - peaks[0] < 12_000  # kB; the files have 72 and 26 MB
