"""Which recorder each options class picks."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from simreel.errors import RegistrationError, UnknownNameError

if TYPE_CHECKING:
    from simreel.options.recorders import RecorderOptions
    from simreel.recorders.base import Recorder

__all__ = ["recorder_for", "register_recording"]

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
        UnknownNameError: none is registered.
    """
    for cls in options_class.__mro__:
        if (known := _known(cls)) is not None:
            return known
    names = {*BUILTIN, *(cls.__name__ for cls in _registered)}
    raise UnknownNameError("recorder for options", options_class.__name__, sorted(names))


def _known(options_class: type[RecorderOptions], module: str | None = None) -> type[Recorder[Any]] | None:
    """The recorder of exactly this options class; a built-in one is imported, unless it is `module` that asks."""
    from simreel.options import recorders as builtin_options

    name = options_class.__name__
    home = BUILTIN.get(name) if getattr(builtin_options, name, None) is options_class else None
    if options_class not in _registered and home is not None and home != module:
        importlib.import_module(home)
    return _registered.get(options_class)
