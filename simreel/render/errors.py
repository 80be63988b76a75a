"""What can go wrong between a model and its picture."""

from __future__ import annotations

from simreel.errors import SimreelError

__all__ = ["BackendError", "RenderError"]


class RenderError(SimreelError, RuntimeError):
    """A picture cannot be made."""


class BackendError(RenderError):
    """A backend cannot be used here."""

    def __init__(self, backend: str, reason: str, package: str | None = None) -> None:
        self.backend = backend
        self.reason = reason
        self.package = package
        """The Debian package that brings what is missing; None where a package would not help."""
        remedy = "" if package is None else f"; the Debian package {package} brings it"
        super().__init__(f"the renderer {backend!r} cannot be used: {reason}{remedy}")
