from __future__ import annotations

import pytest


@pytest.fixture
def schematic(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures without GL, the same on every machine."""
    monkeypatch.setenv("SIMREEL_RENDERER", "schematic")
    monkeypatch.setattr("simreel.render.backend._chosen", None)
