"""Packages whose names are loaded on first use (PEP 562)."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["lazy_names"]


def lazy_names(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package.

    Args:
        package: its `__name__`.
        homes: for each public name the module that holds it, or that it is.
    """

    def load(name: str) -> Any:
        if name not in homes:
            text = f"module {package!r} has no attribute {name!r}."
            # Tools probe for names such as __path__ and __wrapped__: nothing is loaded for those.
            if not name.startswith("_"):
                from simreel.errors import nearest

                text += nearest(name, homes)
            raise AttributeError(text, name=name)
        home = homes[name]
        value: Any = importlib.import_module(home)
        if not home.endswith(f".{name}"):
            value = getattr(value, name)
        setattr(sys.modules[package], name, value)  # found without this function from now on
        return value

    def names() -> list[str]:
        return sorted(homes)

    return load, names
