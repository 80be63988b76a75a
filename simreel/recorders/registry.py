"""Which recorder each options class picks."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from simreel.errors import RegistrationError, UnknownRecorderError
from simreel.recorders.plugins import load_all, load_owner

if TYPE_CHECKING:
    from simreel.options.recorders import RecorderOptions
    from simreel.recorders.base import Recorder

__all__ = ["RecorderInfo", "available", "recorder_for", "register_recording"]

RecorderT = TypeVar("RecorderT", bound="type[Recorder[Any]]")

# Found by name, so that options import no writer: each module registers its class when it is imported.
BUILTIN = {"NPZFile": "simreel.recorders.npz", "CSVFile": "simreel.recorders.csvfile"}

_registered: dict[type[RecorderOptions], type[Recorder[Any]]] = {}


def register_recording(
    options_class: type[RecorderOptions], *, replace: bool = False
) -> Callable[[RecorderT], RecorderT]:
    """A class decorator: options of `options_class` are recorded by the decorated Recorder.

    Args:
        options_class: a subclass of RecorderOptions.
        replace: take the place of a recorder that is registered for these options.

    Raises:
        RegistrationError: the options class, or the decorated class, is not what is needed.
    """
    from simreel.options.recorders import RecorderOptions
    from simreel.recorders.base import Recorder

    if not (inspect.isclass(options_class) and issubclass(options_class, RecorderOptions)):
        raise RegistrationError(
            f"register_recording({options_class!r}): a subclass of RecorderOptions is needed: "
            "@register_recording(MyOptions)"
        )

    def register(cls: RecorderT) -> RecorderT:
        if not (inspect.isclass(cls) and issubclass(cls, Recorder)):
            raise RegistrationError(f"register_recording: {cls!r} is no subclass of Recorder")
        missing = sorted(getattr(cls, "__abstractmethods__", ()))
        if missing:
            raise RegistrationError(f"register_recording: {cls.__name__} must define {', '.join(missing)}")
        known = _known(options_class, cls.__module__)
        if known is not None and not replace and not _is_same(known, cls):
            raise RegistrationError(
                f"register_recording: {options_class.__name__} is recorded by {known.__module__}.{known.__name__}; "
                "give replace=True to take its place"
            )
        _registered[options_class] = cls
        return cls

    return register


def _is_same(known: type, cls: type) -> bool:
    # A module that is imported again, as notebooks do.
    return (known.__module__, known.__qualname__) == (cls.__module__, cls.__qualname__)


def recorder_for(options_class: type[RecorderOptions]) -> type[Recorder[Any]]:
    """The recorder of an options class, or of the nearest class that it derives from.

    Raises:
        UnknownRecorderError: none is registered. It names the plugins that cannot be loaded.
    """
    if _known(options_class) is None:
        load_owner(options_class)
    if (known := _nearest(options_class)) is not None:
        return known
    broken = {plugin.entry.name: plugin.error for plugin in load_all() if plugin.error is not None}
    if (known := _nearest(options_class)) is not None:
        return known
    names = {*BUILTIN, *(cls.__name__ for cls in _registered)}
    raise UnknownRecorderError(options_class.__name__, sorted(names), broken)


@dataclass(frozen=True)
class RecorderInfo:
    """A recorder that there is."""

    name: str
    """The name of its options class; of a plugin that cannot be loaded that of its entry point."""

    source: str
    """The package that it comes from."""

    options_class: type[RecorderOptions] | None
    """What its recordings are started with; None where it cannot be loaded."""

    error: str | None = None
    """Why it cannot be loaded."""


def available() -> dict[str, RecorderInfo]:
    """All recorders by name: ours, those of plugins (which are loaded), and those registered by this program."""
    from simreel.options import recorders as builtin_options

    found = {name: RecorderInfo(name, "simreel", getattr(builtin_options, name)) for name in BUILTIN}
    owners = {}
    for plugin in load_all():
        owners[plugin.entry.module.partition(".")[0]] = plugin.source
        if plugin.error is not None:
            found[plugin.entry.name] = RecorderInfo(plugin.entry.name, plugin.source, None, plugin.error)
    for options_class, cls in _registered.items():
        name = options_class.__name__
        if name not in found or found[name].options_class is not options_class:
            package = cls.__module__.partition(".")[0]
            found[name] = RecorderInfo(name, owners.get(package, cls.__module__), options_class)
    return found


def _nearest(options_class: type[RecorderOptions]) -> type[Recorder[Any]] | None:
    return next((known for cls in options_class.__mro__ if (known := _known(cls)) is not None), None)


def _known(options_class: type[RecorderOptions], module: str | None = None) -> type[Recorder[Any]] | None:
    """The recorder of exactly this options class; a built-in one is imported, unless it is `module` that asks."""
    from simreel.options import recorders as builtin_options

    name = options_class.__name__
    home = BUILTIN.get(name) if getattr(builtin_options, name, None) is options_class else None
    if options_class not in _registered and home is not None and home != module:
        importlib.import_module(home)
    return _registered.get(options_class)
