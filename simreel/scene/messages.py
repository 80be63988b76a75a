"""What MuJoCo has to say goes to whoever asked, instead of the terminal and MUJOCO_LOG.TXT.

MuJoCo has one handler for the process. `_receive` stands in its place while anybody collects or holds, and hands each
message to the collector of the thread it came from, else to the handler that stood there before, else to the logger.
"""

from __future__ import annotations

import logging
import threading
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

import mujoco

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["collected_messages", "hold_messages", "release_messages"]

_logger = logging.getLogger("simreel")
# Reentrant, and what it guards changes in single operations: a scene that the collector of garbage finds releases its
# hold in whatever thread and place that happens, inside of this lock too.
_lock = threading.RLock()
# Python's warning filters are one for the process too: two threads that swap them must leave in turn.
_collecting = threading.RLock()
_collectors: list[tuple[int, list[str]]] = []
_former: Callable[[str], None] | None = None
_holds: list[None] = []
_inside = threading.local()


@contextmanager
def collected_messages() -> Iterator[list[str]]:
    """A list that receives what MuJoCo says while a model is parsed, attached or compiled by this thread.

    `MjSpec.compile` says the same by `warnings.warn`, with more detail; that text is taken in place of the short one.
    Warnings of other origin pass. The list is complete when the block ends. One thread collects at a time.
    """
    messages: list[str] = []
    collector = (threading.get_ident(), messages)
    caught: list[warnings.WarningMessage] = []
    with _collecting:
        with _lock:
            _collectors.append(collector)
            _stand_in()
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                yield messages
        finally:
            with _lock:
                # By identity: two lists with the same messages are equal.
                _collectors[:] = [other for other in _collectors if other is not collector]
                _step_back()
    for warning in caught:
        _sort(warning, messages)


def hold_messages() -> None:
    """Sends MuJoCo's messages to the logger `simreel` at INFO until `release_messages`, once for each call.

    A handler of the user's, set before or meanwhile, is called instead.
    """
    with _lock:
        _holds.append(None)
        _stand_in()


def release_messages() -> None:
    """Ends one `hold_messages`; after the last, the former handler stands again unless another was set meanwhile."""
    with _lock:
        if _holds:
            _holds.pop()
        _step_back()


def _stand_in() -> None:
    global _former
    current = mujoco.get_mju_user_warning()
    if current is not _receive:
        _former = current
        mujoco.set_mju_user_warning(_receive)


def _step_back() -> None:
    global _former
    if _holds or _collectors:
        return
    if mujoco.get_mju_user_warning() is _receive:
        mujoco.set_mju_user_warning(_former)
    _former = None


def _receive(message: str) -> None:
    text = message.strip()
    thread = threading.get_ident()
    # Messages of the compiler's own threads have no collector by thread; without a running scene they can only be its.
    mine = [found for owner, found in _collectors if owner == thread] or [f for _, f in _collectors if not _holds]
    if mine:
        mine[-1].append(text)
    elif _former is not None and not getattr(_inside, "former", False):
        # The user's handler may itself call the one it found, which is this one.
        _inside.former = True
        try:
            _former(message)
        finally:
            _inside.former = False
    else:
        _logger.info("MuJoCo: %s", text)


def _sort(warning: warnings.WarningMessage, messages: list[str]) -> None:
    text = str(warning.message).strip()
    # MuJoCo warns without a stack level, so its warnings carry the file of the call, which is in this package.
    if warning.category is not UserWarning or not warning.filename.startswith(__file__.removesuffix("messages.py")):
        warnings.warn_explicit(
            warning.message, warning.category, warning.filename, warning.lineno, source=warning.source
        )
        return
    messages[:] = [message for message in messages if not text.startswith(message)]
    messages.append(text)
