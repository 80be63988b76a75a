import pytest
import typer

from simreel.cli.parsers import choice, picture_size, positive, split_names, whole


@pytest.mark.parametrize(("text", "value"), [("0.5", 0.5), ("1e3", 1000), (2, 2)])
def test_a_positive_number_is_taken(text, value):
    assert positive(text) == value


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "1e999", "two", ""])
def test_no_positive_number_is_refused_as_it_was_written(text):
    with pytest.raises(typer.BadParameter, match=f"^{text}: a number above 0"):
        positive(text)


@pytest.mark.parametrize("text", ["-1", "1.5", "x", ""])
def test_no_whole_number_is_refused(text):
    with pytest.raises(typer.BadParameter, match=f"^{text}: a whole number"):
        whole(text)
    assert whole("0") == 0


def test_a_word_that_is_no_choice_is_told_with_the_nearest():
    parse = choice(["random", "zero"])
    assert parse("zero") == "zero"
    with pytest.raises(typer.BadParameter, match=r"randon: random or zero is needed.*Did you mean 'random'\?"):
        parse("randon")


def test_names_are_split_at_commas_and_kept_once_in_order():
    assert split_names("--record", "b, a,b") == ("b", "a")
    for text in ("", "a,,b", "a,"):
        with pytest.raises(typer.BadParameter, match=f"--record {text}: names"):
            split_names("--record", text)


def test_a_size_is_width_and_height():
    assert picture_size("--size", "640X480") == (640, 480)
    for text in ("640", "x480", "0x3", "-1x3", "1.5x2", "3x4x5", "²x3"):
        with pytest.raises(typer.BadParameter, match=f"--size {text}: WIDTHxHEIGHT"):
            picture_size("--size", text)
