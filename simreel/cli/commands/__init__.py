"""One file for each command; what is heavy is imported when the command runs."""

from __future__ import annotations

__all__: list[str] = []
