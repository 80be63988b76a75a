"""Videos of a scene: what is recorded, refused, told and kept."""

import time
import warnings
from fractions import Fraction

import numpy as np
import pytest
from reading import names

import simreel as sr
from simreel.errors import (
    DuplicateTargetError,
    OptionsError,
    RecorderError,
    SampleError,
    SimreelWarning,
    TargetError,
    TargetExistsError,
)
from simreel.recorders import NPZFile, VideoFile
from simreel.recorders.encoder import Encoder
from simreel.testing import FakeEngine, RecorderContract


@pytest.fixture
def world_scene():
    """A built scene of some worlds, with a recorder on it."""
    scenes = []

    def start(n_envs, data_func, options):
        scenes.append(sr.Scene(engine=FakeEngine(0.04, n_envs)))
        recorder = scenes[-1].start_recording(data_func, options)
        scenes[-1].build(n_envs)
        return scenes[-1], recorder

    yield start
    for scene in scenes:
        scene.destroy()


class TestContract(RecorderContract):
    """What every recorder keeps to."""

    sizes = (1, 2, 3, 300)
    suffix = ".mp4"

    def make_options(self, folder):
        return VideoFile(folder / f"run{self.suffix}")

    def sample(self, index, n_envs):
        return np.full((4, 4), (5 * index) % 250, np.uint8)

    def read(self, folder):
        import av

        with av.open(str(folder / f"run{self.suffix}")) as file:
            means = [frame.to_ndarray(format="rgb24").mean() for frame in file.decode(video=0)]
        return [np.full((4, 4), 5 * round(mean / 5), np.uint8) for mean in means]


class TestContractOfGif(TestContract):
    suffix = ".gif"
    test_n_samples_in_are_n_out = None
    test_samples_are_not_kept = None

    def make_options(self, folder):
        return VideoFile(folder / "run.gif", fps=25)


# Rates.


@pytest.mark.parametrize(
    ("dt", "options", "fps"),
    [
        (0.01, {"hz": 100 / 3}, Fraction(100, 3)),
        (0.01, {}, Fraction(100)),
        (0.01, {"hz": 25}, Fraction(25)),
        (0.01, {"fps": 29.97}, Fraction(30000, 1001)),
        (1 / 240, {"hz": 60}, Fraction(60)),
        (0.002, {"hz": 50, "fps": 24}, Fraction(24)),
    ],
)
def test_frames_stand_at_their_exact_times(tmp_path, still_scene, picture, watch, dt, options, fps):
    scene = still_scene(dt)
    count = iter(range(10**6))
    recorder = scene.start_recording(lambda: picture(next(count)), VideoFile(tmp_path / "a.mp4", **options))
    scene.build()
    scene.step(30 * recorder.timing.stride - 1)
    scene.stop_recording()
    video = watch(tmp_path / "a.mp4")
    assert recorder.fps == video.rate == fps
    assert video.times == [i / fps for i in range(30)]
    assert video.durations[-1] == 1 / fps
    assert Fraction(video.comment["fps"]) == fps
    assert (video.comment["dt"], video.comment["frames"], video.comment["dropped"]) == (dt, 30, 0)


@pytest.mark.parametrize("options", [{}, {"hz": 100}, {"hz": 60}])
def test_a_gif_above_fifty_frames_a_second_is_refused_at_the_start(tmp_path, still_scene, options):
    scene = still_scene(0.005)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimreelWarning)  # 60 Hz is rounded
        with pytest.raises(OptionsError, match="at most 50 frames a second"):
            scene.start_recording(lambda: 1, VideoFile(tmp_path / "a.gif", **options))
        assert scene.recorders == ()
        scene.start_recording(lambda: 1, VideoFile(tmp_path / "a.gif", hz=50))
        scene.start_recording(lambda: 1, VideoFile(tmp_path / "b.gif", fps=10))
    assert names(tmp_path) == []


