"""The completion of shells, in the shells themselves, and the man page."""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pyte
import pytest

from keen_tui.demo.script import Reply, Say
from keen_tui.domain.choices import Output, ReviewOutput
from keen_tui.settings.subcommands import SHELLS
from keen_tui.subcommands.completion import SCRIPTS
from scripts.command_line import MAN_PAGE, written
from tests.support.program import Program
from tests.support.terminal import TerminalProgram

BEGIN = {
    "bash": (
        ("bash", "--norc", "--noprofile", "-i"),
        "bind 'set enable-bracketed-paste off'; source <(keen-tui completion bash)",
    ),
    "zsh": (
        ("zsh", "-f", "-i"),
        'autoload -U compinit; compinit -D; eval "$(keen-tui completion zsh)"',
    ),
    "fish": (("fish", "--no-config", "--interactive"), "keen-tui completion fish | source"),
}
"""How each shell is started, and what loads the completion there."""

LINES = (
    ("sess", "sessions"),
    ("--mode pl", "--mode plan"),
    ("--no-sand", "--no-sandbox"),
    ("--theme keen-con", "--theme keen-contrast"),
    ("replay not", "replay notes.jsonl"),
    ("worktrees rem", "worktrees remove"),
    ("mcp logo", "mcp logout"),
    ("completion zs", "completion zsh"),
    ("--help al", "--help all"),
)

_MODES = re.compile(rb"\x1b\[[<>=?][0-9;]*[a-zA-Z]|\x1b[=>]")
"""Sequences that pyte takes for text."""


@pytest.fixture
def program(tmp_path: Path) -> Program:
    program = Program(tmp_path)
    (program.workspace / "notes.jsonl").touch()
    command = tmp_path / "bin" / "keen-tui"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m keen_tui "$@"\n')
    command.chmod(0o755)
    return program


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest, program: Program, tmp_path: Path) -> Iterator[TerminalProgram]:
    """A shell of that kind that has loaded the completion."""
    (name, *flags), load = BEGIN[request.param]
    if not (found := shutil.which(name)):
        pytest.skip(f"{name} isn't installed")
    argv = (found, *flags)
    path = f"{tmp_path / 'bin'}:/usr/bin:/bin"
    environ = {"PATH": path, "HOME": str(tmp_path), "KEEN_HOME": str(program.home)}
    with TerminalProgram(argv, folder=program.workspace, environ=environ, controls=True) as terminal:
        terminal.wait_until(lambda: rows(terminal), "a prompt")
        terminal.type(f"{load}; echo load''ed\r")
        terminal.wait_until(lambda: has_loaded(terminal), "the completion")
        yield terminal


def has_loaded(shell: TerminalProgram) -> bool:
    """Whether the next prompt is shown, too. The terminal echoes text that is typed before it twice."""
    shown = rows(shell)
    return "loaded" in shown and shown[-1] != "loaded"


def rows(shell: TerminalProgram) -> list[str]:
    """What stands in the terminal. A shell waits behind an escape sequence, so all of its output counts."""
    screen = pyte.Screen(120, 40)
    pyte.ByteStream(screen).feed(_MODES.sub(b"", bytes(shell.output)))
    return [row.rstrip() for row in screen.display if row.strip()]


def complete(shell: TerminalProgram, typed: str, wanted: str) -> None:
    """Type the beginning of a line and press tab; then empty the line."""

    def line() -> str:
        return rows(shell)[-1]

    shell.type(f"keen-tui {typed}")
    shell.wait_until(lambda: line().endswith(f"keen-tui {typed}"), typed)
    shell.type("\t")
    shell.wait_until(lambda: line().endswith(f"keen-tui {wanted}"), wanted)

    def is_empty() -> bool:
        """Asked again after a key: one that comes while the shell still completes is lost."""
        if "keen-tui" in line():
            shell.type("\x15")
        return "keen-tui" not in line()

    shell.wait_until(is_empty, "an empty line")


def test_a_line_is_completed(shell: TerminalProgram) -> None:
    for typed, wanted in LINES:
        complete(shell, typed, wanted)


def test_the_ids_of_sessions_are_completed(shell: TerminalProgram, program: Program) -> None:
    run = asyncio.run(program.ask([Reply([Say("Yes.")])], "-p", "hi", "--output", "json"))
    (record,) = run.records
    session = record["session_id"]
    complete(shell, f"export {session[:10]}", f"export {session}")
    complete(shell, f"--resume {session[:10]}", f"--resume {session}")


async def test_values_are_asked_for_without_a_word_of_error(program: Program) -> None:
    (program.home / "settings.toml").write_text("this isn't TOML")
    (program.home / "providers").mkdir()
    (program.home / "providers" / "broken.toml").write_text("[[")
    for kind in ("sessions", "worktrees", "providers", "models", "efforts", "themes"):
        run = await program.run("completion", kind)
        assert (run.code, run.err) == (0, ""), kind
    assert "keen-light" in (await program.run("completion", "themes")).out.splitlines()


async def test_only_what_no_shell_acts_on_is_a_value(program: Program) -> None:
    themes = program.home / "themes"
    themes.mkdir()
    (themes / "mine.toml").write_text('name = "$(touch x)"')
    (themes / "plain.toml").touch()
    run = await program.run("completion", "themes")
    assert "plain" in run.out
    assert "touch" not in run.out


async def test_another_word_is_an_error(program: Program) -> None:
    run = await program.run("completion", "tcsh")
    assert (run.code, run.out) == (2, "")
    assert run.err == "keen-tui: completion takes bash, zsh or fish.\n"


@pytest.mark.parametrize("name", SHELLS)
def test_the_shell_finds_no_fault(name: str) -> None:
    if not shutil.which(name):
        pytest.skip(f"{name} isn't installed")
    done = subprocess.run([name, "-n", str(SCRIPTS / f"keen-tui.{name}")], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(("of", "forms"), [("", Output), ("review_", ReviewOutput)])
def test_the_forms_of_output_are_those_that_the_command_takes(of: str, forms: object) -> None:
    [choices] = (
        line.partition("=")[2]
        for line in (SCRIPTS / "keen-tui.bash").read_text().splitlines()
        if line.startswith(f"_shtab_keen_tui_{of}__output_choices=")
    )
    assert choices == f"({' '.join(get_args(forms))})"


@pytest.mark.parametrize("file", written(), ids=lambda file: file.name)
def test_the_files_are_those_of_the_flags(file: Path) -> None:
    assert file.read_text("utf-8") == written()[file], "run make completions"


@pytest.mark.parametrize(
    "lint", [("mandoc", "-Tlint"), ("man", "--warnings", "-l")], ids=lambda each: each[0]
)
def test_the_man_page_has_no_fault(lint: tuple[str, ...]) -> None:
    if not shutil.which(lint[0]):
        pytest.skip(f"{lint[0]} isn't installed")
    environ = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANPAGER": "cat"}
    done = subprocess.run([*lint, str(MAN_PAGE)], capture_output=True, text=True, check=False, env=environ)
    assert (done.returncode, done.stderr) == (0, "")
    assert lint[0] == "man" or done.stdout == ""
