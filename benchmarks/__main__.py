"""Runs a benchmark by name."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from benchmarks import latency, memory, overhead, plots, reel, replay, stepping, trajectory, video

_ALL = {
    "stepping": stepping,
    "overhead": overhead,
    "latency": latency,
    "memory": memory,
    "video": video,
    "plots": plots,
    "reel": reel,
    "trajectory": trajectory,
    "replay": replay,
}


def main(argv: Sequence[str] | None = None) -> None:
    """Parses the command line and prints one table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    names = parser.add_subparsers(dest="name", required=True)
    for name, module in _ALL.items():
        module.add_arguments(names.add_parser(name, help=module.__doc__))
    arguments = parser.parse_args(argv)
    _ALL[arguments.name].run(arguments)


if __name__ == "__main__":
    main()
