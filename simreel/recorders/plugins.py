"""Recorders of other packages, found by entry points of the group `simreel.recorders`.

    [project.entry-points."simreel.recorders"]
    BagFile = "acme_bags.recorders"

The value names a module, or a module and a class in it; importing the module registers its recorders.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points

__all__ = ["Plugin", "load_all", "load_owner"]

_GROUP = "simreel.recorders"


@dataclass
class Plugin:
    """An entry point of another package."""

    entry: EntryPoint
    loaded: bool = False
    error: str | None = None
    """Why it cannot be loaded. It does not keep others from being loaded."""

    @property
    def source(self) -> str:
        """The package that it comes from, with its version."""
        dist = self.entry.dist
        return self.entry.module.partition(".")[0] if dist is None else f"{dist.name} {dist.version}"

    def load(self) -> None:
        """Imports it once."""
        if self.loaded or self.error is not None:
            return
        try:
            self.entry.load()
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            self.error = f"{type(error).__name__}: {error}"
        else:
            self.loaded = True


@cache
def plugins() -> tuple[Plugin, ...]:
    """All plugins that are installed, none of them imported by this."""
    return tuple(Plugin(entry) for entry in sorted(entry_points(group=_GROUP), key=lambda entry: entry.name))


def load_owner(options_class: type) -> None:
    """Loads the plugins of the package in which an options class is defined."""
    package = options_class.__module__.partition(".")[0]
    for plugin in plugins():
        if plugin.entry.module.partition(".")[0] == package:
            plugin.load()


def load_all() -> Iterator[Plugin]:
    """Loads all plugins, and gives each."""
    for plugin in plugins():
        plugin.load()
        yield plugin
