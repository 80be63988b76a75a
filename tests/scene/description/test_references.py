"""Every name of a file that an XML parser could see is found, wherever it stands."""

import pytest

from simreel.scene.description.references import LONGEST, escaped, is_outside, references


def values(text):
    return [reference.value for reference in references(text.encode())]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('<mesh file="a.stl"/>', ["a.stl"]),
        ("<mesh file = 'a.stl' />", ["a.stl"]),
        ('<mesh\nfile\t=\n"a.stl"/>', ["a.stl"]),
        ('<mesh filename="a.stl"/>', ["a.stl"]),
        ('<texture fileright="r.png" fileleft="l.png"/>', ["r.png", "l.png"]),
        ('<compiler meshdir="m" texturedir="t" assetdir="a"/>', ["m", "t", "a"]),
        ('<!-- <include file="a.xml"/> -->', ["a.xml"]),
        ("""<a x="file='" file="/etc/passwd" y=''/>""", ['" file="/etc/passwd" y=', "/etc/passwd"]),
        ('<include file="&#47;etc&#x2f;passwd"/>', ["/etc/passwd"]),
        ('<include file="a&amp;b.xml"/>', ["a&b.xml"]),
        (r'<include file="a\b.xml"/>', ["a/b.xml"]),
        ('<mesh name="file"/>', []),
        ("plain text about a file", []),
    ],
)
def test_names_are_found(text, found):
    assert values(text) == found


def test_a_name_knows_its_place_in_the_text():
    text = "<!-- é --><mesh file='a.stl'/>".encode()
    (reference,) = references(text)
    assert text[reference.start : reference.stop] == b"a.stl"
    assert not reference.is_folder


def test_a_name_without_an_end_is_refused():
    with pytest.raises(ValueError, match="more than"):
        references(b'<include file="' + b"./" * LONGEST)


@pytest.mark.parametrize("value", ["/etc/passwd", "C:/x", "http://x/y", "package://r/m.stl", "file:a"])
def test_absolute_names_and_resources_are_outside(value):
    assert is_outside(value)


@pytest.mark.parametrize("value", ["a.stl", "../a.stl", "m/a:b.stl", "", "2:1.png"])
def test_relative_names_are_not(value):
    assert not is_outside(value)


def test_an_escaped_name_is_read_back():
    name = """a&b<c>"d'.xml"""
    assert references(b'<include file="' + escaped(name) + b'"/>')[0].value == name
