import importlib
import subprocess
import sys

import pytest

import simreel

# The names that a release promises. A new name is added here too; one that goes breaks somebody's program.
PUBLIC = {
    module: set(names.split())
    for module, names in {
        "simreel": """
            Recorder RecorderManager Scene SimOptions SimreelWarning Trajectory __version__ errors gym models morphs
            options recorders reel register_recording scene testing
        """,
        "simreel.errors": """
            ClosedFileError DamagedFileError DuplicateTargetError FieldError FileVersionError FrameIndexError
            GapError MaxSizeError MissingExtraError MissingFileError ModelError NotATrajectoryError NotExactError
            OptionsConflictError OptionsError PlotError ReadError RecorderError RecorderErrorGroup
            RecorderOverflowError RegistrationError SampleError SceneDiffersError SceneFileError SceneStateError
            SimreelError SimreelWarning SyncTimeoutError TargetError TargetExistsError UnknownNameError
            UnknownRecorderError UnstableError WriteError nearest
        """,
        "simreel.gym": "Record RecordEnv RecordVectorEnv",
        "simreel.models": "names path",
        "simreel.options": "Options SimOptions ViewerOptions morphs recorders",
        "simreel.options.morphs": """
            Box Capsule Cylinder MJCF ModelFile Morph PlanarArm PlanarLink Plane Primitive Sphere URDF
        """,
        "simreel.reel": """
            Field Joint Layout RecoverReport Reel ReelWriter RepackReport layout_from_mujoco recover repack
        """,
        "simreel.replay": "DataKind Trajectory Values VerifyReport",
        "simreel.scene": "Camera Engine Entity FunctionEngine Progress Scene SplitEngine",
        "simreel.testing": "FakeEngine RecorderContract strategies",
        "simreel.testing.strategies": "samples series",
        "simreel.recorders": """
            CSVFile CSVFileWriter Column FileOptions FileRecorder MPLImagePlot MPLLinePlot MPLPlot
            MPLVectorFieldPlot NPZFile NPZFileWriter PlotOptions PlotRecorder Plotter PyQtLinePlot PyQtPlot
            Recorder RecorderInfo RecorderManager RecorderOptions RecorderStatus Samples Schema Timing
            TrajectoryFile TrajectoryFileWriter VideoFile VideoFileWriter available recover register_recording
        """,
    }.items()
}


def in_new_process(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_import_alone_loads_nothing_but_the_standard_library():
    loaded = in_new_process(
        "import sys; before = set(sys.modules); import simreel; print(*sorted(set(sys.modules) - before))"
    )
    foreign = {name.partition(".")[0] for name in loaded} - set(sys.stdlib_module_names)
    assert foreign == {"simreel"}
    assert {name for name in loaded if name.startswith("simreel")} == {"simreel", "simreel._lazy"}


def test_options_load_no_numpy_no_engine_and_no_writer():
    loaded = in_new_process("import sys, simreel.options.recorders as o; o.NPZFile('a.npz'); print(*sys.modules)")
    assert not {"numpy", "mujoco", "av", "simreel.recorders", "simreel.scene"} & set(loaded)


def test_recorders_load_no_engine_and_no_codec():
    loaded = in_new_process("import sys, simreel as sr; sr.recorders.NPZFile('a.npz'); print(*sys.modules)")
    assert not {"mujoco", "av", "simreel.scene"} & set(loaded)


@pytest.mark.parametrize("name", sorted(PUBLIC["simreel"]))
def test_each_public_name_is_found_first_of_all_in_a_new_process(name):
    assert in_new_process(f"import simreel; simreel.{name}; from simreel import {name}; print({name!r})") == [name]


def test_star_import_and_dir_give_all_names():
    namespace = {}
    exec("from simreel import *", namespace)
    assert PUBLIC["simreel"] <= set(namespace)
    assert PUBLIC["simreel"] <= set(dir(simreel))


def test_an_unknown_name_gives_the_nearest():
    with pytest.raises(AttributeError, match=r"no attribute 'Scen'\. Did you mean 'Scene'\?"):
        simreel.Scen  # noqa: B018
    assert not hasattr(simreel, "__wrapped__")


def test_a_public_name_is_the_same_object_at_its_home():
    assert simreel.SimOptions is importlib.import_module("simreel.options").SimOptions
    assert simreel.morphs is importlib.import_module("simreel.options.morphs")


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names_are_frozen(module):
    listed = importlib.import_module(module).__all__
    assert set(listed) == PUBLIC[module]
    assert len(listed) == len(set(listed))
    assert all(hasattr(importlib.import_module(module), name) for name in listed)
