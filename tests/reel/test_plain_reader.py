"""The pages of the format are enough to read a reel: a reader that was made from them gives what ours gives."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import mujoco
import numpy as np
import pytest
import zstandard

import simreel
from simreel.reel import Reel, ReelWriter, layout_from_mujoco

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def plain():
    """The module."""
    spec = importlib.util.spec_from_file_location("plain_reader", HERE / "plain_reader.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check(plain, path):
    head, is_complete, rows = plain.read(path.read_bytes())
    with Reel.open(path) as reel:
        assert (head["dt"], head["codec"]["name"], is_complete) == (reel.dt, reel.head.codec, reel.is_complete)
        lost = {frame for start, stop in reel.gaps for frame in range(start, stop)}
        for field in reel.layout.fields:
            values = rows[field.name]
            assert len(values) == len(reel)
            for i in range(len(reel)):
                assert values[i] == (None if i in lost else reel.field(field.name)[i].tobytes())


def test_it_has_at_most_120_lines_and_knows_neither_numpy_nor_us():
    lines = [line for line in (HERE / "plain_reader.py").read_text(encoding="utf-8").splitlines() if line.strip()]
    imports = {line.split()[1] for line in lines if line.startswith(("import ", "from "))}
    assert len(lines) <= 120
    assert imports == {"json", "math", "struct", "zlib", "itertools", "zstandard"}


@pytest.mark.parametrize("path", sorted((HERE / "golden").glob("*.reel")), ids=lambda path: path.stem)
def test_it_reads_a_golden_file(path, plain):
    check(plain, path)


def states(name, count, integrator="EULER"):
    """A layout, the time of a step, and states of a simulation that falls and turns, with contacts."""
    model = mujoco.MjModel.from_xml_path(str(simreel.models.path(name)))
    model.opt.integrator = mujoco.mjtIntegrator.__members__[f"mjINT_{integrator}"]
    data, signature = mujoco.MjData(model), mujoco.mjtState.mjSTATE_INTEGRATION
    rng = np.random.default_rng(0)
    data.qvel[:] = rng.normal(0, 3, model.nv)
    rows = np.empty((count, mujoco.mj_stateSize(model, signature)))
    for i, row in enumerate(rows):
        # One is noise, the others rise.
        data.ctrl[0] = 1 + rng.random()
        data.ctrl[1:] = i / 1000
        mujoco.mj_getState(model, data, row, signature)
        mujoco.mj_step(model, data)
    return layout_from_mujoco(model), model.opt.timestep, rows


@pytest.mark.parametrize("name", ["arm", "cartpole", "quadruped"])
def test_it_reads_states_of_a_robot(name, plain, tmp_path):
    layout, dt, rows = states(name, 90)
    with ReelWriter(tmp_path / "a.reel", layout, dt=dt, chunk_size=50) as writer:
        writer.append(rows)
    check(plain, tmp_path / "a.reel")


def test_it_meets_every_predictor(plain, tmp_path):
    found = set()
    # Each integrator has its own.
    for name, integrator in (("quadruped", "EULER"), ("quadruped", "RK4"), ("cartpole", "RK4"), ("arm", "DISCRETE")):
        layout, dt, rows = states(name, 200, integrator)
        path = tmp_path / f"{name}, {integrator}.reel"
        with ReelWriter(path, layout, dt=dt, chunk_size=100) as writer:
            writer.append(rows)
        check(plain, path)
        found |= predictors(path)
    assert found == set(range(10))


def predictors(path):
    """The predictor of each column of each field that some chunk has."""
    found = set()
    with Reel.open(path) as reel:
        for at in reel.records.entries["offset"][reel.records.entries["tag"] == b"CHNK"].tolist():
            body = reel._file.body(reel._file.header(at), at)
            lengths = np.frombuffer(body, "<u4", len(reel.layout.fields), 4)
            starts = 4 + 4 * len(lengths) + np.cumsum([0, *lengths[:-1]])
            for field, start, length in zip(reel.layout.fields, starts, lengths, strict=True):
                content = zstandard.ZstdDecompressor().decompress(body[start : start + length])
                found |= set(content[: field.width])
    return found


def test_it_skips_what_is_damaged(plain, small, tmp_path):
    raw, _ = small
    path = tmp_path / "a.reel"
    path.write_bytes(raw)
    with Reel.open(path) as reel:
        second = int(reel.records.entries["offset"][reel.records.entries["tag"] == b"CHNK"][1])
    for at in (second + 10, second + 40):
        path.write_bytes(raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :])
        check(plain, path)
