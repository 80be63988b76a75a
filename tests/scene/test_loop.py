"""Steps that are interrupted or fail: the clock counts what the engine took."""

from __future__ import annotations

import numpy as np
import pytest

import simreel as sr


class Interrupted:
    """Takes a step, then raises what it was told."""

    n_envs = 0
    dt = 0.1

    def __init__(self, error: BaseException, at: int, *, taken: bool) -> None:
        self.count = 0
        self.calls = 0
        self.error = error
        self.at = at
        self.taken = taken

    def build(self, n_envs: int) -> None:
        pass

    def reset(self, envs_idx: object) -> None:
        pass

    def refresh(self) -> None:
        pass

    def step(self) -> None:
        self.calls += 1
        fails = self.calls == self.at
        if self.taken or not fails:
            self.count += 1
        if fails:
            raise self.error


@pytest.mark.parametrize("hz", [None, 2])
@pytest.mark.parametrize("at", [1, 3, 5, 6])
def test_a_ctrl_c_that_comes_when_the_engine_returns_loses_no_step(tmp_path, at: int, hz: float | None) -> None:
    engine = Interrupted(KeyboardInterrupt(), at, taken=True)
    scene = sr.Scene(engine=engine)
    scene.start_recording(lambda: float(engine.count), sr.recorders.NPZFile(tmp_path / "run.npz", hz=hz))
    scene.build()
    for _ in range(10):
        try:
            scene.step()
        except KeyboardInterrupt:
            assert scene.step_count == engine.count == at
    assert scene.step_count == engine.count == 10
    scene.stop_recording()
    with np.load(tmp_path / "run.npz") as file:
        np.testing.assert_array_equal(file["data"], file["step"])


@pytest.mark.parametrize("hz", [None, 2])
@pytest.mark.parametrize("at", [1, 3, 6])
def test_a_step_in_which_the_engine_fails_is_not_counted(tmp_path, at: int, hz: float | None) -> None:
    engine = Interrupted(ValueError("broken"), at, taken=False)
    scene = sr.Scene(engine=engine)
    scene.start_recording(lambda: float(engine.count), sr.recorders.NPZFile(tmp_path / "run.npz", hz=hz))
    scene.build()
    for _ in range(10):
        try:
            scene.step()
        except ValueError:
            assert scene.step_count == engine.count == at - 1
    assert scene.step_count == engine.count == 9
    scene.stop_recording()
    with np.load(tmp_path / "run.npz") as file:
        np.testing.assert_array_equal(file["data"], file["step"])
        assert file["step"].tolist() == sorted(set(file["step"].tolist()))