# Frames.


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ((8, 8, 3), (9, 8, 3), r"frame 1 of shape \(9, 8, 3\) uint8 returned, \(8, 8, 3\) uint8 needed"),
        ((8, 8, 3), (8, 8), r"frame 1 of shape \(8, 8\) uint8"),
        ((8, 8, 3), (8, 8, 4), r"frame 1 of shape \(8, 8, 4\)"),
        ((8, 8, 3), np.zeros((8, 8, 3)), "frame 1 of shape .* float64"),
        ((8, 8, 3), np.zeros((8, 8, 3), np.int64), "frame 1 of shape .* int64"),
        ((8, 8, 3), np.full((8, 8, 3), 300), "frame 1 of shape .* int64"),
        ((8, 8, 3), {"a": 1}, "a dict"),
        ((8, 8, 3), "text", "frame 1 of str"),
        ((8, 8, 3), None, "NoneType"),
    ],
)
def test_another_frame_is_an_error_at_its_step(tmp_path, still_scene, watch, first, second, words):
    values = [np.zeros(v, np.uint8) if isinstance(v, tuple) else v for v in (first, second)]
    scene = still_scene()
    scene.start_recording(lambda: values[scene.step_count], VideoFile(tmp_path / "a.mp4"))
    good = scene.start_recording(lambda: 1, NPZFile(tmp_path / "a.npz"))
    scene.build()
    scene.step()
    with pytest.raises(SampleError, match=words) as caught:
        scene.step()
    assert "VideoFile a.mp4, sample of step 1" in caught.value.__notes__
    assert (scene.step_count, good.is_alive) == (2, True)
    scene.stop_recording()
    assert len(watch(tmp_path / "a.mp4")) == 1
    comment = watch(tmp_path / "a.mp4").comment
    assert (comment["complete"], comment["error"].startswith("SampleError")) == (False, True)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.zeros((8, 8, 3)), "scale=True"),
        (np.zeros((8, 8, 3), np.int32), "int32"),
        ({"rgb": np.zeros((8, 8, 3), np.uint8)}, "one array, not a dict"),
        ("text", "str returned, VideoFile records arrays of pixels"),
        (3.5, r"shape \(\)"),
        (np.zeros((4, 8, 8, 3), np.uint8), r"\(4, 8, 8, 3\)"),
    ],
)
def test_what_is_no_frame_is_an_error_at_the_first_step(tmp_path, still_scene, value, words):
    scene = still_scene()
    scene.start_recording(lambda: value, VideoFile(tmp_path / "a.mp4"))
    scene.build()
    with pytest.raises(SampleError, match=words):
        scene.step()
    scene.stop_recording()
    assert names(tmp_path) == []


@pytest.mark.parametrize("bad", [np.nan, 1.5, -0.5])
def test_a_float_outside_ends_the_video_at_that_frame(tmp_path, still_scene, watch, step_and_sync, bad):
    frames = [np.full((6, 8, 3), 0.5)] * 4 + [np.full((6, 8, 3), bad)] + [np.full((6, 8, 3), 0.5)] * 3
    scene = still_scene()
    recorder = scene.start_recording(lambda: frames[scene.step_count], VideoFile(tmp_path / "a.mp4", scale=True))
    scene.build()
    with pytest.raises(SampleError, match="frame 4 with values from"):
        step_and_sync(scene, recorder, 7)
    scene.stop_recording()
    assert recorder.status.written == len(watch(tmp_path / "a.mp4")) == 4


def test_an_array_of_another_library_is_a_frame(tmp_path, record, picture, watch):
    class Tensor:
        def __init__(self, array):
            self._array = array

        def __array__(self, dtype=None, copy=None):
            return self._array

    pictures = [picture(i) for i in range(4)]
    record([Tensor(p) for p in pictures], VideoFile(tmp_path / "a.mp4"), dt=0.04)
    assert watch(tmp_path / "a.mp4").off(pictures) < 3


def test_the_alpha_channel_is_dropped_with_one_warning(tmp_path, record, picture, watch):
    with pytest.warns(SimreelWarning) as caught:
        record.episodes(
            [[picture(i, channels=4) for i in range(3)]] * 2, VideoFile(tmp_path / "a.mp4", save_on_reset=True)
        )
    assert len(caught) == 1
    assert "alpha" in str(caught[0].message)
    assert watch(tmp_path / "a_0001.mp4").off([picture(i) for i in range(3)]) < 3


