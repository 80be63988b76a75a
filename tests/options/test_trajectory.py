"""Options of trajectories."""

import pytest

from simreel.errors import OptionsError
from simreel.recorders import TrajectoryFile


def test_the_defaults_are_those_of_the_contract() -> None:
    options = TrajectoryFile("run.reel")
    queue = {"buffer_size", "buffer_bytes", "buffer_full_wait_time", "when_full"}
    found = options.model_dump(exclude={"filename", *queue})
    assert found == {
        "hz": None,
        "overwrite": False,
        "save_on_reset": False,
        "exact": None,
        "chunk_size": 256,
        "max_size": 2**31,
        "embed": "both",
        "contacts": False,
        "watch_model": "chunk",
        "fsync": 2.0,
    }


def test_they_survive_json() -> None:
    options = TrajectoryFile(filename="a/b.reel", exact=False, fsync="chunk", max_size=10**6, embed="xml")
    assert TrajectoryFile.model_validate_json(options.model_dump_json()) == options


@pytest.mark.parametrize(
    ("values", "match"),
    [
        ({"filename": "run.npz"}, r"ends in \.reel"),
        ({"chunk_size": 0}, "chunk_size = 0"),
        ({"chunk_size": 65537}, "chunk_size = 65537"),
        ({"max_size": 0}, "max_size = 0"),
        ({"embed": "all"}, "embed = 'all'"),
        ({"watch_model": "never"}, "watch_model = 'never'"),
        ({"fsync": 0}, "fsync = 0"),
        ({"fsync": None}, "fsync = None"),
        ({"fsync": "never"}, "fsync = 'never'"),
        ({"exact": "maybe"}, "exact = 'maybe'"),
        ({"when_full": "drop_oldest"}, "when_full: a trajectory has no queue to set"),
        ({"buffer_size": 3}, "buffer_size: a trajectory has no queue"),
        ({"exakt": True}, "Did you mean 'exact'"),
    ],
    ids=str,
)
def test_a_mistake_names_its_field(values: dict, match: str) -> None:
    with pytest.raises(OptionsError, match=match):
        TrajectoryFile(**{"filename": "run.reel"} | values)
