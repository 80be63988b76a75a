"""Times several loops in turn, so that what the machine does meanwhile meets all of them alike."""

from __future__ import annotations

import gc
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version

__all__ = ["head_line", "interleaved"]


def interleaved(loops: Mapping[str, Callable[[int], None]], *, steps: int, rounds: int) -> dict[str, list[float]]:
    """Microseconds a step of each loop, one value a round.

    Args:
        loops: each takes a number of steps and runs them.
        steps: steps of a loop in a round.
        rounds: how often each loop has its turn.
    """
    for loop in loops.values():
        loop(steps)
    times: dict[str, list[float]] = {name: [] for name in loops}
    names = list(loops)
    gc.collect()
    gc.disable()
    try:
        for i in range(rounds):
            # Another order each round: a loop does not always run in the wake of the same neighbour.
            for name in names[i % len(names) :] + names[: i % len(names)]:
                start = time.perf_counter()
                loops[name](steps)
                times[name].append((time.perf_counter() - start) / steps * 1e6)
    finally:
        gc.enable()
    return times


def differences(times: Mapping[str, list[float]], name: str, base: str) -> float:
    """The median over the rounds of one loop's time less another's [us]."""
    return statistics.median(a - b for a, b in zip(times[name], times[base], strict=True))


def head_line(title: str) -> str:
    """What was measured, on what."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("simreel", "mujoco", "numpy"))
    return f"{title}: {platform.processor() or platform.machine()}, Python {platform.python_version()}, {packages}"
