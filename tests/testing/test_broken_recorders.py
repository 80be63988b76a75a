"""The contract finds the recorders that do not keep it, and tells their authors what is wrong."""

from __future__ import annotations

import json
import re
import threading

import pytest
from pydantic import field_validator

from simreel.options.recorders import FileOptions
from simreel.recorders import FileRecorder, register_recording
from simreel.testing import RecorderContract

CHECKS = sorted(name for name in vars(RecorderContract) if name.startswith("test_"))


class LinesFile(FileOptions):
    """A file of a JSON line for each sample."""

    suffixes = (".lines",)

    fault: str = ""
    """What is wrong with its recorder."""

    seen: tuple[float, ...] | None = None
    loud: str = ""

    @field_validator("loud")
    @classmethod
    def _shout(cls, text):
        return text and f"{text}!"


gate = threading.Event()
kept: list = []
"""What a recorder leaves in its module."""


@register_recording(LinesFile)
class LinesWriter(FileRecorder[LinesFile]):
    def __init__(self, manager, options, data_func):
        super().__init__(manager, options, data_func)
        self.manager = manager if options.fault == "holds the manager" else None
        self.data_func = data_func if options.fault == "holds the function" else None
        self.pending: list = []
        self.stops = self.taken = 0
        if options.fault == "is kept by its module":
            kept.append(manager)
        if options.fault == "opens early":
            self.open_file(options.filename)
            self.file.close()

    @property
    def run_in_thread(self):
        return self.options.fault != "inline"

    def open_file(self, path):
        if self.options.fault == "records once":
            assert not kept, "there is one already"
            kept.append(None)
        self.path = path
        self.file = open(path, "w", encoding="utf-8")  # noqa: SIM115 - closed by finish_file

    def process_block(self, steps, times, columns):
        super().process_block(steps, times, columns)
        if self.options.fault == "keeps blocks":
            self.pending.append(columns)

    def process(self, data, cur_time):
        self.ensure_open()
        self.taken += 1
        if self.options.fault == "changes its options" and self.options.seen is None:
            self.options.__dict__["seen"] = (cur_time,)
        if self.options.fault == "keeps all":
            self.pending.append(data)
        if self.options.fault == "starts a thread" and self.taken == 1:
            threading.Thread(target=self.wait_for_it, daemon=True).start()
        line = json.dumps(data.tolist())
        if self.options.fault == "loses a later block" and self.taken == 65:
            return
        if self.options.fault == "writes twice" and cur_time == 0:
            self.file.write(line + "\n")
        if self.options.fault == "writes wrong" and self.taken == 3:
            line = json.dumps((data + 1).tolist())
        if self.options.fault == "loses the last":
            self.pending, pending = [line], self.pending
            self.write(*pending)
        else:
            self.write(line)

    def write(self, *lines):
        for line in lines:
            self.file.write(line + "\n")
            if self.options.fault != "counts no bytes":
                self.bytes_written += len(line) + 1

    def wait_for_it(self):
        gate.wait()

    def reset(self, envs_idx=None):
        if self.options.fault == "fails on reset" and envs_idx is None:
            raise ValueError("no reset here")
        if self.options.fault == "fails on a partial reset" and envs_idx is not None:
            raise ValueError("no worlds here")
        super().reset(envs_idx)
        if self.options.fault == "starts anew on reset" and envs_idx is None:
            self.file.seek(0)
            self.file.truncate()

    def finish_file(self):
        self.file.close()
        if not self.taken:
            self.path.unlink()
        if self.options.fault == "fails on closing":
            raise OSError("disk full")

    def cleanup(self):
        super().cleanup()
        if self.options.fault == "fails after an error" and self.status.error:
            raise ValueError("nothing to close")

    def stop(self):
        super().stop()
        self.stops += 1
        if self.options.fault == "fails on a second stop" and self.stops > 1:
            raise ValueError("stopped already")

    def pause(self):
        if self.options.fault != "never pauses":
            super().pause()


@pytest.fixture(autouse=True)
def _nothing_left(monkeypatch):
    # As the contract's own fixture has it.
    monkeypatch.setattr("simreel.recorders.queue._BLOCK_ROWS", 64)
    gate.clear()
    yield
    gate.set()
    for manager in filter(None, kept):
        manager.stop()
    kept.clear()


