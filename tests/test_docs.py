"""Every program and command of the README and the documentation runs, in the order of its page."""

import re
import shlex
import subprocess
import sys
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(
    r"^(?P<indent> *)```(?P<language>python|console|sh)\b[^\n]*\n(?P<text>.*?)^(?P=indent)```", re.M | re.S
)


def blocks(page_text):
    """Each block of a page: its language, its first line's number, its text without the indent."""
    for match in BLOCK.finditer(page_text):
        first = page_text.count("\n", 0, match.start("text")) + 1
        lines = [line.removeprefix(match["indent"]) for line in match["text"].splitlines()]
        yield match["language"], first, "\n".join(lines) + "\n"


def run_python(page, first, text, namespace):
    # The empty lines before it give each line the number that it has on its page, for the traceback.
    exec(compile("\n" * (first - 1) + text, page, "exec"), namespace)


def run_commands(page, text):
    for line in text.splitlines():
        command = shlex.split(line.removeprefix("$ "), comments=True) if line.startswith("$ simreel ") else None
        if command:
            done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{page}: {line}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_blocks_of_a_page_run(page, tmp_path, monkeypatch):
    found = list(blocks(page.read_text(encoding="utf-8")))
    monkeypatch.chdir(tmp_path)
    # A module, since pydantic and dataclasses look up the names of a class there.
    module = types.ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)
    for language, first, text in found:
        if language == "python":
            run_python(str(page), first, text, vars(module))
        else:
            run_commands(str(page), text)


def test_the_first_program_of_the_readme_has_eight_lines():
    first = next(text for language, _, text in blocks(PAGES[0].read_text(encoding="utf-8")) if language == "python")
    assert len([line for line in first.splitlines() if line]) == 8


def test_a_wrong_block_is_found_with_its_line():
    page = "text\n```python\nok = 1\n```\n- item\n\n    ```python\n    ok += 1\n    1 / 0\n    ```\n```toml\n[x]\n```\n"
    (_, first, ok), (_, second, bad) = blocks(page)
    namespace = {}
    run_python("page.md", first, ok, namespace)
    with pytest.raises(ZeroDivisionError) as error:
        run_python("page.md", second, bad, namespace)
    assert namespace["ok"] == 2
    assert error.traceback[-1].lineno + 1 == 9


def test_a_command_that_fails_is_found():
    with pytest.raises(AssertionError, match="no-such-command"):
        run_commands("page.md", "$ cd elsewhere\noutput\n$ simreel no-such-command\n")
