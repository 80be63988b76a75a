"""What the command does with reels: `info`, `recover`, `repack`."""

import os

import numpy as np
import pytest

from simreel.reel import Field, Layout, Reel, ReelWriter


@pytest.fixture
def reel(here):
    """run.reel: 10 chunks of 16 frames, payloads, parameters and notes."""
    layout = Layout(
        (
            Field("step", "i8", 1),
            Field("qpos", "f8", 3, unit="rad", kind="state"),
            Field("hits", "f4", 2, ragged=True),
            Field("odd\nname", "bool", 1),
        )
    )
    rng = np.random.default_rng(0)
    with ReelWriter(here / "run.reel", layout, dt=0.01, chunk_size=16, blobs={"scene.json": b"{}"}) as writer:
        writer.param({"mass": np.ones(3)})
        for step in range(160):
            row = writer.next_row()
            row["step"], row["qpos"][:], row["odd\nname"] = step, rng.normal(size=3), True
            writer.ragged("hits", np.full((step % 3, 2), step, np.float32))
            writer.commit()
        writer.note("end")
        writer.note("of it")
    return here / "run.reel"


def chunk_offsets(path):
    with Reel.open(path) as opened:
        entries = opened.records.entries
        return entries["offset"][entries["tag"] == b"CHNK"].tolist()


def flip(path, at):
    raw = bytearray(path.read_bytes())
    raw[at] ^= 1
    path.write_bytes(raw)


def test_info_tells_what_a_reel_holds(call, reel):
    ended = call("info", "./run.reel")
    assert (ended.status, ended.err) == (0, [])
    assert ended.out[0].startswith("./run.reel: reel by simreel 0.1.0, format 1.0, ")
    assert ended.out[1:3] == ["complete", "160 frames, 0 to 1.59 s, a step is 0.01 s"]
    assert ended.out[3].startswith("codec phys1, 10 chunks of at most 16 frames: ")
    fields = [line.split() for line in ended.out[4:8]]
    assert fields[0][:4] == ["step", "int64", "(1,)", "ratio"]
    assert fields[1][:6] == ["qpos", "float64", "(3,)", "rad", "state", "ratio"]
    assert fields[2][:5] == ["hits", "float32", "(k,", "2)", "ratio"]
    assert fields[3][:4] == [r"'odd\nname'", "bool", "(1,)", "ratio"]
    assert ended.out[8:] == ["1 record of model parameters", "2 notes", "blob scene.json, 2 B"]


def test_info_tells_of_a_run_that_was_cut_off_and_of_one_that_goes_on(call, reel):
    os.truncate(reel, chunk_offsets(reel)[5] + 10)
    assert call("info", "run.reel").out[1:3] == [
        "its run was cut off: simreel recover run.reel",
        "80 frames, 0 to 0.79 s, a step is 0.01 s",
    ]
    with ReelWriter("more.reel", Layout((Field("x", "f8", 1),))):
        ended = call("info", "more.reel")
    assert ended.out[1:3] == ["a running process writes it", "0 frames, a step is 1 s"]


def test_info_names_lost_frames_and_damaged_bytes(call, reel):
    at = chunk_offsets(reel)
    flip(reel, at[3] + 60)
    flip(reel, at[9] + 60)
    ended = call("info", "run.reel")
    assert (ended.status, ended.err) == (0, [])
    assert ended.out[1] == "damaged since it was closed: simreel recover run.reel"
    assert "lost: frames 48 to 63, 144 to 159" in ended.out
    assert any(line.startswith(f"damaged: bytes {at[3]} to {at[4] - 1}: ") for line in ended.out)


def test_recover_repairs_a_reel_and_tells_what_was_lost(call, reel):
    at = chunk_offsets(reel)
    flip(reel, at[3] + 60)
    raw = reel.read_bytes()
    ended = call("recover", "./run.reel")
    assert (ended.status, ended.err) == (0, [])
    assert ended.out[:2] == ["./run.reel: 144 frames kept, 16 lost", "lost: frames 48 to 63"]
    assert ended.out[2].startswith(f"damaged: bytes {at[3]} to {at[4] - 1}: ")
    assert ended.out[3:] == ["./run.reel.damaged: what was repaired, as it was"]
    assert (reel.parent / "run.reel.damaged").read_bytes() == raw
    told = call("info", "run.reel").out
    assert told[1] == "not complete: its run was cut off or had to drop frames"
    assert "lost: frames 48 to 63" in told


