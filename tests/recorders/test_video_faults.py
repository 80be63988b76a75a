"""What the machine does to a video: full disks, failing codecs, forks, long runs."""

import os
import signal

import pytest
from reading import names

from simreel.errors import TargetError
from simreel.recorders import NPZFile, VideoFile
from simreel.recorders import muxer as muxer_module
from simreel.recorders.encoder import Encoder

NOISE = """
from simreel.recorders import VideoFile
rng = np.random.default_rng(1)
frames = [rng.integers(0, 256, (120, 160, 3), np.uint8) for _ in range(10)]
scene = still_scene(0.04)
count = iter(range(10**9))
"""


@pytest.mark.parametrize("suffix", [".mp4", ".mkv", ".webm"])
def test_a_full_disk_keeps_what_was_written(folder, run_script, watch, suffix):
    out = run_script(
        NOISE
        + """
import resource
recorder = scene.start_recording(lambda: frames[next(count) % 10], VideoFile(sys.argv[1], bitrate=4))
other = scene.start_recording(lambda: 1, CSVFile(sys.argv[1] + ".csv"))
scene.build()
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
try:
    for _ in range(100):
        scene.step()
        recorder.sync()
except sr.errors.TargetError as error:
    print(error)
    scene.step()
    assert other.is_alive
    scene.stop_recording()
    print(recorder.status.error)
""",
        folder / f"a{suffix}",
    )
    first, second = out.splitlines()
    assert first in second
    assert f"a{suffix}: frame" in first
    assert "File too large" in first
    assert "Free space" in first
    assert len(watch(folder / f"a{suffix}")) > 5
    assert names(folder) == [f"a{suffix}", f"a{suffix}.csv"]


def test_a_disk_that_is_full_at_the_end_leaves_a_video_that_plays(folder, run_script, watch):
    out = run_script(
        NOISE
        + """
import resource
recorder = scene.start_recording(lambda: frames[next(count) % 10], VideoFile(sys.argv[1], bitrate=4))
scene.build()
scene.step(40)
recorder.sync()
from simreel.recorders import encoder
finish = encoder.finish
def limited(*args):
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
    return finish(*args)
encoder.finish = limited
try:
    scene.stop_recording()
except sr.errors.TargetError as error:
    print(error)
""",
        folder / "a.mp4",
    )
    assert "its final form cannot be written (File too large); the video is whole and plays" in out
    assert len(watch(folder / "a.mp4")) == 41
    assert names(folder) == ["a.mp4"]


def test_a_codec_that_fails_ends_its_recorder_alone(folder, still_scene, step_and_sync, picture, watch, monkeypatch):
    import av

    encode = muxer_module.encode

    def fail(stream, frame):
        if frame is not None and frame.pts == 60:
            raise av.error.ExternalError(542398533, "Generic error in an external library")
        return encode(stream, frame)

    monkeypatch.setattr(muxer_module, "encode", fail)
    scene = still_scene(0.04)
    recorder = scene.start_recording(lambda: picture(scene.step_count), VideoFile(folder / "a.mp4"))
    other = scene.start_recording(lambda: scene.step_count, NPZFile(folder / "a.npz"))
    scene.build()
    with pytest.raises(TargetError, match=r"a\.mp4: frame 60 cannot be encoded by libx264 .*Try another codec"):
        step_and_sync(scene, recorder, 70)
    assert (recorder.is_alive, other.is_alive) == (False, True)
    scene.step(5)
    scene.stop_recording()
    video = watch(folder / "a.mp4")
    assert 30 <= len(video) <= 60
    assert (video.comment["frames"], video.comment["complete"]) == (len(video), False)
    assert names(folder) == ["a.mp4", "a.npz"]


@pytest.mark.parametrize(
    "ending", ["os._exit(0)", "sys.exit(0)", "del scene, recorder; import gc; gc.collect(); os._exit(0)"]
)
def test_a_forked_child_neither_hangs_nor_harms_the_file(folder, script, watch, ending):
    run = script(
        NOISE
        + f"""
import signal, warnings
warnings.simplefilter("ignore")
recorder = scene.start_recording(lambda: frames[next(count) % 10], VideoFile(sys.argv[1]))
scene.build()
scene.step(40)
child = os.fork()
if not child:
    signal.alarm(20)
    scene.step(3)
    {ending}
_, status = os.waitpid(child, 0)
assert status == 0, status
scene.step(40)
scene.stop_recording()
print(recorder.status.written)
""",
        folder / "a.mp4",
    )
    out, err = run.communicate(timeout=50)
    assert (out, run.returncode) == ("81\n", 0), err
    assert len(watch(folder / "a.mp4")) == 81
    assert names(folder) == ["a.mp4"]


@pytest.mark.parametrize("ending", ["", "sys.exit(3)", "1 / 0", "os.kill(os.getpid(), 2); time.sleep(9)"])
def test_a_program_that_ends_completes_its_video(folder, script, watch, ending):
    run = script(
        NOISE
        + f"""
scene.start_recording(lambda: frames[next(count) % 10], VideoFile(sys.argv[1]))
scene.build()
scene.step(30)
{ending}
""",
        folder / "a.mp4",
    )
    run.communicate(timeout=50)
    assert run.returncode == {"": 0, "sys.exit(3)": 3, "1 / 0": 1}.get(ending, -signal.SIGINT)
    assert watch(folder / "a.mp4").comment["complete"]
    assert len(watch(folder / "a.mp4")) == 31


def growth(run_script, folder, rounds, frames, suffix):
    out = run_script(
        f"""
        import gc, resource
        from simreel.recorders.encoder import Encoder
        frame = np.random.default_rng(1).integers(0, 256, (120, 160, 3), np.uint8)
        def rss():
            gc.collect()
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * resource.getpagesize() // 1024
        sizes = []
        for i in range({rounds}):
            encoder = Encoder(sys.argv[1], None, 25, overwrite=True)
            for _ in range({frames}):
                encoder.add(frame)
            sizes.append(rss())
            encoder.close()
        print(min(sizes[-len(sizes) // 4 :]) - max(sizes[len(sizes) // 4 : len(sizes) // 2]))
        """,
        folder / f"a{suffix}",
    )
    return int(out)


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_memory_does_not_grow_with_the_number_of_clips(folder, run_script, suffix):
    assert growth(run_script, folder, 16, 3, suffix) < 6000, "KiB"


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("suffix", [".mp4", ".webm"])
def test_memory_is_flat_over_two_hundred_clips(folder, run_script, suffix):
    assert growth(run_script, folder, 200, 10, suffix) < 6000, "KiB"


def test_memory_does_not_grow_with_the_run(folder, run_script):
    out = run_script(
        NOISE
        + """
import resource
recorder = scene.start_recording(lambda: frames[next(count) % 10], VideoFile(sys.argv[1]))
scene.build()
peaks = []
for n in (100, 100, 1000):
    scene.step(n)
    recorder.sync()
    peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
scene.stop_recording()
peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
print(*[peak - peaks[1] for peak in peaks])
""",
        folder / "a.mp4",
    )
    assert max(map(int, out.split())) < 6000, "KiB more for ten times as many frames"


def test_threads_end_with_the_encoder(folder, picture):
    def threads():
        return len(os.listdir("/proc/self/task"))

    if not os.path.isdir("/proc/self/task"):
        pytest.skip("no /proc")
    before = threads()
    for i in range(5):
        encoder = Encoder(folder / f"{i}.mp4", None, 25)
        encoder.add(picture(0))
        assert threads() > before
        encoder.close()
    assert threads() <= before
