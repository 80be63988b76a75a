import pytest

from simreel.options.recorders import NPZFile
from simreel.recorders import registry
from simreel.recorders.registry import BUILTIN


@pytest.fixture(autouse=True)
def _ours_alone(monkeypatch):
    """Other test modules register recorders of their own."""
    ours = {options: cls for options, cls in registry._registered.items() if cls.__module__.startswith("simreel.")}
    monkeypatch.setattr(registry, "_registered", ours)


def test_each_recorder_is_a_line_with_its_suffix_and_what_it_does(call):
    ended = call("recorders")
    assert ended.status == 0
    assert [line.split()[0] for line in ended.out] == list(BUILTIN)
    assert ended.out[0].split()[1:4] == ["simreel", "ready", ".npz"]
    assert "NumPy archive" in ended.out[0]


@pytest.mark.parametrize("name", ["NPZFile", "npzfile"])
def test_a_recorder_shows_each_option_with_type_default_and_text(call, name):
    ended = call("recorders", name)
    assert ended.status == 0
    text = "\n".join(ended.out)
    for option, field in NPZFile.model_fields.items():
        assert f"\n  {option}: " in text
        assert " ".join(field.description.split()) in text
    assert "  hz: float above 0 or None, default None" in ended.out
    assert "  filename: Path, needed" in ended.out
    assert "  compression: 'none' or 'deflate', default 'none'" in ended.out
    assert "  buffer_size: int, at least 0, default 0" in ended.out


def test_a_tuple_is_told_in_words(call):
    assert "  header: list of str or None, default None" in call("recorders", "CSVFile").out


def test_an_unknown_recorder_names_the_nearest(call):
    ended = call("recorders", "CSVFil")
    assert ended.status == 2
    (line,) = ended.err
    assert "'CSVFil'" in line
    assert "Did you mean 'CSVFile'?" in line
