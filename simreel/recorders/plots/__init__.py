"""The live plots, and the window process that they are drawn in.

    step -> queue -> worker -> ring in shared memory -> window process -> screen, video
                   recorder.py   channel.py             host.py, pane.py

`recorder`, `checks`, `window` and `channel` are the simulation's side and import neither Qt nor matplotlib. The window
process runs `host`: a `Pane` for each plot, in which a `Plotter` draws on a `Surface`.
"""

from simreel.recorders.plots.plotter import Plotter, Samples

__all__ = ["Plotter", "Samples"]
