"""Texts that stay within their room: broken at words, arranged in columns, or cut with an ellipsis."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

__all__ = ["LEGEND_PART", "Font"]

LEGEND_PART = 0.4
"""Of the width of a subplot with its legend, what the legend may take."""
# Narrower columns of names than this [px] say less than fewer of them.
_LEAST_NAME = 60
# Lines of a title.
_MAX_LINES = 3


class Font(ABC):
    """The size of texts, as one of the libraries draws them."""

    @abstractmethod
    def width(self, text: str) -> float:
        """How wide one line is [px]."""

    def fits(self, text: str, room: float) -> bool:
        """Whether no line is wider than the room [px]."""
        return all(self.width(line) <= room for line in text.splitlines())

    def shortened(self, text: str, room: float) -> str:
        """One line; without its middle where it is wider than the room [px], as numbers are at the end."""
        text = _one_line(text)
        if self.width(text) <= room:
            return text
        low, high = 0, len(text) - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.width(_cut(text, middle)) <= room else (low, middle - 1)
        return _cut(text, low)

    def wrapped(self, text: str, room: float) -> str:
        """As many lines as it needs, three at most, each within the room [px]."""
        lines: list[str] = []
        for paragraph in text.splitlines():
            line = ""
            for word in paragraph.split():
                longer = f"{line} {word}" if line else word
                if line and self.width(longer) > room:
                    lines.append(line)
                    longer = word
                line = longer
            lines.append(line)
        if len(lines) > _MAX_LINES:
            lines[_MAX_LINES - 1 :] = [" ".join(lines[_MAX_LINES - 1 :])]
        return "\n".join(self.shortened(line, room) for line in lines)

    def arranged(self, names: Sequence[str], rows: float, room: float, stroke: float) -> tuple[list[str], int]:
        """The names of a legend, the last one "…" where not all find room, and the number of its columns.

        Args:
            names: at least one.
            rows: for which it is high enough.
            room: its width [px].
            stroke: what a column takes beside its names [px].
        """
        names, height = list(map(_one_line, names)), max(1, int(rows))
        least = min(max(map(self.width, names)), _LEAST_NAME)
        columns = min(-(-len(names) // height), max(1, int(room / (stroke + least))))
        count = height * columns
        shown = names if len(names) <= count else [*names[: count - 1], "…"]
        return [self.shortened(name, room / columns - stroke) for name in shown], columns


def _one_line(text: str) -> str:
    return " ".join(text.splitlines())


def _cut(text: str, count: int) -> str:
    """That many of its letters, from both ends."""
    head = (count + 1) // 2
    return f"{text[:head]}…{text[len(text) - (count - head) :]}"
