"""`simreel verify`: runs a trajectory again and compares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from simreel.cli.console import put
from simreel.cli.progress import counting_bar

if TYPE_CHECKING:
    from simreel.replay.report import VerifyReport

__all__ = ["verdict", "verify"]


def verify(file: Annotated[str, typer.Argument(metavar="FILE", help="The .reel of a trajectory.")]) -> int:
    """Run a trajectory again and compare its states to the bit."""
    from simreel.replay import Trajectory

    with Trajectory(file) as trajectory, counting_bar("frames") as show:
        report, frames = trajectory.verify(on_progress=show), len(trajectory)
    put(f"{file}: {verdict(report, frames)}")
    return 0 if report.ok and (report.steps or frames == 1) else 1


def verdict(report: VerifyReport, frames: int) -> str:
    """The report on so many frames as one line."""
    left = sum(stop - start for start, stop in report.unchecked)
    if report.ok and not report.steps and frames > 1:
        return f"nothing could be compared: none of {frames} frames follows from another by a step that is known"
    note = f"; {left} frames could not be compared" if left else ""
    if report.ok:
        return f"the same to the bit in {report.steps} steps{note}"
    worlds = f" in world{'s' * (len(report.worlds) > 1)} {', '.join(map(str, report.worlds))}" if report.worlds else ""
    return f"the runs differ at frame {report.first_step}{worlds}, in {report.field} by {report.max_abs:.3g}{note}"
