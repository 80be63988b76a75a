"""Imports run down the list of rooms only, those inside functions and for type checks included."""

import ast
from pathlib import Path

import pytest

import simreel

# Rooms on one line know nothing of each other.
ORDER = [
    ["_version", "errors"],
    ["_lazy"],
    ["models", "options", "reel"],
    ["render"],
    ["recorders"],
    ["scene"],
    ["gym", "kinematics", "replay", "testing"],
    ["scenario"],
    ["player"],
    ["cli"],
    ["__main__"],
]
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}


def imports(file, package):
    """Each import of the package in a file: the room, the line, whether it stands inside a function."""
    here = [package.name, *file.relative_to(package).parent.parts]

    def visit(node, inside):
        for child in ast.iter_child_nodes(node):
            names = []
            if isinstance(child, ast.Import):
                names = [alias.name for alias in child.names]
            elif isinstance(child, ast.ImportFrom):
                base = here[: len(here) - child.level + 1] if child.level else []
                module = ".".join([*base, *filter(None, [child.module])])
                names = [f"{module}.{alias.name}" for alias in child.names]
            for name in names:
                root, _, rest = name.partition(".")
                if root == package.name:
                    yield rest.partition(".")[0], child.lineno, inside
            is_inner = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            # What only annotations need is imported by nobody who runs.
            is_typing = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
            yield from visit(child, inside or is_inner or is_typing)

    yield from visit(ast.parse(file.read_text(encoding="utf-8")), inside=False)


def violations(package):
    found = []
    for file in sorted(package.rglob("*.py")):
        place = file.relative_to(package)
        room = place.parts[0].removesuffix(".py")
        if room == "__init__":
            continue  # gives every name, each on first use
        if room not in LEVEL:
            found.append(f"{place}: not in the list of rooms")
            continue
        for other, line, inside in imports(file, package):
            # Scene.load_trajectory, load and the checkpoints.
            allowed = other == room or (room == "scene" and other == "replay" and inside)
            if not allowed and not LEVEL.get(other, len(ORDER)) < LEVEL[room]:
                found.append(f"{place}:{line}: {room} imports {other or 'the package itself'}")
    return found


def test_each_room_imports_only_rooms_below_it():
    assert violations(Path(simreel.__file__).parent) == []


@pytest.mark.parametrize(
    ("file", "text", "found"),
    [
        ("scene/scene.py", "from simreel.recorders import Recorder", None),
        ("scene/scene.py", "from simreel.scene.clock import Clock", None),
        ("scene/scene.py", "from .clock import Clock", None),
        ("scene/scene.py", "import numpy", None),
        ("scene/scene.py", "def load():\n    from simreel.replay import Trajectory", None),
        ("scene/scene.py", "from simreel.replay import Trajectory", "scene imports replay"),
        ("scene/scene.py", "if TYPE_CHECKING:\n    from simreel.replay import Trajectory", None),
        ("recorders/base.py", "if TYPE_CHECKING:\n    from simreel.scene import Scene", "recorders imports scene"),
        ("scene/scene.py", "class A:\n    import simreel.replay", "scene imports replay"),
        ("recorders/npz.py", "def f():\n    from simreel.scene import Scene", "recorders imports scene"),
        ("recorders/npz.py", "if TYPE_CHECKING:\n    from simreel.scene import Scene", "recorders imports scene"),
        ("recorders/npz.py", "from simreel import scene", "recorders imports scene"),
        ("recorders/npz.py", "import simreel as sr", "recorders imports the package itself"),
        ("recorders/npz.py", "from simreel import Scene", "recorders imports Scene"),
        ("recorders/plots/line.py", "from ...scene import Scene", "recorders imports scene"),
        ("recorders/plots/line.py", "from ..worker import Worker", None),
        ("reel/codec.py", "from simreel.options import Options", "reel imports options"),
        ("gym/record.py", "import simreel.replay.pacing", "gym imports replay"),
        ("errors.py", "import simreel.options", "errors imports options"),
        ("helpers/a.py", "", "not in the list of rooms"),
    ],
)
def test_the_check_finds_what_it_should(tmp_path, file, text, found):
    target = tmp_path / "simreel" / file
    target.parent.mkdir(parents=True)
    target.write_text(text, encoding="utf-8")
    result = violations(tmp_path / "simreel")
    assert len(result) == (found is not None)
    assert not found or result[0].startswith(file) and result[0].endswith(found)  # noqa: RUF021
