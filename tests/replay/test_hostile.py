"""Files of strangers: a clear error, nothing read outside of them, no code of theirs run, no spike of memory."""

import pickle
import subprocess
import sys
import textwrap
import warnings
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import simreel as sr
from simreel.errors import (
    DamagedFileError,
    NotATrajectoryError,
    SceneDiffersError,
    SceneFileError,
    SimreelError,
    SimreelWarning,
)
from simreel.reel import Layout, Reel, ReelWriter
from simreel.reel.side import Side


def use(path):
    """All that a reader does with a trajectory."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimreelWarning)
        with sr.Scene.load_trajectory(path) as traj:
            traj.info()
            for frame in {0, len(traj) // 2, len(traj) - 1}:
                traj.seek(frame)
                traj.scene.step()
            return traj.verify()


@pytest.fixture
def run(made, record):
    return record(made("arm"), 30, 10, chunk_size=8)


def test_a_file_that_is_cut_anywhere_is_data_or_an_error_of_ours(run, tmp_path):
    raw = run.read_bytes()
    cut = tmp_path / "cut.reel"
    ends = []
    for size in np.linspace(0, len(raw) - 1, 40).astype(int).tolist():
        cut.write_bytes(raw[:size])
        try:
            report = use(cut)
        except SimreelError as error:
            ends.append(str(error))
        else:
            assert report.ok
            ends.append("data")
    assert str(cut) in ends[0]
    assert ends[-1] == "data"


def test_a_file_with_a_wrong_byte_anywhere_is_data_or_an_error_of_ours(run, tmp_path):
    raw = run.read_bytes()
    flipped = tmp_path / "flipped.reel"
    rng = np.random.default_rng(0)
    for at in rng.integers(0, len(raw), 40).tolist():
        changed = bytearray(raw)
        changed[at] ^= int(rng.integers(1, 256))
        flipped.write_bytes(changed)
        with suppress(SimreelError):
            assert use(flipped).ok


class Evil:
    """A pickle that leaves a trace where it is loaded."""

    def __init__(self, trace):
        self.trace = str(trace)

    def __reduce__(self):
        return open, (self.trace, "w")


def test_a_pickle_is_not_loaded(run, tmp_path, rewrite):
    trace = tmp_path / "trace"
    evil = pickle.dumps(Evil(trace))
    path = tmp_path / "evil.reel"
    path.write_bytes(evil)
    with pytest.raises(DamagedFileError, match="not a reel"):
        use(path)
    for name in ("scene.json", "model.mjb"):
        target = tmp_path / f"{name}.reel"
        rewrite(run, target, blobs=lambda blobs, name=name: blobs.update({name: evil}))
        with pytest.raises(SimreelError) if name == "scene.json" else warnings.catch_warnings():
            use(target)
    assert not trace.exists()


@pytest.mark.parametrize(
    "inside",
    [
        '<include file="{outside}/secret.xml"/>',
        '<include file="../secret.xml"/>',
        '<asset><mesh name="m" file="{outside}/secret.stl"/></asset>',
        '<asset><texture name="t" type="2d" file="../../secret.png"/></asset>',
        '<compiler meshdir="{outside}"/><asset><mesh name="m" file="secret.stl"/></asset>',
    ],
)
def test_a_model_that_names_files_outside_reads_none_of_them(run, tmp_path, rewrite, inside):
    outside = tmp_path / "outside"
    outside.mkdir()
    secret = "<mujoco><worldbody><body name='secret'/></worldbody></mujoco>"
    for folder in (outside, tmp_path):
        (folder / "secret.xml").write_text(secret)
    text = f"<mujoco>{inside.format(outside=outside)}</mujoco>"

    def change(blobs):
        del blobs["model.mjb"]
        for name in blobs:
            if name.startswith("sources/"):
                blobs[name] = text.encode()

    path = rewrite(run, tmp_path / "evil.reel", blobs=change)
    with pytest.raises(SceneFileError, match=r"evil\.reel"):
        use(path)


@pytest.mark.parametrize(
    ("name", "shape"), [("body_mass", (10**6,)), ("body_parentid", (3,)), ("__class__", (1,)), ("opt.__class__", (1,))]
)
def test_parameters_that_the_model_has_not_are_refused(run, tmp_path, rewrite, name, shape):
    side = Side(0, {"from": 0, "uncertain": None}, {name: np.zeros(shape)})
    path = rewrite(run, tmp_path / "evil.reel", params=lambda params: params.append(side))
    with pytest.raises(NotATrajectoryError, match=name.removeprefix("opt.")):
        use(path)


def test_numbers_that_would_send_mujoco_out_of_its_arrays_are_refused(run, tmp_path, rewrite):
    scene = sr.Scene.load_trajectory(run).scene
    side = Side(0, None, {"geom_dataid": np.full_like(scene.model.geom_dataid, 10**6)})
    path = rewrite(run, tmp_path / "evil.reel", params=lambda params: params.append(side))
    with pytest.raises(NotATrajectoryError, match="geom_dataid"):
        use(path)


@pytest.mark.parametrize(
    "value",
    [
        None,
        7,
        {"type": None},
        {"type": "segment", "worlds": [99, -1, "a"]},
        {"type": "world_end", "worlds": [5]},
        {"type": "world_end", "worlds": "all"},
        {"type": "state", "values": 3},
        {"type": "state"},
        {"type": "episode", "first": "a", "stop": None},
    ],
    ids=str,
)
def test_notes_of_any_form_are_left_out_or_an_error_of_ours(run, tmp_path, rewrite, value):
    path = rewrite(run, tmp_path / "odd.reel", notes=lambda notes: notes.extend([Side(5, value), Side(10**12, value)]))
    with suppress(SimreelError):
        use(path)


def one_of(name, size=2**28):
    def change(blobs):
        assert name in blobs
        blobs[name] = bytes(size)
        if name != "model.mjb":
            del blobs["model.mjb"]

    return change


def many_of(count, size, *, equal):
    def change(blobs):
        del blobs["model.mjb"]
        blobs.update({f"sources/0/0/{i}.bin": bytes(size) + bytes([0 if equal else i]) for i in range(count)})

    return change


BOMBS = {
    "a large description": one_of("scene.json"),
    "a large model": one_of("model.mjb"),
    "a large source": one_of("sources/0/0/arm.xml"),
    "many sources": many_of(20, 2**24, equal=False),
    "one source under many names": many_of(100, 2**21, equal=True),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_small_file_that_unpacks_to_far_more_takes_little_memory(run, tmp_path, rewrite, monkeypatch, bomb):
    with monkeypatch.context() as patched:
        # This writer makes none.
        patched.setattr("simreel.reel.blob.BLOB_EXCESS", 2**40)
        path = rewrite(run, tmp_path / "bomb.reel", blobs=BOMBS[bomb])
    assert path.stat().st_size < 2**20
    # The peak that the system keeps for `getrusage` is the parent's at first.
    program = """
        import sys, warnings
        from pathlib import Path
        import simreel as sr
        from simreel.errors import SimreelError

        def load(path):
            try:
                sr.Scene.load_trajectory(path).scene
            except SimreelError as error:
                print(error, file=sys.stderr)
            lines = Path("/proc/self/status").read_text().splitlines()
            return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

        warnings.simplefilter("ignore")
        plain = load(sys.argv[1])
        print(load(sys.argv[2]) - plain)
    """
    if not Path("/proc/self/status").exists():
        pytest.skip("this system does not tell the memory of a process")
    command = [sys.executable, "-c", textwrap.dedent(program), str(run), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 100 * 1024, done.stderr
    # A model is compiled from its sources where it is damaged.
    is_of_use = bomb in {"a large model", "one source under many names"}
    assert is_of_use == ("bomb.reel" not in done.stderr)


def test_a_state_of_other_fields_is_refused(run, tmp_path):
    with Reel.open(run) as reel:
        fields = [replace(f, name="gravity") if f.name == "ctrl" else f for f in reel.layout.fields]
        layout = Layout(tuple(fields), reel.layout.joints)
        blobs = {name: reel.blobs[name] for name in reel.blobs}
        with ReelWriter(tmp_path / "odd.reel", layout, dt=reel.dt, meta=reel.meta, blobs=blobs) as writer:
            writer.append(np.zeros(3, layout.row_dtype))
    with pytest.raises(SceneDiffersError, match="gravity"):
        use(tmp_path / "odd.reel")


def test_a_head_that_claims_a_petabyte_of_worlds_is_refused_at_once(run, tmp_path, rewrite):
    path = rewrite(run, tmp_path / "huge.reel", meta=lambda meta: meta.update(n_envs=10**15))
    with pytest.raises(NotATrajectoryError):
        use(path)


def test_a_file_without_a_scene_can_be_read_and_says_that_it_cannot_be_sought(run, tmp_path, rewrite):
    path = rewrite(run, tmp_path / "bare.reel", blobs=lambda blobs: blobs.clear())
    with sr.Scene.load_trajectory(path) as traj:
        assert traj.field("qpos")[3:5].shape == (2, 7)
        assert traj.info()["entities"] == []
        with pytest.raises(SceneFileError, match=r"bare\.reel: scene\.json"):
            traj.seek(0)