class Lines(RecorderContract):
    fault = ""

    def make_options(self, folder):
        loud = "a" if self.fault == "changes in JSON" else ""
        return LinesFile(folder / "run.lines", fault=self.fault, loud=loud)

    def read(self, folder):
        return [json.loads(line) for line in (folder / "run.lines").read_text(encoding="utf-8").splitlines()]


def failures(contract, tmp_path, checks=CHECKS):
    """The checks that fail, with their messages."""
    found = {}
    for check in checks:
        folder = tmp_path / check
        folder.mkdir()
        try:
            getattr(contract, check)(folder)
        except Exception as error:  # noqa: BLE001 - whatever a check finds
            found[check] = "\n".join([str(error), *getattr(error, "__notes__", ())])
    return found


def lines(fault):
    contract = Lines()
    contract.fault = fault
    return contract


@pytest.mark.parametrize("fault", ["", "inline"])
def test_a_good_recorder_passes(tmp_path, fault):
    assert failures(lines(fault), tmp_path) == {}


def test_what_an_author_must_write_is_make_options_alone(tmp_path):
    class Least(RecorderContract):
        def make_options(self, folder):
            return LinesFile(folder / "run.lines")

    assert failures(Least(), tmp_path) == {}
    with pytest.raises(NotImplementedError, match="make_options"):
        RecorderContract().test_episodes(tmp_path)


BROKEN = [
    ("loses the last", "n_samples_in_are_n_out", r"1 samples: 1 samples went in, 0 came out .* cleanup\(\)"),
    ("loses a later block", "n_samples_in_are_n_out", "65 samples: 65 samples went in, 64 came out"),
    ("writes twice", "n_samples_in_are_n_out", "1 samples: 1 samples went in, 2 came out"),
    ("writes wrong", "n_samples_in_are_n_out", r"63 samples: sample 2 was 2\.25, 3\.25 came out"),
    ("opens early", "nothing_is_written_before_build", r"before the scene was built.*run\.lines"),
    ("counts no bytes", "counts_add_up", r"self\.bytes_written"),
    ("fails on reset", "episodes", "no reset here"),
    ("starts anew on reset", "episodes", "7 samples went in, "),
    ("fails on a partial reset", "worlds", "no worlds here"),
    ("never pauses", "pause_and_resume", r"5 samples went in, 8 came out"),
    ("fails on a second stop", "stop_may_be_called_twice", r"stopped already\n.*nothing when it is called again"),
    ("starts a thread", "stop_may_be_called_twice", "it leaves threads: Thread-"),
    ("fails on closing", "record_stop_record", "disk full"),
    ("fails after an error", "a_failing_data_function_keeps_the_good_rows", "nothing to close"),
    ("changes its options", "options_survive_json_and_stay_as_they_are", "options"),
    ("holds the manager", "a_stopped_recorder_holds_no_scene", "holds the scene: keep neither it nor the manager"),
    ("holds the function", "a_stopped_recorder_holds_no_scene", "holds the data function"),
    ("keeps all", "samples_are_not_kept", r"each 2048 samples of 8 bytes make memory grow by \d+ bytes"),
    ("keeps blocks", "samples_are_not_kept", r"each 2048 samples of 8 bytes make memory grow by \d+ bytes"),
    ("records once", "record_stop_record", "there is one already"),
    ("changes in JSON", "options_survive_json_and_stay_as_they_are", "through JSON the options became .*'a!!'"),
    ("is kept by its module", "a_forgotten_scene_closes_its_recorders", "which is never collected"),
]


@pytest.mark.parametrize(("fault", "check", "message"), BROKEN)
def test_a_broken_recorder_is_found(tmp_path, fault, check, message, monkeypatch):
    monkeypatch.setattr("simreel.testing.checks._THREAD_PATIENCE", 0.05)
    found = failures(lines(fault), tmp_path, [f"test_{check}"])
    assert found, "it passes"
    assert re.search(message, found[f"test_{check}"]), found


def test_each_check_can_fail():
    assert {f"test_{check}" for _, check, _ in BROKEN} == set(CHECKS)
