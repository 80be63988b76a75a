"""The clock of an environment: one step of it is one step of the clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from simreel.errors import SceneStateError
from simreel.scene.engines.function_engine import FunctionEngine
from simreel.scene.scene import Scene

if TYPE_CHECKING:
    import gymnasium

__all__ = ["clock_of", "dt_of"]


def clock_of(env: gymnasium.Env[Any, Any] | gymnasium.vector.VectorEnv[Any, Any, Any]) -> Scene:
    """A scene that counts the environment's steps and steps nothing itself."""
    return Scene(engine=FunctionEngine(_refuse, dt=dt_of(env)))


def dt_of(env: gymnasium.Env[Any, Any] | gymnasium.vector.VectorEnv[Any, Any, Any]) -> float:
    """Time of one step [s]: the environment's own dt, or that of its `render_fps`, else 1."""
    inner: Any = env.unwrapped
    # A vector that steps in this process has its environments at hand; they are alike.
    inner = getattr(inner, "envs", [inner])[0].unwrapped
    dt = getattr(inner, "dt", None)
    if isinstance(dt, float | int) and dt > 0:
        return float(dt)
    fps = (env.metadata or {}).get("render_fps")
    return 1 / fps if fps else 1.0


def _refuse() -> NoReturn:
    raise SceneStateError("scene.step()", "the environment is stepped by its own step")