def test_recover_leaves_a_whole_reel_and_says_so(call, reel):
    raw = reel.read_bytes()
    ended = call("recover", "run.reel")
    assert (ended.status, ended.out) == (0, ["run.reel: whole, left as it is: 160 frames kept, 0 lost"])
    assert reel.read_bytes() == raw


def test_recover_knows_a_reel_by_its_content_and_follows_links(call, reel, here):
    os.truncate(reel, 5000)
    (here / "run").mkdir()
    reel.rename(here / "run" / "data.bin")
    (here / "last").symlink_to("run/data.bin")
    ended = call("recover", "last")
    assert ended.status == 0
    assert ended.out[0].startswith(f"{here}/run/data.bin: ")
    assert ended.out[-1] == f"{here}/run/data.bin.damaged: what was repaired, as it was"


def test_recover_names_the_earlier_file(call, reel, here):
    (here / "run.reel.old").write_bytes(reel.read_bytes())
    os.truncate(reel, 5000)
    assert call("recover", "run.reel").out[-1] == "run.reel.old: the file that had this name before"


def test_repack_makes_a_reel_with_the_same_frames(call, reel):
    ended = call("repack", "run.reel", "-o", "small.reel", "--codec", "diff1", "--chunk-size", "100")
    assert (ended.status, ended.err) == (0, [])
    (line,) = ended.out
    assert line.startswith("small.reel: 160 frames, ")
    assert "; run.reel has " in line
    with Reel.open("run.reel") as a, Reel.open("small.reel") as b:
        assert (b.head.codec, b.chunks) == ("diff1", [(0, 100), (100, 160)])
        assert a.field("qpos")[:].tobytes() == b.field("qpos")[:].tobytes()


def test_repack_tells_of_frames_that_are_lost(call, reel):
    flip(reel, chunk_offsets(reel)[3] + 60)
    ended = call("repack", "run.reel", "-o", "small.reel")
    assert ended.status == 0
    (line,) = ended.err
    assert line.startswith("warning: run.reel is damaged: what cannot be read, 16 frames among it, is not in")


def test_repack_replaces_a_file_only_where_it_is_told_to(call, reel, here):
    (here / "small.reel").write_text("precious")
    ended = call("repack", "run.reel", "-o", "small.reel")
    assert (ended.status, ended.out) == (1, [])
    assert ended.err == ["error: small.reel exists already: give another filename or --overwrite"]
    assert (here / "small.reel").read_text() == "precious"
    assert call("repack", "run.reel", "-o", "small.reel", "--overwrite").status == 0


@pytest.mark.parametrize(
    ("words", "status", "holds"),
    [
        (["repack", "run.reel"], 2, "--out"),
        (["repack", "run.reel", "-o", "b.reel", "--codec", "archiv"], 2, "Did you mean 'archive'?"),
        (["repack", "run.reel", "-o", "b.reel", "--chunk-size", "0"], 2, "--chunk-size 0: 1 to 65536 frames"),
        (["repack", "run.reel", "-o", "b.reel", "--chunk-size", "x"], 2, "--chunk-size x: a whole number"),
        (["repack", "run.reel", "-o", "./run.reel", "--overwrite"], 1, "run.reel: is the file to read"),
        (["repack", "run.reel", "-o", "no/b.reel"], 1, "no/b.reel: its folder does not exist"),
        (["repack", "nothing.reel", "-o", "b.reel"], 1, "nothing.reel: no such file"),
        (["repack", "text.txt", "-o", "b.reel"], 1, "text.txt: byte 0: not a reel"),
        (["recover", "nothing.reel"], 1, "nothing.reel: no such file"),
        (["recover", "empty.reel"], 1, "empty.reel: byte 0: the file is empty"),
        (["info", "empty.reel"], 1, "empty.reel: byte 0: the file is empty"),
        (["info", "text.reel"], 1, "text.reel: byte 0: not a reel"),
    ],
)
def test_a_mistake_is_one_line_with_the_name_as_it_was_written(call, reel, here, words, status, holds):
    for name, text in {"empty.reel": "", "text.reel": "hello", "text.txt": "hello"}.items():
        (here / name).write_text(text)
    before = sorted(path.name for path in here.iterdir())
    ended = call(*words)
    assert (ended.status, ended.out) == (status, [])
    (line,) = ended.err
    assert holds in line
    assert str(here) not in line
    assert sorted(path.name for path in here.iterdir()) == before
