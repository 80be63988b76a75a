"""Recorders of other packages, found by entry points of the group `simreel.recorders`.

    [project.entry-points."simreel.recorders"]
    BagFile = "acme_bags.recorders"

The name is that of the options class. The value names a module, or a module and a class in it; importing the module
registers its recorders.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from itertools import takewhile

from simreel.errors import SimreelWarning

__all__ = ["Plugin", "load_all", "owners", "plugins"]

_GROUP = "simreel.recorders"


@dataclass
class Plugin:
    """An entry point of another package."""

    entry: EntryPoint
    loaded: bool = False
    error: str | None = None
    """Why it cannot be loaded, in one line. It does not keep others from being loaded."""

    @property
    def module(self) -> str:
        """The module that it names; empty where its value is none."""
        match = self.entry.pattern.match(self.entry.value)
        return match["module"] if match else ""

    @property
    def source(self) -> str:
        """The package that it comes from, with its version."""
        dist = self.entry.dist
        return self.module.partition(".")[0] if dist is None else f"{dist.name} {dist.version}"

    def load(self) -> None:
        """Imports it once."""
        if self.loaded or self.error is not None:
            return
        # Before it is: a plugin that asks for all recorders while it is imported is not imported again.
        self.loaded = True
        try:
            if not self.module:
                raise ImportError(f"entry point {self.entry.value!r}: 'module' or 'module:class' is needed")
            self.entry.load()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a plugin may raise anything
            self.loaded = False
            self.error = " ".join(f"{type(error).__name__}: {error}".split())


@cache
def plugins() -> tuple[Plugin, ...]:
    """All plugins that are installed, none of them imported by this."""
    try:
        found = entry_points(group=_GROUP)
    except Exception as error:  # noqa: BLE001 - the metadata of any package that is installed
        warnings.warn(
            f"recorders of other packages are not found: the metadata of a package is broken "
            f"({type(error).__name__}: {error})",
            SimreelWarning,
            stacklevel=2,
        )
        return ()
    return tuple(Plugin(entry) for entry in sorted(found, key=lambda entry: (entry.name, entry.value)))


def owners(module: str) -> list[Plugin]:
    """The plugins of the package that a module belongs to, the nearest to the module first."""
    nearness = {id(plugin): _shared(plugin.module, module) for plugin in plugins()}
    own = [plugin for plugin in plugins() if nearness[id(plugin)]]
    return sorted(own, key=lambda plugin: nearness[id(plugin)], reverse=True)


def load_all() -> Iterator[Plugin]:
    """Loads all plugins, and gives each."""
    for plugin in plugins():
        plugin.load()
        yield plugin


def _shared(module: str, other: str) -> int:
    """How many packages two modules have in common, from the outermost on, or their whole names."""
    pairs = zip(module.split("."), other.split("."), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
