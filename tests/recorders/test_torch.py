"""Data functions that return tensors, where torch is there."""

from __future__ import annotations

import numpy as np
import pytest

from simreel.recorders import NPZFile

torch = pytest.importorskip("torch", reason="torch is not installed: pip install torch")


def test_tensors_are_recorded_with_their_dtypes_and_a_reused_one_is_copied(still_scene, tmp_path):
    scene = still_scene()
    reused = torch.zeros(2)
    needs_gradient = torch.ones(3, requires_grad=True)

    def data():
        reused[:] = scene.step_count
        return {"reused": reused, "gradient": needs_gradient * 2, "int": torch.arange(3), "scalar": torch.tensor(2.5)}

    scene.start_recording(data, NPZFile(tmp_path / "run.npz"))
    scene.build()
    for _ in range(3):
        scene.step()
    scene.stop_recording()
    with np.load(tmp_path / "run.npz") as file:
        assert file["reused"].tolist() == [[0, 0], [1, 1], [2, 2], [3, 3]]
        assert {key: str(file[key].dtype) for key in ("gradient", "int", "scalar")} == {
            "gradient": "float32",
            "int": "int64",
            "scalar": "float32",
        }
