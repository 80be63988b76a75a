"""Small models of our own, made of primitives: for the docs, the demo and the tests."""

from __future__ import annotations

from pathlib import Path

from simreel.errors import UnknownNameError

__all__ = ["names", "path"]


def names() -> tuple[str, ...]:
    """The names of the models, in alphabetical order."""
    return tuple(sorted(file.stem for file in Path(__file__).parent.glob("*.xml")))


def path(name: str) -> Path:
    """The MJCF file of the model of that name, as for `morphs.MJCF(models.path("arm"))`.

    Raises:
        UnknownNameError: there is no such model.
    """
    if name not in names():
        raise UnknownNameError("model", name, names())
    return Path(__file__).parent / f"{name}.xml"