def test_odd_sizes_are_padded_and_said_once(tmp_path, record, picture, watch):
    odd = [picture(i, 47, 63) for i in range(3)]
    with pytest.warns(SimreelWarning) as caught:
        record.episodes([odd] * 2, VideoFile(tmp_path / "a.mp4", save_on_reset=True))
    (told,) = [str(w.message) for w in caught]
    assert told.startswith("VideoFile a.mp4: libx264 takes even sizes only: frames of 63 x 47 are padded to 64 x 48")
    assert watch(tmp_path / "a_0000.mp4").size == (64, 48)
    record(odd, VideoFile(tmp_path / "a.webm"))
    assert watch(tmp_path / "a.webm").size == (63, 47)


def test_a_video_without_a_frame_is_no_file_and_one_warning(tmp_path, record):
    for options in (VideoFile(tmp_path / "a.mp4"), VideoFile(tmp_path / "a.gif", fps=25)):
        with pytest.warns(SimreelWarning, match="no frame came; there is no file") as caught:
            record([], options)
        assert len(caught) == 1
    assert names(tmp_path) == []


def test_a_scene_that_cannot_be_built_leaves_nothing_and_says_only_why(tmp_path, still_scene):
    (tmp_path / "a.mp4").write_text("old")
    scene = still_scene()
    scene.start_recording(lambda: 1, VideoFile(tmp_path / "a.mp4", overwrite=True))
    scene.start_recording(lambda: 1, VideoFile(tmp_path / "b.gif", fps=25))
    scene.start_recording(lambda: 1, NPZFile(tmp_path / f"{'x' * 245}.npz"))
    with pytest.raises(TargetError, match="xxx"):
        scene.build()
    scene.stop_recording()
    assert names(tmp_path) == ["a.mp4"]
    assert (tmp_path / "a.mp4").read_text() == "old"


def test_a_small_buffer_waits_and_loses_nothing(tmp_path, still_scene, picture, watch, monkeypatch):
    add = Encoder.add

    def slow(self, frame):
        time.sleep(0.01)
        add(self, frame)

    monkeypatch.setattr(Encoder, "add", slow)
    scene = still_scene()
    count = iter(range(10**6))
    recorder = scene.start_recording(lambda: picture(next(count), 360, 640), VideoFile(tmp_path / "a.mp4"))
    scene.build()
    queued = []
    for _ in range(50):
        scene.step()
        queued.append(recorder.status.queued)
    scene.stop_recording()
    assert max(queued) <= 8
    assert (recorder.status.written, recorder.status.dropped) == (51, 0)
    assert len(watch(tmp_path / "a.mp4")) == 51


def test_dropped_frames_are_counted_in_the_file(tmp_path, still_scene, picture, watch, monkeypatch):
    add = Encoder.add
    monkeypatch.setattr(Encoder, "add", lambda self, frame: (time.sleep(0.02), add(self, frame))[1])
    scene = still_scene()
    options = VideoFile(tmp_path / "a.mp4", when_full="drop_oldest", buffer_full_wait_time=0, buffer_size=2)
    recorder = scene.start_recording(lambda: picture(0), options)
    scene.build()
    scene.step(40)
    scene.stop_recording()
    status, video = recorder.status, watch(tmp_path / "a.mp4")
    assert status.dropped > 0
    assert (len(video), video.comment["frames"], video.comment["dropped"]) == (
        status.written,
        status.written,
        status.dropped,
    )


# Codecs.


def test_a_codec_that_does_not_work_is_refused_at_the_start(tmp_path, still_scene):
    scene = still_scene()
    for options, words in (
        (VideoFile(tmp_path / "a.webm", codec="libx264"), r"libx264.*These work for \.webm: libvpx-vp9"),
        (VideoFile(tmp_path / "a.mp4", codec_options={"presett": "slow"}), "Did you mean 'preset'"),
        (VideoFile(tmp_path / "a.mp4", codec="mpeg4", crf=3), "give bitrate"),
    ):
        with pytest.raises(OptionsError, match=words):
            scene.start_recording(lambda: 1, options)
    assert (scene.recorders, names(tmp_path)) == ((), [])


