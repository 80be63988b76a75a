"""Options pick their recorder."""

import subprocess
import sys

import pytest

from simreel.errors import RegistrationError, UnknownNameError
from simreel.options.recorders import CSVFile, NPZFile, RecorderOptions
from simreel.recorders import CSVFileWriter, NPZFileWriter, Recorder, register_recording
from simreel.recorders import registry as registry_module
from simreel.recorders.registry import recorder_for


@pytest.fixture(autouse=True)
def _restored(monkeypatch):
    monkeypatch.setattr(registry_module, "_registered", dict(registry_module._registered))


def options_class(base=RecorderOptions):
    class Some(base):
        pass

    return Some


class Good(Recorder):
    def process(self, data, cur_time):
        pass


def test_builtin_options_pick_their_writers():
    assert recorder_for(NPZFile) is NPZFileWriter
    assert recorder_for(CSVFile) is CSVFileWriter


def test_options_alone_import_no_writer():
    code = (
        "import sys, simreel.options, simreel.recorders.registry as r\n"
        "from simreel.options.recorders import CSVFile\n"
        "assert 'simreel.recorders.csvfile' not in sys.modules\n"
        "assert r.recorder_for(CSVFile).__name__ == 'CSVFileWriter'\n"
        "assert 'simreel.recorders.npz' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_derived_options_pick_the_nearest_recorder():
    mine = options_class(NPZFile)
    assert recorder_for(mine) is NPZFileWriter
    register_recording(mine)(Good)
    assert recorder_for(options_class(mine)) is Good
    assert recorder_for(NPZFile) is NPZFileWriter


def test_options_of_the_same_name_as_builtin_ones_are_others():
    class NPZFile(RecorderOptions):
        pass

    with pytest.raises(UnknownNameError, match="NPZFile"):
        recorder_for(NPZFile)
    register_recording(NPZFile)(Good)
    assert recorder_for(NPZFile) is Good


def test_options_without_a_recorder_name_those_that_have_one(still_scene):
    class NPZFil(RecorderOptions):
        pass

    scene = still_scene()
    with pytest.raises(UnknownNameError, match=r"'NPZFil'.*'CSVFile'.*Did you mean 'NPZFile'"):
        scene.start_recording(lambda: 0, NPZFil())
    assert scene.recorders == ()


@pytest.mark.parametrize("wrong", [None, int, "NPZFile", RecorderOptions(), Good])
def test_something_else_than_options_is_refused(wrong):
    with pytest.raises(RegistrationError, match="subclass of RecorderOptions"):
        register_recording(wrong)


def test_something_else_than_a_recorder_is_refused():
    some = options_class()
    for wrong in (int, None, lambda: 0):
        with pytest.raises(RegistrationError, match="no subclass of Recorder"):
            register_recording(some)(wrong)
    with pytest.raises(RegistrationError, match="must define process"):

        @register_recording(some)
        class Abstract(Recorder):
            pass


def test_a_second_recorder_needs_replace():
    some = options_class()
    register_recording(some)(Good)

    class Other(Good):
        pass

    with pytest.raises(RegistrationError, match=r"Good.*replace=True"):
        register_recording(some)(Other)
    assert recorder_for(some) is Good
    register_recording(some, replace=True)(Other)
    assert recorder_for(some) is Other


def test_a_module_that_is_imported_again_may_register_again():
    some = options_class()

    def define():
        class Mine(Good):
            pass

        return Mine

    first, second = define(), define()
    register_recording(some)(first)
    register_recording(some)(second)
    assert recorder_for(some) is second


@pytest.mark.parametrize("replace", [True, False])
def test_a_builtin_recorder_that_was_not_imported_yet_is_there_all_the_same(replace):
    code = f"""
from simreel.options.recorders import NPZFile
from simreel.recorders import Recorder, register_recording
from simreel.recorders.registry import recorder_for
from simreel.errors import RegistrationError

class Mine(Recorder):
    def process(self, data, cur_time): pass

try:
    register_recording(NPZFile, replace={replace})(Mine)
except RegistrationError as error:
    assert not {replace} and "simreel.recorders.npz" in str(error), error
else:
    assert {replace}
from simreel.recorders import NPZFileWriter
assert recorder_for(NPZFile) is (Mine if {replace} else NPZFileWriter)
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
