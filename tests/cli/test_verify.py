import mujoco
import numpy as np
import pytest

import simreel as sr
from simreel.reel import Reel, ReelWriter


def recorded(path, n_envs=0):
    scene = sr.Scene()
    arm = scene.add_entity(sr.morphs.MJCF(file=sr.models.path("arm")), name="arm")
    scene.add_camera(name="side")
    scene.add_channel("hand", arm.get_pos, unit="m")
    scene.start_recording(sr.recorders.TrajectoryFile(filename=path, exact=True))
    scene.build(n_envs)
    scene.step(20)
    scene.reset()
    scene.step(10)
    scene.stop_recording()
    return path


@pytest.fixture
def altered(tmp_path):
    with Reel.open(recorded(tmp_path / "run.reel")) as reel:
        rows = reel.rows(0, len(reel))
        rows["qpos"][7, 2] += 0.25
        blobs = {name: reel.blobs[name] for name in reel.blobs}
        with ReelWriter(tmp_path / "altered.reel", reel.layout, dt=reel.dt, meta=reel.meta, blobs=blobs) as writer:
            writer.append(rows)
    return tmp_path / "altered.reel"


def test_a_run_that_is_the_same_ends_with_status_0(call, here):
    recorded("run.reel")
    ended = call("verify", "run.reel")
    assert (ended.status, ended.err) == (0, [])
    assert ended.out == ["run.reel: the same to the bit in 30 steps"]


def test_a_run_that_differs_ends_with_status_1_and_names_the_frame(call, altered):
    ended = call("verify", altered)
    assert ended.status == 1
    assert ended.out == [f"{altered}: the runs differ at frame 7, in qpos by 0.25"]


def test_what_cannot_be_verified_is_one_line(call, here):
    (here / "text.reel").write_text("no reel")
    engine = sr.scene.FunctionEngine(lambda: None, dt=1, get_state=lambda: np.zeros(2), set_state=lambda _: None)
    scene = sr.Scene(engine=engine)
    with scene.recording(sr.recorders.TrajectoryFile(filename="own.reel")):
        scene.build()
    for name, reason in (("nothing.reel", "no such file"), ("text.reel", "not a reel"), ("own.reel", "give the scene")):
        ended = call("verify", name)
        assert (ended.status, ended.out, len(ended.err)) == (1, [], 1)
        assert f" {name}: " in ended.err[0]
        assert reason in ended.err[0]


def test_a_piped_run_shows_no_bar(call_piped, tmp_path):
    ended = call_piped("verify", recorded(tmp_path / "run.reel", n_envs=2))
    assert (ended.status, ended.err) == (0, [])


def test_info_tells_of_a_trajectory(call, here):
    recorded("run.reel", n_envs=3)
    out = call("info", "run.reel").out
    (told,) = (line for line in out if line.startswith("trajectory of MuJoCo "))
    assert told.endswith(", exact, 3 worlds, 2 episodes")
    assert {"entities: arm", "cameras: side", "channels: hand"} <= set(out)


def test_info_tells_of_a_reel_that_is_no_trajectory_nothing_more(call, here):
    with Reel.open(recorded("run.reel")) as reel, ReelWriter("log.reel", reel.layout, meta={"kind": "log"}) as writer:
        writer.append(np.zeros(3, reel.layout.row_dtype))
    assert not any("trajectory" in line for line in call("info", "log.reel").out)


def test_a_run_of_which_nothing_could_be_compared_is_not_said_to_be_the_same(call, here):
    model = mujoco.MjModel.from_xml_path(str(sr.models.path("arm")))
    data = mujoco.MjData(model)
    scene = sr.Scene.from_mujoco(model, data)
    with scene.recording(sr.recorders.TrajectoryFile(filename="own.reel")):
        scene.build()
        for _ in range(20):
            scene.sample()
            mujoco.mj_step(model, data, nstep=2)
    ended = call("verify", "own.reel")
    assert (ended.status, ended.err) == (1, [])
    (line,) = ended.out
    assert line.startswith("own.reel: nothing could be compared: none of 21 frames ")
    scene.save_checkpoint("one.reel")
    assert call("verify", "one.reel").status == 0


def test_a_file_in_the_users_folder_is_found(call, here, monkeypatch):
    monkeypatch.setenv("HOME", str(here))
    monkeypatch.setenv("USERPROFILE", str(here))
    recorded(here / "run.reel")
    ended = call("verify", "~/run.reel")
    assert (ended.status, ended.out) == (0, ["~/run.reel: the same to the bit in 30 steps"])
    assert call("info", "~/run.reel").status == 0
    assert call("repack", "~/run.reel", "--out", "~/other.reel").status == 0
    assert (here / "other.reel").is_file()
