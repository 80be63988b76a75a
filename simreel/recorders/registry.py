"""Which recorder each options class picks."""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from simreel.errors import RegistrationError, SimreelWarning, UnknownRecorderError
from simreel.recorders.plugins import Plugin, load_all, owners, plugins

if TYPE_CHECKING:
    from simreel.options.recorders import RecorderOptions
    from simreel.recorders.base import Recorder

__all__ = ["RecorderInfo", "available", "recorder_for", "register_recording"]

RecorderT = TypeVar("RecorderT", bound="type[Recorder[Any]]")

# Found by name, so that options import no writer: each module registers its class when it is imported.
BUILTIN = {
    "NPZFile": "simreel.recorders.npz",
    "CSVFile": "simreel.recorders.csvfile",
    "VideoFile": "simreel.recorders.video",
    "TrajectoryFile": "simreel.recorders.trajectory",
    "PyQtLinePlot": "simreel.recorders.plots.kinds",
    "MPLLinePlot": "simreel.recorders.plots.kinds",
    "MPLImagePlot": "simreel.recorders.plots.kinds",
    "MPLVectorFieldPlot": "simreel.recorders.plots.kinds",
}
# What records options that derive from these; by themselves they record nothing.
_BASES = {"PlotOptions": "simreel.recorders.plots.recorder"}

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

    The plugins of the package that defines the class are loaded, and those that are named after a built-in class, since
    they may replace its recorder. All others are loaded only where nobody records the class.

    Raises:
        UnknownRecorderError: none is registered. It names the plugins that cannot be loaded.
    """
    asked = list(_load_for(options_class))
    known = _nearest(options_class)
    if known is not None:
        _warn_of_broken(options_class, known, asked)
        return known
    broken = {plugin.entry.name: plugin.error for plugin in load_all() if plugin.error is not None}
    if (known := _nearest(options_class)) is not None:
        return known
    names = {*BUILTIN, *(cls.__name__ for cls in _others())}
    raise UnknownRecorderError(options_class.__name__, sorted(names), broken)


def _load_for(options_class: type[RecorderOptions]) -> Iterator[Plugin]:
    """Loads the plugins that may record a class, and gives each."""
    if options_class in _registered and _home(options_class) is None:
        return
    for plugin in owners(options_class.__module__):
        plugin.load()
        yield plugin
        if options_class in _registered:
            return
    # Whether they were imported before must not decide who records a built-in class.
    builtin = {cls.__name__ for cls in options_class.__mro__ if _home(cls) is not None}
    for plugin in plugins():
        if plugin.entry.name in builtin:
            plugin.load()
            yield plugin


def _warn_of_broken(options_class: type[RecorderOptions], known: type[Recorder[Any]], asked: Iterable[Plugin]) -> None:
    """Says so where a plugin would have recorded a class and cannot be loaded, so that another recorder does."""
    for plugin in asked:
        if plugin.error is not None and not (options_class in _registered and _home(options_class) is None):
            warnings.warn(
                f"{options_class.__name__} is recorded by {known.__name__}: plugin {plugin.entry.name} of "
                f"{plugin.source} cannot be loaded ({plugin.error})",
                SimreelWarning,
                stacklevel=5,
            )


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
    """All recorders by name: ours, those of plugins (which are loaded), and those registered by this program.

    Of two with the same name the later one is listed with its module, or where it cannot be loaded with its package.
    """
    from simreel.options import recorders as builtin_options

    loaded = list(load_all())
    found: dict[str, RecorderInfo] = {}
    for options_class in [getattr(builtin_options, name) for name in BUILTIN] + _others():
        name = options_class.__name__
        if name in found:
            if found[name].options_class is options_class:
                continue
            name = f"{options_class.__module__}.{name}"
        found[name] = RecorderInfo(name, _source(options_class), options_class)
    for plugin in loaded:
        error = plugin.error
        if error is None and not _has_registered(plugin):
            error = "it registers no recorder: @register_recording(MyOptions) is missing"
        if error is not None:
            name = plugin.entry.name if plugin.entry.name not in found else f"{plugin.entry.name} of {plugin.source}"
            found[name] = RecorderInfo(plugin.entry.name, plugin.source, None, error)
    return found


def _others() -> list[type[RecorderOptions]]:
    """What is registered, but for bases."""
    return [each for each in _registered if not (each.__name__ in _BASES and _home(each) is not None)]


def _source(options_class: type[RecorderOptions]) -> str:
    recorder = _registered.get(options_class)
    if recorder is None or recorder.__module__ in BUILTIN.values():
        return "simreel"
    own = owners(recorder.__module__)
    return own[0].source if own else recorder.__module__


def _has_registered(plugin: Plugin) -> bool:
    """Whether a recorder of its package is registered, or one of another for the options that it is named after."""
    return any(
        plugin in owners(recorder.__module__) or plugin.entry.name == options_class.__name__
        for options_class, recorder in _registered.items()
    )


def _nearest(options_class: type[RecorderOptions]) -> type[Recorder[Any]] | None:
    return next((known for cls in options_class.__mro__ if (known := _known(cls)) is not None), None)


def _known(options_class: type[RecorderOptions], module: str | None = None) -> type[Recorder[Any]] | None:
    """The recorder of exactly this options class; a built-in one is imported, unless it is `module` that asks."""
    home = _home(options_class)
    if options_class not in _registered and home is not None and home != module:
        importlib.import_module(home)
    return _registered.get(options_class)


def _home(options_class: type) -> str | None:
    """The module of a built-in recorder, for its options class."""
    from simreel.options import recorders as builtin_options

    name = options_class.__name__
    return (BUILTIN | _BASES).get(name) if getattr(builtin_options, name, None) is options_class else None
