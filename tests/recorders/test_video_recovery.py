"""What a kill leaves of a video plays, and becomes a whole one."""

import os
import signal
import time
from fractions import Fraction

import numpy as np
import pytest
from reading import names

from simreel.errors import DamagedFileError, MissingFileError, SimreelError, TargetError
from simreel.recorders import VideoFile, recover
from simreel.recorders.encoder import Encoder

RUN = """
from simreel.recorders import VideoFile
size = (240, 320)
y, x = np.mgrid[0:size[0], 0:size[1]]
scene = still_scene(float(sys.argv[2]))
count = 0

def frame():
    global count
    if count == 200:
        print("here", flush=True)
        time.sleep(60)
    count += 1
    return np.stack([x * 255 // size[1], y * 255 // size[0], np.full(size, count % 256)], -1).astype(np.uint8)

scene.start_recording(frame, VideoFile(sys.argv[1], overwrite=True))
scene.build()
scene.step(300)
"""


def killed(script, path, dt):
    run = script(RUN, path, dt)
    assert run.stdout.readline() == "here\n"
    run.send_signal(signal.SIGKILL)
    run.wait()


@pytest.fixture
def left(folder, picture):
    """Makes what a kill leaves: the bytes of a growing file after so many frames."""

    def make(name="a.mp4", frames=60, fps=25):
        encoder = Encoder(folder / name, None, fps, tags={"dt": 0.04})
        for i in range(frames):
            encoder.add(picture(i))
        path = encoder._file.path
        raw = path.read_bytes()
        encoder.close()
        (folder / name).unlink()
        path.write_bytes(raw)
        return path

    return make


@pytest.mark.leaves_spools
@pytest.mark.parametrize(("suffix", "fps"), [(".mp4", 30), (".mp4", 100), (".mkv", 25), (".webm", 30), (".gif", 50)])
def test_killed_at_frame_200_at_least_150_are_left(folder, script, watch, suffix, fps):
    path = folder / f"a{suffix}"
    path.write_text("old")
    killed(script, path, 1 / fps)
    if suffix != ".gif":
        assert len(watch(path)) >= 150
    report = recover(path)
    video = watch(path)
    assert report.kept == len(video) >= 150
    unit = {".mp4": 0, ".gif": Fraction(1, 100)}.get(suffix, Fraction(1, 1000))
    assert max(abs(t - Fraction(i, fps)) for i, t in enumerate(video.times)) <= unit / 2
    assert {key: video.comment[key] for key in ("complete", "recovered", "frames")} == {
        "complete": False,
        "recovered": True,
        "frames": report.kept,
    }
    assert names(folder) == [f"a{suffix}", f"a{suffix}.damaged", f"a{suffix}.old"]
    assert (folder / f"a{suffix}.old").read_text() == "old"
    assert (report.old, report.others) == (folder / f"a{suffix}.old", ())


def test_frames_after_a_missing_one_are_left_out(folder, left, watch):
    left()
    found = watch(folder / "a.mp4")
    gap = next(i for i, t in enumerate([*found.times, Fraction(10**9)]) if t != Fraction(i, 25))
    report = recover(folder / "a.mp4")
    assert report.kept <= gap
    assert report.kept + report.lost == len(found)
    assert watch(folder / "a.mp4").times == [Fraction(i, 25) for i in range(report.kept)]


