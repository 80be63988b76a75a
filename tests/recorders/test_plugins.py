"""Recorders of other packages: folders as pip installs them, on the path."""

from __future__ import annotations

import importlib
import sys
import textwrap
import types

import pytest

import simreel as sr
from simreel.cli import execute
from simreel.errors import SimreelWarning, UnknownRecorderError
from simreel.options.recorders import RecorderOptions
from simreel.recorders import CSVFile, CSVFileWriter, NPZFile, NPZFileWriter, available, registry
from simreel.recorders import plugins as plugins_module
from simreel.recorders.registry import recorder_for

OPTIONS = '''
from simreel.recorders import FileOptions


class BagFile(FileOptions):
    """Records to a bag.

    More about bags.
    """

    suffixes = (".bag",)

    topic: str = "/data"
    """Where the messages go."""
'''
RECORDER = """
from simreel.recorders import FileRecorder, register_recording


@register_recording(BagFile)
class BagWriter(FileRecorder[BagFile]):
    def open_file(self, path):
        self.file = open(path, "w")

    def process(self, data, cur_time):
        print(cur_time, data, file=self.file)

    def finish_file(self):
        self.file.close()
"""
REPLACES = """
from simreel.recorders import NPZFile, Recorder, register_recording


@register_recording(NPZFile{})
class Replacement(Recorder):
    def process(self, data, cur_time):
        pass
"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder on the path, without other plugins and without the recorders of other tests."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    ours = {options: cls for options, cls in registry._registered.items() if cls.__module__.startswith("simreel.")}
    monkeypatch.setattr(registry, "_registered", ours)
    modules = set(sys.modules)
    plugins_module.plugins.cache_clear()
    yield folder
    plugins_module.plugins.cache_clear()
    for name in [name for name in set(sys.modules) - modules if _is_in(folder, sys.modules[name])]:
        del sys.modules[name]


def _is_in(folder, module):
    places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
    return any(str(folder) in str(place) for place in places)


@pytest.fixture
def install(site):
    """Writes a distribution: its entry points by name, and its files."""

    def install(name, entries, files=None, version="1.2.0"):
        for file, text in (files or {}).items():
            path = site / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text), encoding="utf-8")
        info = site / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
        lines = [f"{entry} = {value}" for entry, value in entries.items()]
        text = "\n".join(["[simreel.recorders]", *lines])
        (info / "entry_points.txt").write_text(text, encoding="utf-8")
        importlib.invalidate_caches()

    return install


@pytest.fixture
def acme(install):
    """A good plugin: the options in the package, the recorder in a module that the package does not import."""
    install(
        "acme-bags",
        {"BagFile": "acme_bags.recorders"},
        {"acme_bags/__init__.py": OPTIONS, "acme_bags/recorders.py": "from acme_bags import BagFile" + RECORDER},
    )
    return importlib.import_module("acme_bags")


def record(options, still_scene):
    scene = still_scene()
    scene.start_recording(lambda: scene.step_count, options)
    scene.build()
    scene.step(2)
    scene.stop_recording()


def test_a_plugin_records_its_options(acme, tmp_path, still_scene):
    assert "acme_bags.recorders" not in sys.modules
    record(acme.BagFile(tmp_path / "run.bag"), still_scene)
    assert (tmp_path / "run.bag").read_text() == "0.0 0\n0.01 1\n0.02 2\n"


def test_a_plugin_of_one_module_records_its_options(install, tmp_path, still_scene):
    install("acme-bags", {"BagFile": "acme_bag:BagWriter"}, {"acme_bag.py": OPTIONS + RECORDER})
    record(importlib.import_module("acme_bag").BagFile(tmp_path / "run.bag"), still_scene)
    assert (tmp_path / "run.bag").exists()
    assert available()["BagFile"].source == "acme-bags 1.2.0"


def test_a_plugin_is_listed_with_its_package_and_version(acme):
    info = available()["BagFile"]
    assert (info.name, info.source, info.options_class, info.error) == (
        "BagFile",
        "acme-bags 1.2.0",
        acme.BagFile,
        None,
    )
    assert list(available()) == [*registry.BUILTIN, "BagFile"]


def test_the_command_lists_it_and_shows_its_options(acme, capsys):
    assert execute(["recorders"]) == 0
    line = capsys.readouterr().out.splitlines()[-1]
    assert line.split() == ["BagFile", "acme-bags", "1.2.0", "ready", ".bag", "Records", "to", "a", "bag."]
    assert execute(["recorders", "bagfile"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("BagFile: Records to a bag.")
    assert "  topic: str, default '/data'\n    Where the messages go." in text
    assert "  filename: Path, needed" in text


BROKEN = {
    "ImportError": ("import no_such_package", "ModuleNotFoundError: No module named 'no_such_package'"),
    "SyntaxError": ("def broken(:\n", "SyntaxError: invalid syntax"),
    "two lines": ("raise ValueError('first\\n  second')", "ValueError: first second"),
    "exit": ("raise SystemExit(3)", "SystemExit: 3"),
    "RegistrationError": (
        "from simreel.recorders import register_recording\nregister_recording(int)",
        "RegistrationError: register_recording(<class 'int'>)",
    ),
    "no replace": (REPLACES.format(""), "RegistrationError: register_recording: NPZFile is recorded by simreel"),
    "abstract": (
        "from simreel.recorders import *\n@register_recording(type('O', (RecorderOptions,), {}))\nclass R(Recorder): 0",
        "RegistrationError: register_recording: R must define process",
    ),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_plugin_is_named_with_its_reason_and_blocks_nothing(
    acme, install, kind, capsys, tmp_path, still_scene
):
    code, reason = BROKEN[kind]
    install("broken-thing", {"BrokenFile": "broken_thing"}, {"broken_thing.py": code}, "0.1")

    class Nobodys(RecorderOptions):
        pass

    with pytest.raises(UnknownRecorderError) as caught:
        still_scene().start_recording(lambda: 0, Nobodys())
    assert f" Plugin BrokenFile cannot be loaded: {reason}" in str(caught.value)
    assert "'BagFile', 'CSVFile'" in str(caught.value)
    assert "\n" not in str(caught.value)

    found = available()
    assert list(found) == [*registry.BUILTIN, "BagFile", "BrokenFile"]
    assert (found["BrokenFile"].source, found["BrokenFile"].options_class) == ("broken-thing 0.1", None)
    assert found["BrokenFile"].error.startswith(reason)
    assert [info.error for info in found.values()][:3] == [None] * 3

    assert execute(["recorders"]) == 0
    line = capsys.readouterr().out.splitlines()[-1]
    assert line.startswith("BrokenFile")
    assert f"broken: {reason}" in line
    execute(["recorders", "BrokenFile"])
    assert f"BrokenFile of broken-thing 0.1 cannot be loaded: {reason}" in capsys.readouterr().out

    record(acme.BagFile(tmp_path / "run.bag"), still_scene)
    record(NPZFile(tmp_path / "run.npz"), still_scene)


def test_only_the_plugin_of_the_options_is_loaded(acme, install):
    others = {"other_plugin", "acme_bags_too"}
    install("other", {name: name for name in others}, {f"{name}.py": "" for name in others})
    assert recorder_for(acme.BagFile).__name__ == "BagWriter"
    assert not others & set(sys.modules)
    assert recorder_for(NPZFile) is NPZFileWriter
    assert recorder_for(type("Mine", (CSVFile,), {})) is CSVFileWriter
    assert not others & set(sys.modules)


def test_of_the_plugins_of_a_package_the_nearest_is_loaded_first(install):
    install("acme-video", {"AFile": "acme.video.recorders"}, {"acme/video/recorders.py": ""})
    install(
        "acme-bags",
        {"BFile": "acme.bags.broken", "CFile": "acme.bags.recorders"},
        {
            "acme/bags/options.py": OPTIONS,
            "acme/bags/broken.py": "1 / 0",
            "acme/bags/recorders.py": "from acme.bags.options import BagFile" + RECORDER,
        },
    )
    bag_file = importlib.import_module("acme.bags.options").BagFile
    # One of its own package that is broken does not matter where another records it.
    assert recorder_for(bag_file).__name__ == "BagWriter"
    assert "acme.video.recorders" not in sys.modules
    assert available()["BagFile"].source == "acme-bags 1.2.0"
    assert available()["BFile"].error == "ZeroDivisionError: division by zero"


def test_a_plugin_may_take_the_place_of_a_built_in_recorder_on_request(install, tmp_path):
    install("acme-npz", {"NPZFile": "acme_npz"}, {"acme_npz.py": REPLACES.format(", replace=True")})
    # It was not imported, nor has anybody asked for all recorders.
    assert recorder_for(NPZFile).__module__ == "acme_npz"
    assert recorder_for(type("Mine", (NPZFile,), {})).__module__ == "acme_npz"
    info = available()["NPZFile"]
    assert (info.source, info.options_class, info.error) == ("acme-npz 1.2.0", NPZFile, None)
    assert recorder_for(CSVFile) is CSVFileWriter


def test_without_replace_the_built_in_recorder_stays_and_the_plugin_is_named(install, tmp_path, still_scene, capsys):
    install("acme-npz", {"NPZFile": "acme_npz"}, {"acme_npz.py": REPLACES.format("")})
    words = (
        r"NPZFile is recorded by NPZFileWriter: plugin NPZFile of acme-npz 1\.2\.0 cannot be loaded \(Regist.*replace=T"
    )
    with pytest.warns(SimreelWarning, match=words) as caught:
        record(NPZFile(tmp_path / "run.npz"), still_scene)
    assert caught[0].filename == __file__
    assert (tmp_path / "run.npz").exists()
    found = available()
    assert (found["NPZFile"].source, found["NPZFile"].options_class) == ("simreel", NPZFile)
    broken = found["NPZFile of acme-npz 1.2.0"]
    assert (broken.name, broken.options_class) == ("NPZFile", None)
    assert "replace=True" in broken.error
    execute(["recorders"])
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines()] == [
        *([name, "simreel"] for name in registry.BUILTIN), ["NPZFile", "acme-npz"],
    ]  # fmt: skip


def test_options_that_fall_back_to_a_base_class_since_their_plugin_is_broken_say_so(install, tmp_path, still_scene):
    options = "from simreel.recorders import NPZFile\nclass ZarrFile(NPZFile):\n    pass\n"
    install("acme", {"ZarrFile": "acme.rec"}, {"acme/__init__.py": options, "acme/rec.py": "import no_such_package"})
    zarr_file = importlib.import_module("acme").ZarrFile
    with pytest.warns(SimreelWarning, match=r"ZarrFile is recorded by NPZFileWriter: plugin .*no_such_package"):
        record(zarr_file(tmp_path / "run.npz"), still_scene)


def test_a_plugin_that_registers_nothing_is_told(install):
    install("acme", {"BagFile": "acme"}, {"acme.py": OPTIONS})
    info = available()["BagFile"]
    assert info.error == "it registers no recorder: @register_recording(MyOptions) is missing"


@pytest.mark.parametrize("value", ["acme bags", "acme_bags:no-name", "", "acme_bags.recorders:Missing"])
def test_a_wrong_entry_point_blocks_nothing(acme, install, value):
    install("wrong", {"WrongFile": value})
    assert recorder_for(acme.BagFile).__name__ == "BagWriter"
    error = available()["WrongFile"].error
    assert "module:class" in error or "Missing" in error


def test_a_plugin_may_ask_for_all_recorders_while_it_is_imported(install):
    code = OPTIONS + RECORDER + "from simreel.recorders import available\nseen = list(available())\n"
    install("acme", {"BagFile": "acme"}, {"acme.py": code})
    assert available()["BagFile"].error is None
    assert "BagFile" in importlib.import_module("acme").seen


def test_two_plugins_with_options_of_one_name_are_both_listed(acme, install):
    install("other-bags", {"BagFile": "other_bags"}, {"other_bags.py": OPTIONS + RECORDER})
    found = available()
    assert found["BagFile"].source == "acme-bags 1.2.0"
    assert found["other_bags.BagFile"].source == "other-bags 1.2.0"


def test_a_recorder_of_the_program_itself_is_listed_with_its_module(site):
    module = types.ModuleType("my_program")
    vars(module)["__file__"] = str(site / "my_program.py")
    sys.modules["my_program"] = module
    exec(OPTIONS + RECORDER, vars(module))
    assert available()["BagFile"].source == "my_program"


def test_packages_whose_metadata_cannot_be_read_cost_the_plugins_alone(site, monkeypatch):
    def fail(**_):
        raise TypeError("bad metadata")

    monkeypatch.setattr(plugins_module, "entry_points", fail)
    with pytest.warns(SimreelWarning, match="metadata of a package is broken .*bad metadata"):
        assert recorder_for(NPZFile) is NPZFileWriter


def test_a_plugin_is_found_in_a_new_process(acme, site, tmp_path, run_script):
    out = run_script(
        """
        import sys
        sys.path.insert(0, sys.argv[1])
        import acme_bags
        assert not any(name.startswith("simreel.recorders.registry") for name in sys.modules)
        scene = still_scene()
        scene.start_recording(lambda: 1, acme_bags.BagFile(sys.argv[2]))
        scene.build()
        scene.stop_recording()
        print(open(sys.argv[2]).read())
        """,
        site,
        tmp_path / "run.bag",
    )
    assert out.split() == ["0.0", "1"]
    assert sr.recorders.available is available
