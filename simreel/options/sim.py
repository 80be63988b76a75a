"""How the scene simulates."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from simreel.options.base import Options

__all__ = ["SimOptions", "Vec3"]

Vec3 = tuple[float, float, float]


class SimOptions(Options):
    """Step, gravity and integrator of a scene.

    What is None comes from the first MJCF or URDF of the scene (its whole `<option>`), else from MuJoCo's defaults.
    """

    positional: ClassVar[tuple[str, ...]] = ("dt", "substeps", "gravity", "integrator")

    dt: Annotated[float, Field(gt=0)] | None = None
    """Time that one `scene.step()` advances [s]; the physics timestep is `dt / substeps`. None: the timestep of the
    first model file, else 0.002 s, times `substeps`."""

    substeps: int = Field(1, ge=1)
    """Physics steps in one `scene.step()`."""

    gravity: Vec3 | None = None
    """Acceleration of gravity in world axes [m/s^2]."""

    integrator: Literal["euler", "rk4", "implicit", "implicitfast", "discrete"] | None = None
    """MuJoCo's integrator."""
