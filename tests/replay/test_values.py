import numpy as np
import pytest

import simreel as sr
from simreel.errors import FrameIndexError, UnknownNameError


@pytest.fixture
def traj(made, tmp_path):
    scene = made("arm", 3)
    arm = scene.entities[0]
    scene.add_channel("hand", arm.get_pos, unit="m", columns=None)
    scene.add_channel("count", lambda: int(scene.step_count[0]))
    with scene.recording(sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel")):
        scene.step(20)
    with sr.Scene.load_trajectory(tmp_path / "run.reel") as traj:
        yield traj


def test_fields_have_the_worlds_first_and_are_the_frames(traj):
    qpos = traj.field("qpos")
    assert qpos.shape == (21, 3, 7)
    assert len(qpos) == 21
    assert qpos.dtype == np.float64
    assert qpos[4:9].shape == (5, 3, 7)
    assert qpos[4:9][2].tobytes() == qpos[6].tobytes() == traj.frame(6)["qpos"].tobytes()
    assert qpos[-1].tobytes() == qpos[20].tobytes()
    assert np.asarray(qpos).shape == qpos.shape
    assert qpos[::-5].tobytes() == np.asarray(qpos)[::-5].tobytes()
    assert sum(1 for _ in qpos) == 21
    assert traj.field("step")[3].tolist() == [[3], [3], [3]]


def test_channels_have_the_shape_that_their_functions_gave(traj):
    assert traj.channels == ("hand", "count")
    assert traj.channel("hand")[2:4].shape == (2, 3, 3)
    assert traj.channel("hand").unit == "m"
    assert traj.channel("count")[5:8].tolist() == [5, 6, 7]
    assert traj.channel("count").dtype == np.int64
    assert traj.frame(5)["channel/count"] == 5


def test_a_name_that_is_not_there_gives_those_that_are(traj):
    with pytest.raises(UnknownNameError, match=r"no field named 'qpso'.*Did you mean 'qpos'"):
        traj.field("qpso")
    with pytest.raises(UnknownNameError, match=r"no channel named 'hnad'.*Did you mean 'hand'"):
        traj.channel("hnad")


def test_a_frame_that_is_not_there_is_an_error(traj):
    with pytest.raises(FrameIndexError, match="no frame 21; its 21 frames"):
        traj.field("qpos")[21]


def test_what_is_read_is_the_readers_own(traj):
    first = traj.field("qpos")[3:5]
    first[:] = 7
    traj.frame(3)["qpos"][:] = 7
    assert not (traj.field("qpos")[3:5] == 7).any()


def test_contacts_are_lists_of_as_many_as_there_were(load, tmp_path):
    scene = sr.Scene.from_mujoco(load("boxes"))
    scene.build()
    with scene.recording(sr.recorders.TrajectoryFile(filename=tmp_path / "run.reel", contacts=True)):
        for _ in range(60):
            scene.step()
    with sr.Scene.load_trajectory(tmp_path / "run.reel") as traj:
        positions, geoms = traj.field("contact/pos"), traj.field("contact/geom")
        counts = [len(frame) for frame in positions[:]]
        assert max(counts) > 3
        assert [len(frame) for frame in geoms[:]] == counts
        frame = counts.index(max(counts))
        assert positions[frame].shape == (max(counts), 3)
        traj.seek(frame)
        assert traj.scene.data.ncon == max(counts)
        assert np.array_equal(np.sort(traj.scene.data.contact.geom, axis=0), np.sort(geoms[frame], axis=0))


def test_a_channel_of_single_values_is_indexed_and_gone_through(traj):
    count = traj.channel("count")
    assert count.shape == (21,)
    assert (count[3], count[-1]) == (3, 20)
    assert count[3].shape == ()
    assert [int(value) for value in count] == list(range(21))
    assert traj.frame(4)["channel/count"] == 4
