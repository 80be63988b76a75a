import av
import pytest


@pytest.fixture(autouse=True)
def schematic(monkeypatch):
    monkeypatch.setenv("SIMREEL_RENDERER", "schematic")
    monkeypatch.setattr("simreel.render.backend._chosen", None)


def film(path):
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        return (stream.width, stream.height), stream.average_rate, sum(1 for _ in container.decode(video=0))


def test_a_run_is_filmed_with_the_models_camera(call, arm, tmp_path):
    ended = call("run", arm, "--duration", "0.2", "--video", tmp_path / "a.mp4", "--size", "64x48", "--fps", "50")
    assert ended.status == 0
    assert ended.out[0].startswith(f"{tmp_path / 'a.mp4'}: 11 samples, 0 dropped, ")
    assert film(tmp_path / "a.mp4") == ((64, 48), 50, 11)


def test_a_model_without_a_camera_is_seen_whole(call, tmp_path):
    model = tmp_path / "ball.xml"
    model.write_text("<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>")
    ended = call("run", model, "--duration", "0.1", "--video", tmp_path / "a.mp4", "--size", "64x48")
    assert ended.status == 0
    assert film(tmp_path / "a.mp4")[0] == (64, 48)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--video", "a.mpx"], "--video a.mpx"),
        (["--video", "a.mp4", "--size", "64"], "--size 64"),
        (["--video", "a.mp4", "--size", "0x3"], "--size 0x3"),
        (["--video", "a.mp4", "--camera", "sid"], "Did you mean 'side'?"),
        (["--video", "a.mp4", "--fps", "0"], "0"),
        (["--video", "a.gif", "--fps", "500"], "at most 50 frames"),
    ],
)
def test_a_mistake_is_one_line_that_names_it(call, arm, here, options, told):
    ended = call("run", arm, *options)
    assert ended.status in {1, 2}
    assert len(ended.err) == 1
    assert told in ended.err[0]
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("recorded", ["--npz=b.npz", "--csv=b.csv", "--reel=b.reel"])
@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--video", "old.mp4"], "old.mp4 exists already"),
        (["--video", "old.mp4/a.mp4"], "is not a folder"),
        (["--video", "a.mp4", "--camera", "nope"], "no camera named 'nope'; there are: 'side'"),
        (["--video", "a.mp4", "--camera", ""], "no camera named ''; there are: 'side'"),
        (["--video", "a.gif", "--fps", "100"], "at most 50 frames"),
        (["--camera", "side"], "--camera side: give --video"),
        (["--size", "3x3"], "--size 3x3: give --video"),
        (["--fps", "3"], "--fps 3: give --video"),
    ],
)
def test_a_mistake_in_the_video_leaves_no_other_file(call, arm, here, recorded, options, told):
    (here / "old.mp4").write_bytes(b"mine")
    ended = call("run", arm, "--duration", "0.1", recorded, *options)
    assert ended.status in {1, 2}
    assert len(ended.err) == 1
    assert told in ended.err[0]
    assert [path.name for path in here.iterdir()] == ["old.mp4"]


def test_a_first_camera_without_a_name_films(call, tmp_path):
    model = tmp_path / "ball.xml"
    model.write_text("<mujoco><worldbody><camera pos='0 0 2'/><geom size='.1'/></worldbody></mujoco>")
    ended = call("run", model, "--duration", "0.1", "--video", tmp_path / "a.mp4", "--size", "64x48")
    assert ended.status == 0
    assert film(tmp_path / "a.mp4")[0] == (64, 48)
