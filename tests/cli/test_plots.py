"""`simreel run --plot` and `simreel demo --plots`, without a display."""

from __future__ import annotations

import pytest

from simreel.cli.plotting import paced


@pytest.fixture(autouse=True)
def gui(monkeypatch):
    reason = "needs pip install 'simreel[gui]', and on Linux apt install libegl1 libgl1 libxkbcommon0 libdbus-1-3"
    for package in ("matplotlib", "pyqtgraph", "PySide6.QtWidgets"):
        pytest.importorskip(package, reason=reason, exc_type=ImportError)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)


def frames(path):
    import av

    with av.open(str(path)) as file:
        return sum(1 for _ in file.decode(video=0))


def png_size(path):
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


def test_run_plots_to_files_where_there_is_no_display(call, arm, here):
    done = call("run", arm, "--duration", "0.3", "--plot", "qpos,xpos")
    assert done.status == 0, done.err
    assert done.out[:2] == ["arm_plot.png", "arm_plot.mp4"]
    assert png_size(here / "arm_plot.png") == (800, 600)
    assert 8 <= frames(here / "arm_plot.mp4") <= 11
    again = call("run", arm, "--plot", "qpos")
    assert again.status == 1
    assert again.err == ["error: arm_plot.png exists already: give another filename or --overwrite"]


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ("qos", "--plot qos: mujoco.MjData has no such array. Did you mean 'qpos'?"),
        ("efc_force", "--plot efc_force: its length changes"),
        ("qpos,,qvel", "--plot qpos,,qvel: names with one comma"),
    ],
)
def test_a_wrong_name_is_one_line(call, arm, names, words):
    done = call("run", arm, "--plot", names)
    assert done.status == 2
    (line,) = done.err
    assert words in line


def test_without_the_extra_the_line_names_it(call, arm, monkeypatch):
    monkeypatch.setattr("simreel.recorders.plots.recorder.find_spec", lambda name: None)
    done = call("run", arm, "--plot", "qpos")
    assert done.status == 1
    assert "pip install 'simreel[gui]'" in done.err[0]


@pytest.mark.slow
def test_the_demo_plots_to_files_where_there_is_no_display(call, tmp_path):
    done = call("demo", "--plots", "--out", str(tmp_path))
    assert done.status == 0, done.err
    for name in ("base", "joints", "camera", "velocities"):
        assert png_size(tmp_path / f"plot_{name}.png") == (640, 480)
        assert frames(tmp_path / f"plot_{name}.mp4") > 50


def test_paced_steps_take_as_long_as_they_simulate(monkeypatch):
    now, slept = [100.0], []
    monkeypatch.setattr("simreel.cli.plotting.time.monotonic", lambda: now[0])
    monkeypatch.setattr("simreel.cli.plotting.time.sleep", slept.append)
    step = paced(lambda: None, 0.5)
    step()
    now[0] += 0.7
    step()
    now[0] += 5
    step()
    assert slept == pytest.approx([0.5, 0.3, 0.0])
