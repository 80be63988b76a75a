"""When a file recorder opens, finishes and names its files, with one that writes lines."""

from typing import ClassVar

import pytest
from reading import names

from simreel.errors import DuplicateTargetError, RecorderError, SimreelError, TargetError, TargetExistsError
from simreel.options.recorders import FileOptions
from simreel.recorders import FileRecorder, register_recording
from simreel.recorders.registry import recorder_for


class LineFile(FileOptions):
    """Lines of text, of which nobody is proud."""

    suffixes: ClassVar[tuple[str, ...]] = (".line",)


@register_recording(LineFile)
class LineFileWriter(FileRecorder[LineFile]):
    """Notes its calls."""

    def __init__(self, *args):
        super().__init__(*args)
        self.calls = []
        self.fail_at = None

    def _note(self, call):
        self.calls.append(call)
        if call == self.fail_at:
            raise ValueError("no more ink")

    def open_file(self, path):
        self._note(f"open {path.name}")
        self._path, self._lines = path, []

    def process(self, data, cur_time):
        self.ensure_open()
        self._note(f"line {data}")
        self._lines.append(f"{data}\n")

    def finish_file(self):
        self._note(f"finish {self._path.name}")
        if self._lines:
            self._path.write_text("".join(self._lines))


@pytest.fixture
def run(still_scene, tmp_path):
    """A scene that records its steps; returns it with the recorder."""

    def start(name="a.line", *, build=True, **options):
        scene = still_scene()
        recorder = scene.start_recording(lambda: scene.step_count, LineFile(tmp_path / name, **options))
        if build:
            scene.build()
        return scene, recorder

    return start


def test_the_options_pick_the_recorder():
    assert recorder_for(LineFile) is LineFileWriter


def test_nothing_is_written_before_the_build_and_one_file_is_open_from_then_on(run, tmp_path):
    scene, recorder = run("x/a.line", build=False)
    assert (recorder.calls, names(tmp_path)) == ([], [])
    scene.build()
    assert (recorder.calls, names(tmp_path)) == (["open a.line"], ["x"])
    scene.step(2)
    scene.stop_recording()
    scene.stop_recording()
    assert recorder.calls == ["open a.line", "line 0", "line 1", "line 2", "finish a.line"]
    assert (tmp_path / "x" / "a.line").read_text() == "0\n1\n2\n"


def test_a_reset_keeps_the_file_open_and_counts_the_episode(run):
    scene, recorder = run()
    scene.step()
    scene.reset()
    assert recorder.episode == 1
    scene.step()
    scene.stop_recording()
    assert recorder.calls == ["open a.line", "line 0", "line 1", "line 0", "line 1", "finish a.line"]


def test_with_save_on_reset_a_file_is_opened_when_its_first_sample_comes(run, tmp_path):
    scene, recorder = run(save_on_reset=True)
    scene.step()
    scene.reset()
    scene.reset()
    assert recorder.calls == ["open a_0000.line", "line 0", "line 1", "finish a_0000.line"]
    scene.step()
    scene.reset()
    scene.stop_recording()
    assert recorder.calls[4:] == ["open a_0001.line", "line 0", "line 1", "finish a_0001.line"]
    assert names(tmp_path) == ["a_0000.line", "a_0001.line"]


def test_a_target_that_appears_before_the_build_is_told_by_it(run, tmp_path):
    scene, _ = run(build=False)
    (tmp_path / "a.line").write_text("mine")
    with pytest.raises(TargetExistsError, match="overwrite"):
        scene.build()
    assert (tmp_path / "a.line").read_text() == "mine"
    scene.build()


def test_mistakes_are_told_at_the_start(run, tmp_path):
    (tmp_path / "a.line").write_text("mine")
    with pytest.raises(TargetExistsError):
        run()
    (tmp_path / "file").touch()
    with pytest.raises(TargetError, match="not a folder"):
        run("file/b.line")


def test_one_file_is_not_recorded_twice_in_one_scene(run, tmp_path):
    scene, recorder = run(build=False)
    with pytest.raises(DuplicateTargetError, match=r"a\.line"):
        scene.start_recording(lambda: 1, LineFile(tmp_path / "x" / ".." / "a.line", overwrite=True))
    scene.build()
    recorder.stop()
    scene.start_recording(lambda: 1, LineFile(tmp_path / "a.line", overwrite=True))
    scene.stop_recording()


@pytest.mark.parametrize("fail_at", ["line 3", "finish a.line"])
def test_an_error_finishes_the_file_once(run, step_and_sync, tmp_path, fail_at):
    scene, recorder = run()
    recorder.fail_at = fail_at
    with pytest.raises(RecorderError, match="no more ink"), scene:
        step_and_sync(scene, recorder, 10)
    scene.stop_recording()
    assert recorder.calls.count("finish a.line") == 1
    assert recorder.calls[-1] == "finish a.line"
    if fail_at == "line 3":
        assert (tmp_path / "a.line").read_text() == "0\n1\n2\n"
        assert recorder.status.written == 3


def test_an_episode_file_that_cannot_be_opened_ends_the_recorder_and_keeps_the_others(run, step_and_sync, tmp_path):
    scene, recorder = run(save_on_reset=True)
    recorder.fail_at = "open a_0001.line"
    scene.step()
    scene.reset()
    with pytest.raises(SimreelError, match="no more ink"):
        step_and_sync(scene, recorder, 2)
    scene.stop_recording()
    assert names(tmp_path) == ["a_0000.line"]
    assert "finish a_0001.line" not in recorder.calls