@pytest.mark.parametrize("name", ["a.mp4", "a.mkv", "a.webm"])
def test_a_file_cut_anywhere_gives_whole_frames_or_our_error(folder, left, watch, picture, name):
    path = left(name, 40)
    raw = path.read_bytes()
    kept = []
    for cut in [*range(0, 2000, 101), *range(2000, len(raw), max(1, len(raw) // 40)), len(raw)]:
        path.write_bytes(raw[:cut])
        try:
            kept.append(recover(path).kept)
        except DamagedFileError:
            kept.append(0)
            assert path.read_bytes() == raw[:cut]
            continue
        video = watch(path)
        assert len(video) == kept[-1]
        assert video.off([picture(i) for i in range(kept[-1])]) < 8
        (folder / f"{name}.damaged").unlink()
        assert names(folder) == [name]
    assert kept == sorted(kept)
    assert kept[-1] >= 16


@pytest.mark.leaves_spools
@pytest.mark.parametrize("name", ["a.mp4", "a.mkv", pytest.param("a.gif", marks=pytest.mark.slow)])
def test_a_flipped_byte_gives_frames_or_our_error(folder, left, watch, name):
    path = left(name, 40)
    raw = path.read_bytes()
    rng = np.random.default_rng(3)
    # A gif has its colours chosen anew each time.
    step, some = (200, 6) if name == "a.gif" else (37, 40)
    for at in [*range(0, 1200, step), *rng.integers(1200, len(raw), some).tolist()]:
        path.write_bytes(raw[:at] + bytes([raw[at] ^ 0x55]) + raw[at + 1 :])
        try:
            recover(path)
        except SimreelError:
            assert path.exists()
        for each in folder.iterdir():
            each.unlink()


def test_a_whole_video_needs_no_recovery(folder, record, picture):
    for suffix in (".mp4", ".webm", ".gif"):
        record([picture(i) for i in range(3)], VideoFile(folder / f"a{suffix}"), dt=0.04)
        before = (folder / f"a{suffix}").read_bytes()
        report = recover(folder / f"a{suffix}")
        assert (report.kept, report.lost, report.damaged, report.old, report.others) == (3, 0, None, None, ())
        assert (folder / f"a{suffix}").read_bytes() == before


@pytest.mark.leaves_spools
def test_what_a_running_process_writes_is_left_alone(folder, still_scene, picture):
    scene = still_scene(0.04)
    recorders = [scene.start_recording(lambda: picture(0), VideoFile(folder / f"a{s}")) for s in (".mp4", ".gif")]
    scene.build()
    scene.step(40)
    for recorder in recorders:
        recorder.sync()
    before = names(folder)
    for name in ("a.mp4", "a.gif", f"a.gif.{os.getpid()}.spool"):
        with pytest.raises(TargetError, match="still writes"):
            recover(folder / name)
    assert names(folder) == before
    scene.stop_recording()


@pytest.mark.leaves_spools
def test_the_spool_of_a_gif_is_taken_and_the_good_one_kept(folder, left, watch):
    path = left("a.gif", 30)
    (folder / "a.gif").write_text("old")
    with_warning = VideoFile(folder / "a.gif", overwrite=True)
    assert with_warning.overwrite
    report = recover(path)
    assert (report.target, report.old, report.damaged) == (
        folder / "a.gif",
        folder / "a.gif.old",
        folder / "a.gif.damaged",
    )
    assert len(watch(folder / "a.gif")) == report.kept > 10


@pytest.mark.leaves_spools
def test_a_spool_that_was_left_is_named_by_the_next_run(folder, left, still_scene, picture):
    spool = left("a.gif", 3)
    scene = still_scene(0.04)
    scene.start_recording(lambda: picture(0), VideoFile(folder / "a.gif"))
    with pytest.warns(UserWarning, match=rf"an earlier run left {spool.name}"):
        scene.build()
    scene.stop_recording()
    assert spool.exists()


def test_of_several_files_the_newest_that_a_kill_has_left_is_taken(folder, left, record, picture):
    record([picture(0)] * 3, VideoFile(folder / "a_0000.mp4"))
    for age, name in enumerate(("a_w0_0001.mp4", "a_w3_0001.mp4")):
        left(name)
        os.utime(folder / name, (10 - age, 10 - age))
    report = recover(folder / "a.mp4")
    assert (report.target, report.others) == (folder / "a_w0_0001.mp4", (folder / "a_w3_0001.mp4",))
    assert recover(folder / "a.mp4").target == folder / "a_w3_0001.mp4"


@pytest.mark.leaves_spools
@pytest.mark.parametrize("content", [b"", b"noise"])
def test_a_newest_spool_without_frames_does_not_hide_those_of_an_older_one(folder, left, content):
    left("a.gif", 30).rename(folder / "a.gif.7.spool")
    os.utime(folder / "a.gif.7.spool", (10, 10))
    (folder / "a.gif.8.spool").write_bytes(content)
    report = recover(folder / "a.gif")
    assert report.kept > 10
    assert report.others == (folder / "a.gif.8.spool",)
    assert names(folder) == ["a.gif", "a.gif.8.spool", "a.gif.damaged"]


def test_what_is_no_video_of_ours_is_told(folder, picture):
    import av

    (folder / "a.mp4").write_text("no video")
    (folder / "b.mp4").touch()
    with av.open(str(folder / "c.mp4"), "w") as file:
        stream = file.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        file.mux(stream.encode(av.VideoFrame.from_ndarray(picture(0))))
        file.mux(stream.encode(None))
    before = {path: path.read_bytes() for path in folder.iterdir()}
    for name, words in (("a.mp4", "is no video"), ("b.mp4", "holds no whole frame"), ("c.mp4", "no recording")):
        with pytest.raises(DamagedFileError, match=words):
            recover(folder / name)
    for name in ("d.mp4", "d.gif", "d.gif.7.spool", "x/d.webm"):
        with pytest.raises(MissingFileError, match="d"):
            recover(folder / name)
    assert before == {path: path.read_bytes() for path in folder.iterdir()}


def test_what_a_kill_at_the_end_left_is_cleared_away(folder, left):
    left()
    (folder / "a.mp4.4000000.tmp").write_bytes(b"half of it")
    recover(folder / "a.mp4")
    assert names(folder) == ["a.mp4", "a.mp4.damaged"]


def test_a_full_disk_is_told_and_changes_nothing(folder, left, run_script):
    path = left(frames=100)
    before = path.read_bytes()
    out = run_script(
        """
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
        try:
            sr.recorders.recover(sys.argv[1])
        except sr.errors.TargetError as error:
            print(error)
        """,
        path,
    )
    assert "File too large" in out
    assert path.read_bytes() == before
    assert names(folder) == ["a.mp4"]


def test_recovery_takes_little_memory(folder, left, run_script):
    path = left(frames=300)
    out = run_script(
        """
        import resource, av
        from simreel.recorders import encoder, recover, video_recovery
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        recover(sys.argv[1])
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
        """,
        path,
    )
    assert int(out) < 30_000, "KiB"


def test_a_recovery_does_not_take_long(folder, left):
    path = left(frames=300)
    start = time.perf_counter()
    recover(path)
    assert time.perf_counter() - start < 5
