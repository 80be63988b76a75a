from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import simreel as sr


@pytest.fixture
def schematic(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures without GL, the same on every machine."""
    monkeypatch.setenv("SIMREEL_RENDERER", "schematic")
    monkeypatch.setattr("simreel.render.backend._chosen", None)


@pytest.fixture(scope="session")
def arm_scene():
    """`arm_scene(dt, **options)` makes a scene with the arm; both are returned."""

    def make(dt: float | None = None, **options: object) -> tuple[sr.Scene, object]:
        scene = sr.Scene(sr.SimOptions(dt=dt, **options))
        return scene, scene.add_entity(sr.morphs.MJCF(sr.models.path("arm")))

    return make


@pytest.fixture(scope="session")
def qpos_of():
    """`qpos_of(scene, arm)` is a data function that refers to its scene, as most do."""
    return lambda scene, arm: lambda: arm.get_qpos() * scene.dt


@pytest.fixture(scope="session")
def steps_in():
    """`steps_in(path)` gives the steps of the rows of an archive."""

    def read(path: Path) -> list[int]:
        with np.load(path) as file:
            return file["step"].tolist()

    return read
