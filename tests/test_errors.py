import builtins

import pytest

from simreel import errors
from simreel.errors import (
    MissingExtraError,
    OptionsError,
    RecorderError,
    RecorderErrorGroup,
    SimreelError,
    TargetExistsError,
    UnknownNameError,
    UnknownRecorderError,
    UnstableError,
    nearest,
)

FAMILY = [kind for name in errors.__all__ if isinstance(kind := getattr(errors, name), type)]
BUILTINS = {kind for kind in vars(builtins).values() if isinstance(kind, type) and issubclass(kind, Exception)}


@pytest.mark.parametrize("kind", [kind for kind in FAMILY if issubclass(kind, Exception) and kind is not SimreelError])
def test_each_error_is_of_the_family_and_a_builtin_that_callers_catch(kind):
    if issubclass(kind, Warning):
        assert issubclass(kind, UserWarning)
        return
    assert issubclass(kind, SimreelError)
    assert BUILTINS - {Exception} & set(kind.__mro__)
    assert kind.__doc__


def test_the_nearest_name_is_asked_for_and_none_where_none_is_near():
    assert nearest("qpo", ["ctrl", "qpos"]) == " Did you mean 'qpos'?"
    assert nearest("x", ["ctrl", "qpos"]) == ""


def test_an_unknown_name_reads_as_a_sentence_and_lists_what_there_is():
    error = UnknownNameError("camera", "sid", iter(["side", "top"]))
    assert str(error) == "no camera named 'sid'; there are: 'side', 'top'. Did you mean 'side'?"
    assert error.known == ("side", "top")
    assert "there are: none." in str(UnknownNameError("camera", "x", []))


def test_an_unknown_recorder_tells_which_plugins_are_broken():
    text = str(UnknownRecorderError("Bag", ["NPZFile"], {"bags": "no module"}))
    assert text.endswith("Plugin bags cannot be loaded: no module.")


def test_each_problem_of_options_is_a_line():
    error = OptionsError("NPZFile", ["hz = 0", "wrong = 1"])
    assert str(error).splitlines() == ["NPZFile: hz = 0", "NPZFile: wrong = 1"]


def test_a_missing_extra_gives_the_command():
    assert "pip install 'simreel[gym]'" in str(MissingExtraError("gymnasium", "gym", "simreel.gym"))


def test_an_existing_target_says_overwrite():
    assert "overwrite=True" in str(TargetExistsError("a.npz"))


@pytest.mark.parametrize(
    ("worlds", "where", "onward"),
    [
        ((), "at step 7:", "scene.reset() goes on"),
        ((3,), "at step 7 in world 3:", "envs_idx=[3]"),
        ((1, 2), "at step 7 in worlds 1, 2:", "envs_idx=[1, 2]"),
    ],
)
def test_an_unstable_simulation_tells_where_and_how_to_go_on(worlds, where, onward):
    text = str(UnstableError("NaN in qpos.", 7, worlds))
    assert where in text
    assert onward in text


def test_a_recorder_error_names_its_cause_and_several_are_caught_as_one():
    cause = ValueError("x")
    error = RecorderError("NPZFile a.npz", "writing", cause)
    assert error.__cause__ is cause
    assert "NPZFile a.npz ended while writing: ValueError: x" in str(error)
    with pytest.raises(SimreelError) as caught:
        raise RecorderErrorGroup("1 recorder ended", [error])
    assert caught.value.exceptions == (error,)
