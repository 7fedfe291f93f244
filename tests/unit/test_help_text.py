"""What `keen-tui --help`, `--help all` and `COMMAND --help` print."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import pytest

from keen_tui.domain.errors import ConfigError
from keen_tui.settings.flags import BELONGS, flags_of, parsed
from keen_tui.settings.line_flags import flag_groups
from keen_tui.settings.schema import CHOICES
from keen_tui.settings.subcommands import EXAMPLES, SUBJECTS

ROWS_OF_A_SCREEN = 24


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Printed:
    return Printed(capsys)


class Printed:
    """What the program prints for a command line that asks for help."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def by(self, *arguments: str) -> str:
        with pytest.raises(SystemExit) as left:
            parsed(list(arguments))
        assert left.value.code == 0
        return self._capsys.readouterr().out


@pytest.fixture
def text(printed: Printed) -> str:
    """The whole help."""
    return printed.by("--help", "all")


def typed_in(lines: list[str]) -> list[str]:
    """The command lines that these lines of the help begin with."""
    found = [re.split(r" {2,}", line.strip())[0].partition("keen-tui") for line in lines if line[:1] == " "]
    return [words for _, name, words in found if name]


def test_the_help_leaves_a_row_of_the_screen_for_the_prompt(printed: Printed) -> None:
    lines = printed.by("--help").splitlines()
    assert len(lines) < ROWS_OF_A_SCREEN
    assert [line for line in lines if len(line) > 80] == []
    assert "keen-tui --help all" in lines[-1]


def test_the_help_names_every_command_and_the_common_flags(printed: Printed) -> None:
    text = printed.by("--help")
    words = re.findall(r"[\w-]+", text.partition("Commands\n")[2].partition("Flags\n")[0])
    assert set(SUBJECTS) <= set(words)
    for flag in ("-c, --continue", "-r, --resume ID", "-p, --prompt [TEXT]", "--model NAME", "--mode MODE"):
        assert f"\n  {flag} " in text
    (modes,) = re.findall(r"without asking: (.+)", text)
    assert re.split(r", | or ", modes) == list(CHOICES["mode"])


def test_the_help_has_examples_that_can_be_typed(printed: Printed) -> None:
    typed = typed_in(printed.by("--help").splitlines())
    assert typed == [example.removeprefix("keen-tui") for example, _ in EXAMPLES[:3]]
    for words in typed:
        parsed(shlex.split(words))


@pytest.mark.parametrize("asked", ["--help all", "-h all", "help all", "sessions --help all"])
def test_all_of_the_help_is_printed_when_it_is_asked_for(printed: Printed, text: str, asked: str) -> None:
    assert printed.by(*asked.split()) == text


def test_all_of_the_help_fits_into_eighty_columns(text: str) -> None:
    assert [line for line in text.splitlines() if len(line) > 80] == []


def test_every_flag_and_every_command_is_in_all_of_it(text: str) -> None:
    flags = {name for group in flag_groups() for flag in group.flags for name in flag.names}
    assert flags <= set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text))
    assert all(f"keen-tui {command}" in text for command in SUBJECTS)


def test_what_all_of_it_shows_can_be_typed(text: str) -> None:
    """The examples on top and the commands, as far as they stand in one line."""
    typed = [words for words in typed_in(text.split("Model\n")[0].splitlines()) if words != " mcp --help"]
    assert len(typed) > 8
    for words in typed:
        parsed(shlex.split(re.sub(r"[\[\]]", "", words)))


def test_values_that_a_flag_may_have_are_named(text: str) -> None:
    for flag in (flag for group in flag_groups() for flag in group.flags):
        for value in flag.options.get("choices", ()):
            assert str(value) in text, f"{flag.usage}: {value}"


@pytest.mark.parametrize("command", [name for name in SUBJECTS if name != "mcp"])
def test_the_help_on_a_command_is_short_and_has_its_flags(printed: Printed, command: str) -> None:
    text = printed.by(command, "--help")
    assert text.startswith(f"  keen-tui {command}")
    assert len(text.splitlines()) < ROWS_OF_A_SCREEN
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert all(f"\n  {flag.usage}" in text for flag in flags_of(command))
    assert f"with {command}" not in text
    assert printed.by("--help", command) == printed.by("help", command) == text


def test_a_command_takes_the_flags_of_its_help() -> None:
    assert [flag.dest for flag in flags_of("usage")] == ["days", "json"]
    assert {"fork", "port"} <= {flag.dest for flag in flags_of("serve")}
    assert "max_cost" in {flag.dest for flag in flags_of("eval")}


def test_mcp_prints_its_own_help() -> None:
    assert parsed(["help", "mcp"]) == parsed(["--help", "mcp"]) == parsed(["mcp", "--help"])


@pytest.mark.parametrize("asked", ["--help sesions", "help sesions", "sesions --help"])
def test_help_on_an_unknown_command_is_refused(asked: str) -> None:
    with pytest.raises(ConfigError, match="Did you mean sessions"):
        parsed(asked.split())


def test_help_imports_neither_the_screen_nor_an_sdk() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-P", "-m", "keen_tui", "--help"], capture_output=True, text=True
    )
    assert done.returncode == 0
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert "keen_tui" in imported
    assert not imported & {"textual", "rich", "openai", "anthropic", "mcp", "pydantic", "msgspec"}


def test_flags_that_belong_to_a_command_exist() -> None:
    names = {name for group in flag_groups() for flag in group.flags for name in flag.names}
    assert {f"--{name.replace('_', '-')}" for name in BELONGS} <= names


def test_errors_say_where_to_read_more() -> None:
    for line, where in (
        ("--nosuch", "See keen-tui --help all."),
        ("--fork", "See keen-tui --help all."),
        ("--days 3", "See keen-tui usage --help."),
        ("sessions -p hi", "See keen-tui sessions --help."),
    ):
        with pytest.raises(ConfigError, match=re.escape(where)):
            parsed(line.split())
