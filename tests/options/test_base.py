"""What all options have in common, with some made for the test."""

import copy
import inspect
import pickle
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from pydantic import Field, ValidationError

from simreel.errors import OptionsError, SimreelError
from simreel.options import Options


class Inner(Options):
    """Some options within others."""

    length: float = 1.0
    """A length [m]."""


class Some(Options):
    """Some options."""

    positional = ("rate", "size")

    rate: float = Field(1.0, gt=0)
    """A rate [Hz]."""

    size: tuple[int, int] = (2, 3)
    """Two numbers."""

    names: tuple[str, ...] = ()
    """Names."""

    colour: Literal["red", "green", "blue"] = "red"
    """A colour."""

    path: Path | None = None
    """A file."""

    inner: Inner = Inner()
    """What is within."""

    parts: tuple[Inner, ...] = ()
    """Several of them."""


class Needy(Options):
    """Options that must be given."""

    count: int
    """How many."""


def message(cls, *args, **values):
    with pytest.raises(OptionsError) as caught:
        cls(*args, **values)
    assert isinstance(caught.value, SimreelError)
    assert isinstance(caught.value, ValueError)
    assert not isinstance(caught.value, ValidationError)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    return str(caught.value)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"rat": 1}, "Some: rat is not an option. Did you mean 'rate'? Options: colour, inner, names, parts, path, "),
        ({"zzz": 1}, "Some: zzz is not an option. Options: colour"),
        ({"rate": 0}, "Some: rate = 0: greater than 0"),
        ({"rate": "fast"}, "Some: rate = 'fast': a valid number"),
        ({"rate": float("nan")}, "Some: rate = nan: a finite number"),
        ({"rate": float("inf")}, "Some: rate = inf: a finite number"),
        ({"rate": np.float64("nan")}, "Some: rate = nan: a finite number"),
        ({"rate": None}, "Some: rate = None: a valid number"),
        ({"size": (1, 2, 3)}, "Some: size = (1, 2, 3): "),
        ({"size": (1,)}, "Some: size = (1,): too few values"),
        ({"size": (1, 2.5)}, "Some: size = 2.5: "),
        ({"names": "abc"}, "Some: names = 'abc': a valid tuple"),
        ({"names": ["a", 1]}, "Some: names = 1: a valid string"),
        ({"colour": "gren"}, "Some: colour = 'gren': 'red', 'green' or 'blue'. Did you mean 'green'?"),
        ({"colour": 7}, "Some: colour = 7: 'red', 'green' or 'blue'."),
        ({"inner": {"lenght": 1}}, "Some: inner.lenght is not an option. Did you mean 'length'? Options: length"),
        ({"inner": {"length": "x"}}, "Some: inner.length = 'x': a valid number"),
        ({"parts": [{}, {"length": "x"}]}, "Some: parts[1].length = 'x': a valid number"),
        (
            {"parts": [{}, {"lenght": 1}]},
            "Some: parts[1].lenght is not an option. Did you mean 'length'? Options: length",
        ),
    ],
)
def test_a_mistake_is_one_line_that_names_field_value_and_what_is_allowed(values, text):
    found = message(Some, **values)
    assert found.startswith(text)
    assert "\n" not in found


def test_each_mistake_has_its_line():
    lines = message(Some, rate=-1, colour="x", nme="a").splitlines()
    assert len(lines) == 3
    assert all(line.startswith("Some: ") for line in lines)


def test_a_field_that_is_missing_is_named():
    assert message(Needy) == "Needy: count is missing"


class Shouting:
    """Shows itself in several lines."""

    def __repr__(self):
        return "two\nlines " + "x" * 500


def test_a_value_that_shows_itself_at_length_is_shortened_to_one_line():
    found = message(Some, rate=Shouting())
    assert "\n" not in found
    assert len(found) < 200


def test_the_first_fields_may_be_given_without_their_names():
    assert Some(2, (4, 5)) == Some(rate=2, size=(4, 5))
    assert message(Some, 1, (2, 3), 4) == "Some: 3 values without a name given; allowed without: rate, size"
    assert message(Needy, 1) == "Needy: 1 values without a name given; allowed without: none"
    assert message(Some, 1, rate=2) == "Some: rate: given twice"


@pytest.mark.parametrize(
    "number", [np.float32(2), np.float64(2), np.int64(2), np.uint8(2), np.array(2.0), np.float16(2)]
)
def test_numpy_scalars_are_numbers(number):
    made = Some(rate=number)
    assert made.rate == 2.0
    assert type(made.rate) is float


def test_lists_and_arrays_are_tuples_and_str_is_a_path():
    for size in ([4, 5], np.array([4, 5]), np.array([4.0, 5.0]), [np.int32(4), np.int64(5)]):
        assert Some(size=size).size == (4, 5)
    assert Some(path="a/b").path == Path("a/b")
    assert Some(names=np.array(["a", "b"])).names == ("a", "b")


def test_what_was_given_is_not_changed():
    values = {"size": [1, 2], "inner": {"length": 2}}
    Some(**values)
    assert values == {"size": [1, 2], "inner": {"length": 2}}


def test_options_are_frozen():
    made = Some()
    with pytest.raises(OptionsError, match="rate: options are frozen"):
        made.rate = 2
    with pytest.raises(OptionsError, match="frozen"):
        made.unknown = 2
    with pytest.raises(OptionsError, match="rate: options are frozen"):
        del made.rate
    assert made == Some()
    assert hash(made) == hash(Some())


def test_options_survive_json_copies_and_pickles():
    made = Some(0.1, names=["ü", ""], path="x/y", parts=[{"length": 3}])
    assert Some.model_validate_json(made.model_dump_json()) == made
    assert Some.model_validate(made.model_dump()) == made
    assert copy.deepcopy(made) == made
    assert pickle.loads(pickle.dumps(made)) == made


def test_mistakes_in_json_are_told_as_those_in_a_call():
    for check in (
        lambda: Some.model_validate_json('{"rate": -1}'),
        lambda: Some.model_validate({"rate": -1}),
    ):
        with pytest.raises(OptionsError, match="Some: rate = -1: greater than 0"):
            check()
    with pytest.raises(OptionsError, match="Some: "):
        Some.model_validate_json("{not json")


def test_the_signature_shows_the_fields():
    assert "rate: float = 1.0" in str(inspect.signature(Some)).replace("typing.Annotated[float, Gt(gt=0)]", "float")
    assert Some.model_fields["rate"].description == "A rate [Hz]."