def test_a_size_that_the_codec_does_not_take_is_told_at_the_first_step(tmp_path, still_scene):
    scene = still_scene()
    scene.start_recording(lambda: np.zeros((2, 20000), np.uint8), VideoFile(tmp_path / "a.mp4"))
    scene.build()
    with pytest.raises(OptionsError, match="frames of 20000 x 2"):
        scene.step()
    scene.stop_recording()
    assert names(tmp_path) == []


def test_the_codec_is_the_one_that_was_asked_for(tmp_path, record, picture, watch):
    record(
        [picture(0)] * 3,
        VideoFile(tmp_path / "a.mp4", codec="libx265", name="ein Titel"),
        VideoFile(tmp_path / "a.webm"),
    )
    assert watch(tmp_path / "a.mp4").codec == "hevc"
    assert watch(tmp_path / "a.mp4").tags["title"] == "ein Titel"
    assert watch(tmp_path / "a.webm").tags["title"] == "a"


# Files that are there already.


def test_a_file_that_exists_needs_overwrite(tmp_path, still_scene):
    (tmp_path / "a.mp4").write_text("old")
    with pytest.raises(TargetExistsError, match="overwrite"):
        still_scene().start_recording(lambda: 1, VideoFile(tmp_path / "a.mp4"))
    assert (tmp_path / "a.mp4").read_text() == "old"


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_an_old_file_is_kept_where_the_recorder_failed(tmp_path, still_scene, picture, watch, suffix):
    (tmp_path / f"a{suffix}").write_text("old")
    frames = iter([picture(0), picture(1)])
    scene = still_scene(0.04)
    scene.start_recording(lambda: next(frames), VideoFile(tmp_path / f"a{suffix}", overwrite=True))
    scene.build()
    with pytest.raises(RecorderError, match="StopIteration"):
        scene.step(3)
    scene.stop_recording()
    assert (tmp_path / f"a{suffix}.old").read_text() == "old"
    assert len(watch(tmp_path / f"a{suffix}")) == 2


def test_two_recorders_of_a_scene_do_not_share_a_file(tmp_path, still_scene):
    scene = still_scene()
    scene.start_recording(lambda: 1, VideoFile(tmp_path / "a.mp4"))
    with pytest.raises(DuplicateTargetError):
        scene.start_recording(lambda: 1, VideoFile(tmp_path / "a.mp4", overwrite=True))


# Episodes.


def test_a_reset_leaves_the_video_running(tmp_path, record, picture, watch):
    pictures = [picture(i) for i in range(9)]
    record.episodes([pictures[:4], pictures[4:]], VideoFile(tmp_path / "a.mp4"), dt=0.04)
    video = watch(tmp_path / "a.mp4")
    assert video.times == [Fraction(i, 25) for i in range(9)]
    assert video.off(pictures) < 3


def test_each_episode_has_a_file(tmp_path, record, picture, watch):
    pictures = [picture(i) for i in range(9)]
    for suffix in (".mp4", ".gif"):
        options = VideoFile(tmp_path / f"a{suffix}", save_on_reset=True)
        (recorder,) = record.episodes([pictures[:4], pictures[4:], []], options, dt=0.04)
        assert [len(watch(tmp_path / f"a_000{i}{suffix}")) for i in range(2)] == [4, 5]
        assert recorder.status.bytes == sum(path.stat().st_size for path in tmp_path.glob(f"*{suffix}"))
    assert names(tmp_path) == ["a_0000.gif", "a_0000.mp4", "a_0001.gif", "a_0001.mp4"]


# Worlds.


def world_pictures(picture, step, n_envs):
    return np.stack([picture(10 * world + step) for world in range(n_envs)])


@pytest.mark.parametrize("kind", ["all", "chosen"])
def test_each_chosen_world_has_a_file(tmp_path, world_scene, picture, watch, kind):
    def pictures():
        every = world_pictures(picture, int(scene.step_count[0]), 4)
        return every if kind == "all" else every[[3, 1]]

    scene, recorder = world_scene(4, pictures, VideoFile(tmp_path / "a.mp4", worlds=[3, 1]))
    scene.step(5)
    scene.stop_recording()
    assert names(tmp_path) == ["a_w1.mp4", "a_w3.mp4"]
    for world in (1, 3):
        assert watch(tmp_path / f"a_w{world}.mp4").off([picture(10 * world + i) for i in range(6)]) < 3
    assert recorder.status.written == 6
    assert recorder.status.bytes == sum(path.stat().st_size for path in tmp_path.iterdir())


