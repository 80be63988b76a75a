"""Texts that stay within their room."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simreel.recorders.plots.texts import Font


class Fixed(Font):
    """Each letter is 10 px wide."""

    def width(self, text):
        return 10.0 * len(text)


FONT = Fixed()


def test_the_end_of_a_name_stays_where_its_numbers_are():
    assert FONT.shortened("left_front_shoulder_7", 90) == "left…er_7"
    assert FONT.shortened("short", 90) == "short"
    assert FONT.shortened("two\nlines", 90) == "two lines"


@given(st.text(), st.integers(10, 300))
def test_a_shortened_text_is_no_wider_than_its_room(text, room):
    assert FONT.width(FONT.shortened(text, room)) <= room


@given(st.text(), st.integers(10, 300))
def test_a_title_has_three_lines_at_most(text, room):
    lines = FONT.wrapped(text, room).split("\n")
    assert len(lines) <= 3
    assert all(FONT.width(line) <= room for line in lines)


def test_a_title_is_broken_at_words_and_where_it_was_broken():
    assert FONT.wrapped("one two three", 80) == "one two\nthree"
    assert FONT.wrapped("one\ntwo", 80) == "one\ntwo"
    assert FONT.wrapped("a b c d e f g h", 30) == "a b\nc d\ne…h"
    assert FONT.wrapped("", 80) == ""


@pytest.mark.parametrize(
    ("count", "rows", "room", "columns", "last"),
    [
        (4, 16, 320, 1, "3"),
        (12, 5.9, 320, 3, "11"),
        (12, 5.9, 110, 2, "…"),
        (12, 0.5, 10, 1, "…"),
        (10, 5, 320, 2, "9"),
    ],
)
def test_names_stand_in_as_many_columns_as_they_need_and_have(count, rows, room, columns, last):
    texts, found = FONT.arranged([str(i) for i in range(count)], rows, room, 35)
    assert (found, texts[-1]) == (columns, last)
    assert len(texts) <= max(1, int(rows)) * columns


def test_long_names_share_the_width_of_a_legend():
    texts, columns = FONT.arranged([f"left_front_{i}" for i in range(6)], 3, 230, 35)
    assert (texts[-1], columns) == ("left…t_5", 2)
