"""What a reel holds that is a trajectory."""

from __future__ import annotations

from collections.abc import Iterator

from simreel.cli.console import printable
from simreel.errors import SimreelError

__all__ = ["tell_trajectory"]


def tell_trajectory(file: str) -> Iterator[str]:
    """Lines that tell of a trajectory or a checkpoint; none of another reel."""
    from simreel.replay.trajectory import Trajectory

    try:
        trajectory = Trajectory(file)
    except SimreelError:
        return
    with trajectory:
        told = trajectory.info()
        meta = told["meta"]
        engine = "MuJoCo" if meta.get("engine") == "mujoco" else str(meta.get("engine"))
        version = str(meta.get("engine_version") or "")
        parts = [
            f"{told['kind']} of {printable(f'{engine} {version}'.strip())}",
            "exact" if told["is_exact"] else "compact",
            *([_count(told["n_envs"], "world")] if told["n_envs"] else []),
            *([f"a frame each {told['stride']} steps"] if told["stride"] > 1 else []),
            _count(len(told["episodes"]), "episode"),
        ]
        yield ", ".join(parts)
        for key, title in (
            ("entities", "entities"),
            ("cameras", "cameras"),
            ("channels", "channels"),
            ("parameters", "parameters that changed"),
        ):
            if told[key]:
                yield f"{title}: {', '.join(map(printable, told[key]))}"


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