def test_worlds_and_episodes(tmp_path, world_scene, picture, watch):
    options = VideoFile(tmp_path / "a.mp4", worlds=[0, 2], save_on_reset=True)
    scene, _ = world_scene(3, lambda: world_pictures(picture, 0, 3), options)
    scene.step(3)
    scene.reset([1])
    scene.step(1)
    scene.reset()
    scene.step(1)
    scene.stop_recording()
    assert names(tmp_path) == ["a_w0_0000.mp4", "a_w0_0001.mp4", "a_w2_0000.mp4", "a_w2_0001.mp4"]
    assert [len(watch(path)) for path in sorted(tmp_path.iterdir())] == [5, 2, 5, 2]


def test_only_what_is_chosen_is_copied(tmp_path, world_scene):
    frames = np.zeros((200, 120, 160, 3), np.uint8)
    scene, recorder = world_scene(200, lambda: frames, VideoFile(tmp_path / "a.mp4", worlds=[7]))
    scene.step(2)
    assert recorder._schema.columns[0].shape == (1, 120, 160, 3)
    scene.stop_recording()
    assert names(tmp_path) == ["a_w7.mp4"]


def test_frames_of_worlds_are_refused_until_some_are_chosen(tmp_path, world_scene, picture):
    scene, _ = world_scene(3, lambda: world_pictures(picture, 0, 3), VideoFile(tmp_path / "a.mp4"))
    with pytest.raises(OptionsError, match=r"frames of 3 worlds; choose those to record, such as worlds=\[0\]"):
        scene.step()


def test_one_picture_of_many_worlds_is_a_video(tmp_path, world_scene, picture, watch):
    scene, _ = world_scene(3, lambda: picture(0), VideoFile(tmp_path / "a.mp4"))
    scene.step(3)
    scene.stop_recording()
    assert len(watch(tmp_path / "a.mp4")) == 4


@pytest.mark.parametrize(
    ("n_envs", "worlds", "words"), [(0, [0], "no worlds"), (3, [3], "worlds 0 to 2"), (3, [0, 7], "worlds 0 to 2")]
)
def test_worlds_that_are_not_there_are_told_by_build(tmp_path, world_scene, n_envs, worlds, words):
    with pytest.raises(OptionsError, match=words):
        world_scene(n_envs, lambda: 1, VideoFile(tmp_path / "a.mp4", worlds=worlds))
    assert names(tmp_path) == []


@pytest.mark.parametrize("shape", [(8, 8, 3), (5, 8, 8, 3), (2, 8), (1, 8, 8, 3)])
def test_frames_of_other_worlds_are_refused(tmp_path, world_scene, shape):
    scene, _ = world_scene(3, lambda: np.zeros(shape, np.uint8), VideoFile(tmp_path / "a.mp4", worlds=[0, 2]))
    with pytest.raises(SampleError, match=r"\(|shape"):
        scene.step()


def test_the_files_of_worlds_must_be_free(tmp_path, still_scene):
    (tmp_path / "a_w2.mp4").write_text("old")
    (tmp_path / "a.mp4").write_text("another's")
    with pytest.raises(TargetExistsError, match="a_w2"):
        still_scene().start_recording(lambda: 1, VideoFile(tmp_path / "a.mp4", worlds=[1, 2]))
    still_scene().start_recording(lambda: 1, VideoFile(tmp_path / "a.mp4", worlds=[1]))


def test_the_summary_tells_frames_and_bytes(tmp_path, record, picture, caplog):
    with caplog.at_level("INFO", "simreel"):
        record([picture(0)] * 3, VideoFile(tmp_path / "a.mp4"))
    assert caplog.messages[-1].startswith("VideoFile a.mp4: 3 samples, 0 dropped, ")
    assert caplog.messages[-1].endswith("kB")
