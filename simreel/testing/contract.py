"""What every recorder must keep to, as tests that the author of one runs on his own."""

from __future__ import annotations

import gc
import threading
import warnings
import weakref
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from simreel.errors import MissingExtraError, RecorderError, SimreelWarning
from simreel.options.recorders import FileOptions
from simreel.recorders import queue
from simreel.testing.checks import (
    check_counts,
    check_empty,
    check_rows,
    leaves,
    memory_after,
    new_folder,
    noted,
    threads_since,
    tracing,
)
from simreel.testing.taping import PlannedError, Tape

try:
    import pytest
except ImportError as error:
    raise MissingExtraError("pytest", "testing", "simreel.testing.RecorderContract") from error

if TYPE_CHECKING:
    from simreel.options.recorders import RecorderOptions

__all__ = ["RecorderContract"]

# Much smaller than those of a run, so that few samples reach what happens at their bounds.
_BLOCK_ROWS = 64
# Samples of a round of the memory check: enough to stand out from the interpreter's noise, in kB at the most.
_MEMORY_SAMPLES = 2048
_MEMORY_BYTES = 2**22
# A round without noise is among them; what a recorder keeps, it keeps in each.
_MEMORY_ROUNDS = 4
_MEMORY_NOISE = 2**11


class RecorderContract:
    """Subclass it in a test module, give `make_options`, and pytest checks the recorder of those options.

        class TestBagFile(RecorderContract):
            def make_options(self, folder):
                return BagFile(filename=folder / "run.bag")

            def read(self, folder):
                return read_bag(folder / "run.bag")

    A check that cannot apply is left out with `test_worlds = None`.
    """

    sizes: ClassVar[Sequence[int]] = (0, 1, 2, _BLOCK_ROWS - 1, _BLOCK_ROWS, _BLOCK_ROWS + 1)
    """Numbers of samples to record. Samples come in blocks, here of up to 64: the counts around it are among them."""

    n_envs: ClassVar[int] = 3
    """Worlds of the check with worlds."""

    def make_options(self, folder: Path) -> RecorderOptions:
        """The options to check, anew at each call; what they write goes into `folder`, which exists and is empty."""
        raise NotImplementedError(f"{type(self).__name__} must define make_options(self, folder)")

    def read(self, folder: Path) -> Sequence[Any] | None:
        """What was recorded into `folder`, in order, each row as `sample` gave it; None where nothing can be read.

        With worlds a row holds those of all worlds, or there is a row for each sample and world.
        """
        del folder
        return None

    def sample(self, index: int, n_envs: int) -> Any:
        """The data of the sample with that number: index + 1/4, and with worlds a (n_envs,) array of such."""
        return index + 0.25 if not n_envs else index + 0.25 + 1000.0 * np.arange(n_envs)

    @pytest.fixture(autouse=True)
    def _small_blocks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(queue, "_BLOCK_ROWS", _BLOCK_ROWS)

    # The checks.

    def test_n_samples_in_are_n_out(self, tmp_path: Path) -> None:
        """Whatever the number of samples, none is lost and none is there twice."""
        for n in self.sizes:
            folder = new_folder(tmp_path / f"{n}")
            with self._tape(folder) as tape:
                if not n:
                    tape.recorder.pause()
                tape.scene.build()
                tape.steps(max(0, n - 1))
                tape.scene.stop_recording()
                check_counts(tape.recorder.status, n, f"after {n} samples and stop")
            if n or any(folder.iterdir()):
                self._check(folder, range(n), f"{n} samples")

    def test_nothing_is_written_before_build(self, tmp_path: Path) -> None:
        """Files are opened when the scene is built, not when the recording is started."""
        with self._tape(tmp_path) as tape:
            check_empty(tmp_path, "after start_recording, before the scene was built: open them in build()")
            tape.recorder.stop()
        check_empty(tmp_path, "by a recorder that was stopped before the scene was built")

    def test_counts_add_up(self, tmp_path: Path) -> None:
        """At any time `received` is `written + dropped + queued`, and after sync nothing is queued."""
        with self._tape(tmp_path) as tape:
            tape.scene.build()
            for n in range(1, 50):
                tape.steps(1)
                status = tape.recorder.status
                total = status.written + status.dropped + status.queued
                assert status.received == n == total, f"after {n} samples the counts do not add up: {status}"
                if n % 10 == 0:
                    tape.recorder.sync()
                    check_counts(tape.recorder.status, n, f"after {n} samples and sync")
            tape.scene.stop_recording()
            status = tape.recorder.status
            check_counts(status, 50, "after 50 samples and stop")
            if isinstance(tape.recorder.options, FileOptions):
                assert status.bytes, "status.bytes is 0: add what is written to self.bytes_written"

    def test_episodes(self, tmp_path: Path) -> None:
        """A reset ends an episode; the recording goes on, and a reset without a step adds nothing."""
        with self._tape(tmp_path) as tape:
            tape.scene.build()
            tape.steps(3)
            tape.reset()
            tape.steps(2)
            tape.reset()
            tape.scene.reset()
            tape.scene.stop_recording()
            check_counts(tape.recorder.status, 7, "after two episodes of 4 and 3 samples")
        self._check(tmp_path, range(7), "two episodes of 4 and 3 samples")

    def test_pause_and_resume(self, tmp_path: Path) -> None:
        """A paused recorder gets no samples, and goes on when it is resumed."""
        with self._tape(tmp_path) as tape:
            tape.scene.build()
            tape.steps(2)
            tape.recorder.pause()
            tape.steps(3)
            tape.recorder.resume()
            tape.steps(2)
            tape.scene.stop_recording()
        self._check(tmp_path, [0, 1, 5, 6, 7], "2 steps, pause, 3 steps, resume, 2 steps, stop")

    def test_stop_may_be_called_twice(self, tmp_path: Path) -> None:
        """A second stop does nothing, and no thread is left."""
        before = set(threading.enumerate())
        with self._tape(tmp_path) as tape:
            tape.scene.build()
            tape.steps(3)
            tape.recorder.stop()
            first = tape.recorder.status
            with noted("stop() must do nothing when it is called again"):
                tape.recorder.stop()
                tape.scene.stop_recording()
                tape.recorder.stop()
            assert not tape.recorder.is_alive, "is_alive is true after stop()"
            assert tape.recorder.status == first, f"a second stop() changed the counts: {tape.recorder.status}"
        self._check(tmp_path, range(4), "3 steps, stop, stop again")
        left = threads_since(before)
        assert not left, f"stopped, it leaves threads: {', '.join(thread.name for thread in left)}"

    def test_record_stop_record(self, tmp_path: Path) -> None:
        """A scene can be recorded again after a stop, by a recorder of its own."""
        first, second = new_folder(tmp_path / "first"), new_folder(tmp_path / "second")
        with self._tape(first) as tape:
            tape.scene.build()
            tape.steps(3)
            tape.scene.stop_recording()
            tape.recorder = tape.start(self.make_options(second))
            tape.steps(2)
            tape.scene.stop_recording()
        self._check(first, range(4), "the first recording of a scene")
        self._check(second, [3, 4, 5], "the second recording of a scene, started at its step 3")

    def test_a_failing_data_function_keeps_the_good_rows(self, tmp_path: Path) -> None:
        """What was sampled before an error is written and closed; the error is raised once."""
        with self._tape(tmp_path) as tape:
            tape.source.fails_at = 5
            tape.scene.build()
            tape.steps(5)
            with pytest.raises(RecorderError) as caught:
                tape.scene.step()
            assert isinstance(caught.value.__cause__, PlannedError), f"another error was raised: {caught.value!r}"
            with noted("the error of a data function is raised once, and closing after it must succeed"):
                tape.scene.step(2)
                tape.scene.stop_recording()
            notes = "; ".join(getattr(caught.value, "__notes__", ()))
            assert "closing it failed" not in notes, f"cleanup() must complete the file after an error too: {notes}"
            status = tape.recorder.status
            assert status.error is not None, "status.error does not tell the error"
            assert (status.received, status.written) == (5, 5), f"of 5 good samples: {status}"
        self._check(tmp_path, range(5), "5 good samples before an error")

    def test_options_survive_json_and_stay_as_they_are(self, tmp_path: Path) -> None:
        """Options can be stored with a run; recording does not change them."""
        options = self.make_options(tmp_path)
        with noted(f"{type(options).__name__} must survive model_dump_json and model_validate_json"):
            before = options.model_dump_json()
            back = type(options).model_validate_json(before)
        assert back == options, f"through JSON the options became {back!r}, they were {options!r}"
        with Tape(options, self.sample) as tape:
            tape.scene.build()
            tape.steps(3)
            tape.scene.stop_recording()
            assert tape.recorder.options == back, "recorder.options are not the options that were given"
        after = options.model_dump_json()
        assert after == before, f"recording changed the options: keep what is resolved in the recorder: {after}"

    def test_a_stopped_recorder_holds_no_scene(self, tmp_path: Path) -> None:
        """A handle that is kept does not keep the scene, its model and its data function."""
        tape = self._tape(tmp_path)
        tape.scene.build()
        tape.steps(3)
        recorder = tape.recorder
        recorder.stop()
        scene, data_func = weakref.ref(tape.scene), weakref.ref(tape.data_func)
        del tape
        gc.collect()
        assert scene() is None, f"stopped, {recorder!r} holds the scene: keep neither it nor the manager"
        assert data_func() is None, f"stopped, {recorder!r} holds the data function: the manager calls it"

    def test_samples_are_not_kept(self, tmp_path: Path) -> None:
        """Memory does not grow with the length of a run."""
        size = max(1, sum(np.asarray(leaf).nbytes for leaf in leaves(self.sample(0, 0))))
        n = max(64, min(_MEMORY_SAMPLES, _MEMORY_BYTES // size))
        with self._tape(tmp_path) as tape, tracing():
            tape.scene.build()
            memory = [memory_after(tape, n) for _ in range(1 + _MEMORY_ROUNDS)]
        grown = min(after - before for before, after in pairwise(memory))
        assert grown < n * size / 2 + _MEMORY_NOISE, (
            f"each {n} samples of {size} bytes make memory grow by {grown} bytes: write them and let them go. "
            "process_block gives views, which keep their whole block"
        )

    def test_worlds(self, tmp_path: Path) -> None:
        """With worlds the samples have a leading axis, and worlds are reset one by one or all together."""
        with self._tape(tmp_path, self.n_envs) as tape:
            tape.scene.build(self.n_envs)
            tape.steps(3)
            tape.scene.reset([self.n_envs - 1])
            tape.steps(2)
            tape.reset()
            tape.steps(1)
            tape.scene.stop_recording()
            check_counts(tape.recorder.status, 8, f"of {self.n_envs} worlds")
        self._check(tmp_path, range(8), f"8 samples of {self.n_envs} worlds", self.n_envs)

    def test_a_forgotten_scene_closes_its_recorders(self, tmp_path: Path) -> None:
        """A scene that nobody holds any more leaves whole files, and says so."""
        tape = self._tape(tmp_path)
        tape.scene.build()
        tape.steps(3)
        label, scene = tape.recorder.label, weakref.ref(tape.scene)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", SimreelWarning)
            del tape
            gc.collect()
        assert scene() is None, f"{label}: its thread holds the scene, which is never collected"
        told = [str(warning.message) for warning in caught]
        assert any(label in text for text in told), f"{label}: no warning names it: {told}"
        self._check(tmp_path, range(3), "3 samples of a scene that was forgotten")

    # What they share.

    def _tape(self, folder: Path, n_envs: int = 0) -> Tape:
        return Tape(self.make_options(folder), self.sample, n_envs)

    def _check(self, folder: Path, indices: Iterable[int], what: str, n_envs: int = 0) -> None:
        samples = [self.sample(index, n_envs) for index in indices]
        check_rows(folder, self.read(folder), samples, what, by_world=bool(n_envs))
