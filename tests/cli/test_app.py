import subprocess
import sys

import pytest

import simreel

COMMANDS = ["demo", "info", "recorders", "recover", "run"]


def test_version_is_one_line_on_stdout(call):
    ended = call("--version")
    assert (ended.status, ended.out, ended.err) == (0, [f"simreel {simreel.__version__}"], [])


def test_python_m_simreel_is_the_same_command(call_piped):
    assert call_piped("--version").out == [f"simreel {simreel.__version__}"]
    assert call_piped("run").status == 2


def test_without_a_command_the_help_is_shown(call):
    ended = call()
    assert ended.status == 0
    assert ended.out == call("--help").out
    shown = "\n".join(ended.out)
    assert all(f"  {name} " in shown for name in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_a_help_text_without_colour_or_boxes(call, command):
    ended = call(command, "--help")
    text = "\n".join(ended.out)
    assert ended.status == 0
    assert text.startswith(f"Usage: simreel {command} ")
    assert text.isascii()
    assert "\x1b" not in text


@pytest.mark.parametrize(
    "words", [["--version"], ["--help"], ["run", "--help"], ["recorders"], ["recorders", "NPZFile"]]
)
def test_what_needs_no_numbers_loads_no_numpy_no_engine_and_no_writer(words):
    run = "from simreel.cli import execute; assert execute(sys.argv[1:]) == 0"
    program = f"import sys; {run}; print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert not {"numpy", "mujoco", "av", "rich", "simreel.recorders.npz", "simreel.scene"} & loaded


def test_a_wrong_command_names_the_nearest(call):
    ended = call("rnu")
    assert (ended.status, ended.out) == (2, [])
    (line,) = ended.err
    assert "'rnu'" in line
    assert "'run'" in line


def test_a_wrong_option_names_the_nearest_and_what_exists(call):
    ended = call("run", "a.xml", "--nzp=b.npz")
    (line,) = ended.err
    assert ended.status == 2
    assert line.startswith("error: no option --nzp; there are: --camera, --control, --csv, --duration,")
    assert "Did you mean --npz?" in line


def test_an_option_with_one_dash_is_told_as_it_was_written(call):
    (line,) = call("run", "a.xml", "-npz", "b.npz").err
    assert line.startswith("error: no option -npz; ")
    assert "Did you mean --npz?" in line


def test_an_option_far_from_all_names_no_nearest(call):
    (line,) = call("info", "--zzzzzz", "a").err
    assert "Did you mean" not in line


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run"], "MODEL.xml"),
        (["info"], "FILE"),
        (["info", "a.npz", "b.npz"], "b.npz"),
        (["run", "a.xml", "--npz"], "--npz"),
        (["run", "a.xml", "--duration", "-1"], "--duration -1: a number above 0"),
        (["run", "a.xml", "--duration", "0"], "--duration 0: a number above 0"),
        (["run", "a.xml", "--duration", "1s"], "--duration 1s: a number above 0"),
        (["run", "a.xml", "--hz", "nan"], "--hz nan: a number above 0"),
        (["run", "a.xml", "--hz", "inf"], "--hz inf: a number above 0"),
        (["run", "a.xml", "--seed", "1.5"], "--seed 1.5: a whole number"),
        (["run", "a.xml", "--control", "zeros"], "--control zeros: random or zero is needed. Did you mean 'zero'?"),
        (["run", "a.xml"], "give --npz, --csv, --reel, --video or --plot"),
        (["run", "a.xml", "--npz", "./a.zip"], "--npz ./a.zip: a name that ends in .npz is needed"),
        (["run", "a.xml", "--csv", "a b.npz"], "--csv a b.npz: a name that ends in .csv is needed"),
        (["recorders", "NPZFil"], "'NPZFil'"),
    ],
)
def test_wrong_use_is_one_line_with_the_words_of_the_user_and_status_2(call, words, said):
    ended = call(*words)
    assert (ended.status, ended.out) == (2, [])
    (line,) = ended.err
    assert line.startswith("error: ")
    assert said in line


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    program = [sys.executable, "-m", "simreel", "recorders", "NPZFile"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path) as running:
        running.stdout.close()
        said = running.stderr.read()
    assert said == b""
    assert running.returncode == 1
